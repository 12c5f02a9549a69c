import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { DurabilityEngine, memoryStore, type ScheduleDefinition } from '../src/schedules/index.node.ts'
import { definitionOf, EMPTY, FieldError, fieldOf, valuesOf } from './definition-form.ts'
import { NOW } from './support/described.ts'

const HOSTILE = '  <img src=x onerror=alert(1)> "\'`\u202E\r\n\ttail '

const DEFINITIONS: Readonly<Record<string, Omit<ScheduleDefinition, 'id'>>> = {
  'a plain cron': { workflow: 'quick', cron: '0 9 * * 1-5' },
  'a cron in a zone': { workflow: 'quick', cron: '30 2 * * *', timezone: 'Europe/Berlin', jitter: '90s' },
  'an interval as text': { workflow: 'quick', every: '1.5h', jitter: 250 },
  'an interval in ms': { workflow: 'quick', every: 90_000 },
  'a paused one with a note': { workflow: 'quick', every: '15m', paused: true, note: HOSTILE },
  'hostile text wherever there may be text': {
    workflow: HOSTILE,
    cron: '0 9 * * *',
    input: { [HOSTILE]: [HOSTILE, null, 0.1, '__proto__'] },
    tags: [HOSTILE, 'two\nlines', ' ', 'plain'],
    searchAttributes: { [HOSTILE]: HOSTILE },
    concurrency: { key: HOSTILE, limit: 3 },
    namespace: HOSTILE,
  },
  'every policy and bound': {
    workflow: 'quick',
    cron: '*/15 * * * *',
    overlap: 'skip',
    catchup: 'skip',
    priority: -7,
    // In the hour that comes twice in Berlin, and with milliseconds.
    startAt: Date.UTC(2026, 9, 25, 0, 30, 15, 250),
    endAt: Date.UTC(2026, 9, 25, 1, 30, 15, 251),
    maxRuns: 12,
    pauseAfterFailures: 3,
  },
  'inputs that look like nothing': { workflow: 'quick', every: '1m', input: '' },
  'an input of false': { workflow: 'quick', every: '1m', input: false },
}

function setup() {
  const engine = new DurabilityEngine({
    store: memoryStore(),
    clock: () => NOW,
    workflows: { quick: () => undefined },
  })
  return engine.schedules
}

describe('a form', () => {
  beforeEach(() => {
    vi.stubEnv('TZ', 'Europe/Berlin')
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  test.each(Object.entries(DEFINITIONS))(
    'of %s that is saved untouched changes nothing',
    async (_, given) => {
      const schedules = setup()
      const before = await schedules.create({ id: 'a', ...given })
      const body = definitionOf(valuesOf(before), before)
      const sent = JSON.parse(JSON.stringify({ ...body, id: 'a' })) as ScheduleDefinition
      expect(await schedules.upsert(sent)).toEqual(before)
    },
  )

  test('does not resume what another viewer paused, with their note, while it was open', async () => {
    const schedules = setup()
    const opened = await schedules.create({ id: 'a', workflow: 'quick', every: '1m', note: 'mine' })
    await schedules.pause('a', 'broken, do not touch')
    const body = definitionOf({ ...valuesOf(opened), every: '2m' }, opened)
    expect(await schedules.upsert({ id: 'a', ...body } as unknown as ScheduleDefinition)).toMatchObject({
      ...{ everyMs: 120_000, paused: true, note: 'broken, do not touch' },
    })
  })

  test('creates again what was deleted meanwhile as it was: paused, with its note', async () => {
    const schedules = setup()
    const definition = { id: 'a', workflow: 'quick', every: '1m', note: 'mine', paused: true } as const
    const opened = await schedules.create(definition)
    await schedules.delete('a')
    const body = definitionOf(valuesOf(opened), opened, true)
    expect(await schedules.create({ id: 'a', ...body } as unknown as ScheduleDefinition)).toMatchObject({
      paused: true,
      note: 'mine',
    })
  })

  test('changes what is touched, and only that', async () => {
    const schedules = setup()
    const before = await schedules.create({
      id: 'a',
      ...DEFINITIONS['every policy and bound'],
    } as ScheduleDefinition)
    const values = { ...valuesOf(before), tags: 'one\n two \n\n', endAt: '2030-01-01T00:00', maxRuns: '' }
    const body = definitionOf(values, before)
    const after = await schedules.upsert({ id: 'a', ...body } as unknown as ScheduleDefinition)
    expect(after).toEqual({
      ...before,
      ...{ tags: ['one', 'two'], endAt: Date.UTC(2029, 11, 31, 23), maxRuns: null, revision: 2 },
    })
  })

  test('removes a note that was emptied, and leaves one out that is new and empty', async () => {
    const before = await setup().create({ id: 'a', workflow: 'quick', every: '1m', note: 'old' })
    expect(definitionOf({ ...valuesOf(before), note: '' }, before)).toHaveProperty('note', null)
    expect(definitionOf({ ...EMPTY, workflow: 'quick', every: '1m' })).not.toHaveProperty('note')
  })

  test.each([
    ['input', '{'],
    ['searchAttributes', "{'a': 1}"],
  ])('with %s that is no JSON is not sent', (field, text) => {
    const definition = () => definitionOf({ ...EMPTY, [field]: text })
    expect(definition).toThrow(FieldError)
    expect(definition).toThrow(
      expect.objectContaining({ field, message: expect.stringContaining('is no JSON') }),
    )
  })

  test.each([
    ['maxRuns', 'many', 'maxRuns'],
    ['maxRuns', 'Infinity', 'maxRuns'],
    ['maxRuns', '0x10', 'maxRuns'],
    ['priority', '1.5', 'priority'],
    ['pauseAfterFailures', '-1', 'pauseAfterFailures'],
    ['jitter', 'a while', 'jitter'],
    ['every', '', 'every'],
    ['startAt', 'no date', 'startAt'],
    ['concurrencyKey', 'a key without a limit', 'concurrencyLimit'],
    ['concurrencyLimit', '3', 'concurrency'],
  ])('with a wrong %s (%j) is refused by the server beside its field %s', async (name, text, shown) => {
    const values = { ...EMPTY, workflow: 'quick', kind: 'every', every: '1h', [name]: text } as const
    const body = JSON.parse(JSON.stringify({ id: 'a', ...definitionOf(values) })) as ScheduleDefinition
    const field = await setup()
      .create(body)
      .catch((error: { readonly field: string }) => error.field)
    expect(fieldOf(String(field))).toBe(shown)
  })
})

describe('the field that shows a problem', () => {
  test.each([
    ['cron', 'cron'],
    ['tags[3]', 'tags'],
    ['concurrency', 'concurrency'],
    ['concurrency.key', 'concurrency'],
    ['concurrency.limit', 'concurrencyLimit'],
  ])('of %s is %s', (field, shown) => {
    expect(fieldOf(field)).toBe(shown)
  })
})
