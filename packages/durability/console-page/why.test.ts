import { describe, expect, test } from 'vitest'
import { described, NOW } from './support/described.ts'
import type { Decision } from './types.ts'
import { reasons, standingOf } from './why.ts'

const MINUTE = 60_000
const late = described('a', { nextFireAt: NOW - 2 * MINUTE })

function decided(decision: Decision['decision'], more: Partial<Decision> = {}): Decision {
  return { decision, scheduledTime: NOW - MINUTE, decidedAt: NOW - MINUTE, ...more } as Decision
}

describe('how a schedule stands', () => {
  test.each([
    ['fine', described('a'), null],
    ['fine', described('a', { nextFireAt: NOW - 90_000 }), null],
    ['late', described('a', { nextFireAt: NOW - 90_001 }), null],
    ['failing', described('a', { lastError: 'no' }), null],
    ['failing', described('a'), 'the run failed'],
    ['failing', { ...late, lastError: 'no' }, null],
    ['paused', described('a', { paused: true, nextFireAt: null, lastError: 'no' }), 'the run failed'],
    ['finished', described('a', { finished: true, nextFireAt: null }), null],
  ] as const)('is %s', (standing, schedule, failure) => {
    expect(standingOf(schedule, NOW, failure)).toBe(standing)
  })
})

describe('why it does not fire', () => {
  const said = (
    schedule = described('a'),
    decisions: readonly Decision[] = [],
    failure: string | null = null,
  ) => reasons(schedule, decisions, NOW, failure).join(' ')

  test('says nothing of one that does', () => {
    expect(said(described('a'), [decided('fired')])).toBe('')
  })

  test('says since when it is paused, and what its last failure was', () => {
    const paused = described('a', { paused: true, nextFireAt: null, lastError: 'Paused after 3 failed runs' })
    expect(said(paused, [decided('paused')])).toMatch(
      /^It is paused, since 1 min.? ago\..*Paused after 3 failed runs/,
    )
    expect(said(paused)).toContain('It is paused.')
  })

  test.each([
    ['it has fired 3 times, as maxRuns says', { maxRuns: 3, fires: 3 }],
    ['its endAt has passed', { endAt: NOW }],
    ['there is no later window', { endAt: NOW + 1 }],
  ])('says that it is finished: %s', (why, more) => {
    expect(said(described('a', { finished: true, nextFireAt: null, ...more }))).toBe(
      `It is finished: ${why}.`,
    )
  })

  test('says that nothing has fired what was due', () => {
    expect(said(late)).toMatch(/^It was due 2 min.? ago, and nothing has fired it since\./)
  })

  test('says that it has not started', () => {
    const startAt = NOW + 2 * MINUTE
    expect(said(described('a', { startAt, nextFireAt: startAt }))).toMatch(/^It starts in 2 min/)
  })

  test.each([
    ['skipped_overlap', 'The last window was skipped, for the run before it was still going.'],
    ['skipped_catchup', 'The last window was not caught up.'],
    ['start_failed', 'The last window was not started: no such workflow.'],
    ['superseded', 'The last window was superseded by a change.'],
  ] as const)('says what became of the last window: %s', (decision, words) => {
    const reason = decision === 'start_failed' ? { reason: 'no such workflow' } : {}
    expect(said(described('a'), [decided(decision, reason), decided('fired')])).toBe(words)
    expect(said(described('a'), [decided('fired'), decided(decision, reason)])).toBe('')
  })

  test('says once what a start failed with', () => {
    const failed = described('a', { lastError: 'no such workflow' })
    expect(said(failed, [decided('start_failed', { reason: 'no such workflow' })])).toBe(
      'The last failure: no such workflow The last window was not started.',
    )
  })

  test('says what the last run failed with', () => {
    expect(said(described('a'), [decided('fired')], 'no mail server')).toBe(
      'The last run failed: no mail server',
    )
  })
})
