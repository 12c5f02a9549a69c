import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DurabilityEngine } from '../../src/schedules/index.node.ts'
import type { Death } from './support/dying.ts'
import { play, type Scenario, type Step, withoutTimers } from './support/lives.ts'
import { HOUR_MS, MINUTE_MS, silenceReports } from './support/setup.ts'
import { STORES } from './support/stores.ts'

/** Another seed, or more histories: see model.test.ts. */
const { SCHEDULES_SEED = '1', SCHEDULES_RUNS = '100' } = process.env
const seed = Number(SCHEDULES_SEED)
const numRuns = Number(SCHEDULES_RUNS)

beforeEach(() => {
  withoutTimers()
  silenceReports()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Verb = 'tick' | 'pause' | 'resume' | 'trigger' | 'payload' | 'hourly' | 'minutely'

interface Ask {
  readonly inMs: number
  readonly verbs: readonly Verb[]
}

const verbs = fc.constantFrom<Verb>(
  'tick',
  'tick',
  'tick',
  'pause',
  'resume',
  'trigger',
  'payload',
  'hourly',
  'minutely',
)
const asks: fc.Arbitrary<readonly Ask[]> = fc.array(
  fc.record({
    inMs: fc.oneof(
      fc.integer({ min: 0, max: 5_000 }),
      fc.integer({ min: 0, max: 3 * MINUTE_MS }),
      fc.integer({ min: 0, max: 2 * HOUR_MS }),
    ),
    verbs: fc.array(verbs, { minLength: 1, maxLength: 3 }),
  }),
  { minLength: 3, maxLength: 12 },
)
const deaths: fc.Arbitrary<readonly Death[]> = fc.array(
  fc.record({ call: fc.integer({ min: 1, max: 40 }), when: fc.constantFrom('before', 'after') }),
  { maxLength: 4 },
)
const setting = fc.record({
  workflow: fc.constantFrom('flow', 'send'),
  overlap: fc.constantFrom('allow', 'skip'),
  catchup: fc.constantFrom('latest', 'skip'),
  pauseAfterFailures: fc.constantFrom(null, null, 2),
  maxRuns: fc.constantFrom(null, null, 3),
  failures: fc.constantFrom(0, 0, 1, 3, 50),
  status: fc.constantFrom('complete', 'running', 'errored'),
})
type Setting = typeof setting extends fc.Arbitrary<infer T> ? T : never

function scenarioOf(history: readonly Ask[], given: Setting): Scenario {
  const { workflow, overlap, catchup, pauseAfterFailures, maxRuns, failures, status } = given
  const definition = {
    id: 'a',
    workflow,
    overlap,
    catchup,
    ...(pauseAfterFailures !== null && { pauseAfterFailures }),
    ...(maxRuns !== null && { maxRuns }),
  } as const
  let inputs = 0
  const asked: Record<Verb, (engine: DurabilityEngine) => Promise<unknown>> = {
    tick: ({ schedules }) => schedules.tick(),
    pause: ({ schedules }) => schedules.pause('a'),
    resume: ({ schedules }) => schedules.resume('a'),
    // It may be refused: a start that fails is told to the one who asked.
    trigger: ({ schedules }) => schedules.trigger('a').catch(() => undefined),
    payload: ({ schedules }) => schedules.upsert({ ...definition, every: '1m', input: inputs++ }),
    hourly: ({ schedules }) => schedules.upsert({ ...definition, every: '1h' }),
    minutely: ({ schedules }) => schedules.upsert({ ...definition, every: '1m' }),
  }
  let at = 0
  const steps: Step[] = [{ at, ask: asked.minutely }]
  for (const { inMs, verbs: together } of history) {
    at += inMs
    steps.push({ at, ask: (engine) => Promise.all(together.map((verb) => asked[verb](engine))) })
  }
  return {
    name: 'random',
    steps,
    failures,
    status,
    endsAfterFailures: true,
    live: ['running'],
    mayBeUnanswered: true,
  }
}

describe.each(STORES.filter(({ name }) => name !== 'a simulated Durable Object'))(
  'over $name',
  ({ open }) => {
    test('engines that die at any call, among any verbs, leave nothing wrong', {
      timeout: 120_000,
    }, async () => {
      await fc.assert(
        fc.asyncProperty(asks, setting, deaths, async (history, given, lives) => {
          const store = open()
          try {
            const { problems } = await play(scenarioOf(history, given), store, lives)
            expect(problems).toEqual([])
          } finally {
            store.close()
          }
        }),
        { seed, numRuns },
      )
    })
  },
)
