import { describe, expect, test } from 'vitest'
import { START_AT, setup } from './support/setup.ts'

const GOOD = { id: 'a', workflow: 'brief', every: '1h' }
const CRON = { id: 'a', workflow: 'brief', cron: '0 9 * * *' }

describe('a definition is refused by the name of the field, and nothing is stored', () => {
  test.each<[string, unknown]>([
    ['definition', null],
    ['definition', []],
    ['id', { ...GOOD, id: '' }],
    ['id', { ...GOOD, id: '.' }],
    ['id', { ...GOOD, id: '..' }],
    ['id', { ...GOOD, id: 'x:manual' }],
    ['id', { ...GOOD, id: 'a\0b' }],
    ['id', { ...GOOD, id: '\ud800' }],
    ['id', { ...GOOD, id: 'x'.repeat(201) }],
    ['id', { ...GOOD, id: 7 }],
    ['workflow', { ...GOOD, workflow: undefined }],
    ['workflow', { ...GOOD, workflow: '' }],
    ['cron', { id: 'a', workflow: 'brief' }],
    ['cron', { ...GOOD, cron: '* * * * *' }],
    ['cron', { ...CRON, cron: 'every tuesday' }],
    ['cron', { ...CRON, cron: '0 0 30 2 *' }],
    ['cron', { ...CRON, cron: '* '.repeat(200) }],
    ['timezone', { ...CRON, timezone: 'Mars/Phobos' }],
    ['timezone', { ...CRON, timezone: '' }],
    ['timezone', { ...CRON, timezone: 5 }],
    ['timezone', { ...GOOD, timezone: 'UTC' }],
    ['every', { ...GOOD, every: 0 }],
    ['every', { ...GOOD, every: -5 }],
    ['every', { ...GOOD, every: '0s' }],
    ['every', { ...GOOD, every: '999ms' }],
    ['every', { ...GOOD, every: '15 minutes' }],
    ['every', { ...GOOD, every: Number.NaN }],
    ['every', { ...GOOD, every: 1_000.5 }],
    ['every', { ...GOOD, every: null }],
    ['jitter', { ...GOOD, jitter: '1h' }],
    ['jitter', { ...GOOD, jitter: -1 }],
    ['jitter', { ...CRON, cron: '0,1 9 * * *', jitter: '60s' }],
    ['overlap', { ...GOOD, overlap: 'queue' }],
    ['catchup', { ...GOOD, catchup: 'all' }],
    ['paused', { ...GOOD, paused: 'yes' }],
    ['note', { ...GOOD, note: 5 }],
    ['note', { ...GOOD, note: 'é'.repeat(3_000) }],
    ['namespace', { ...GOOD, namespace: '' }],
    ['tags', { ...GOOD, tags: 'x' }],
    ['tags', { ...GOOD, tags: Array.from({ length: 65 }, (_, n) => `t${n}`) }],
    ['tags[1]', { ...GOOD, tags: ['ok', 'x'.repeat(257)] }],
    ['searchAttributes', { ...GOOD, searchAttributes: [] }],
    ['searchAttributes', { ...GOOD, searchAttributes: { a: 'x'.repeat(9_000) } }],
    ['priority', { ...GOOD, priority: 1.5 }],
    ['concurrency', { ...GOOD, concurrency: 5 }],
    ['concurrency.key', { ...GOOD, concurrency: { key: '', limit: 1 } }],
    ['concurrency.limit', { ...GOOD, concurrency: { key: 'k', limit: 0 } }],
    ['concurrency.limit', { ...GOOD, concurrency: { key: 'k' } }],
    ['scope', { ...GOOD, concurrency: { key: 'k', limit: 1, scope: 'x' } }],
    ['startAt', { ...GOOD, startAt: '2026-01-01' }],
    ['endAt', { ...GOOD, startAt: START_AT + 5, endAt: START_AT + 5 }],
    ['maxRuns', { ...GOOD, maxRuns: 0 }],
    ['pauseAfterFailures', { ...GOOD, pauseAfterFailures: 0 }],
    ['input', { ...GOOD, input: 'x'.repeat(131_072) }],
    ['input', { ...GOOD, input: { a: new Date(0) } }],
    ['input', { ...GOOD, input: Number.NaN }],
    ['input', { ...GOOD, input: () => 1 }],
    ['input', { ...GOOD, input: 5n }],
    ['evry', { ...GOOD, evry: '5m' }],
  ])('%s, case %#', async (field, definition) => {
    const { schedules } = setup()
    await expect(schedules.create(definition as never)).rejects.toMatchObject({
      name: 'InvalidScheduleError',
      field,
    })
    await expect(schedules.upsert(definition as never)).rejects.toMatchObject({
      name: 'InvalidScheduleError',
      field,
    })
    expect(await schedules.count()).toBe(0)
  })

  test('a workflow that is no registered value, by start as well', async () => {
    const { engine, schedules } = setup()
    for (const workflow of [{}, () => undefined, [], { name: 'brief' }] as never[]) {
      const refusal = { name: 'InvalidScheduleError', field: 'workflow' }
      await expect(schedules.create({ ...GOOD, workflow })).rejects.toMatchObject(refusal)
      await expect(schedules.upsert({ ...GOOD, workflow })).rejects.toMatchObject(refusal)
      await expect(schedules.preview({ ...GOOD, workflow })).rejects.toMatchObject(refusal)
      await expect(engine.start(workflow, null, 'run')).rejects.toMatchObject(refusal)
    }
    expect(await schedules.count()).toBe(0)
  })

  test('an input that holds itself', async () => {
    const { schedules } = setup()
    const input: { self?: unknown } = {}
    input.self = input
    await expect(schedules.create({ ...GOOD, input })).rejects.toMatchObject({ field: 'input' })
  })
})

test('a validator cannot change the input that is run and stored', async () => {
  const given: unknown[] = []
  const handler = (run: { readonly input: unknown }) => void given.push(run.input)
  const validate = (input: unknown) => void Object.assign(input as object, { a: 2 })
  const { engine, schedules, tickIn } = setup({ workflows: { picky: { handler, validate } } })
  await schedules.create({ id: 'a', workflow: 'picky', every: '1h', input: { a: 1 } })
  const [runId = ''] = await tickIn(3_600_000)
  expect(await engine.getRun(runId)).toMatchObject({ input: { a: 1 } })
  expect(await engine.start('picky', { a: 1 }, 'run')).toMatchObject({ input: { a: 1 } })
  expect(given).toEqual([{ a: 1 }, { a: 1 }])
})

describe('what may be', () => {
  test.each([
    ['15m', 900_000],
    ['1.5h', 5_400_000],
    ['2d', 172_800_000],
    ['1w', 604_800_000],
    ['1500ms', 1_500],
    [1_000, 1_000],
  ])('every %s is %d ms', async (every, everyMs) => {
    const { schedules } = setup()
    expect(await schedules.create({ ...GOOD, every })).toMatchObject({ every, everyMs })
  })

  test.each([
    'a/b:c%',
    '__proto__',
    'constructor',
    '👩‍👩‍👧',
    `'; DROP TABLE durable_schedules; --`,
    '<script>',
    'manual',
    'a b',
  ])('the id %s survives every verb', async (id) => {
    const { schedules, engine, tickIn } = setup()
    await schedules.create({ ...GOOD, id, input: JSON.parse('{"__proto__":1}') })
    const [runId = ''] = await tickIn(3_600_000)
    expect(runId).toBe(`sched:${id}:${START_AT + 3_600_000}`)
    expect((await engine.getRun(runId))?.scheduleId).toBe(id)
    expect(JSON.stringify((await engine.getRun(runId))?.input)).toBe('{"__proto__":1}')
    await schedules.pause(id, id)
    expect(await schedules.resume(id)).toMatchObject({ id, note: id })
    expect((await schedules.trigger(id)).scheduleId).toBe(id)
    expect((await schedules.list()).map((row) => row.id)).toEqual([id])
    expect(await schedules.history(id)).not.toEqual([])
    expect(await schedules.delete(id)).toBe(true)
  })

  test('a registered value stands for its name', async () => {
    const { schedules, handler } = setup()
    expect(await schedules.create({ ...GOOD, workflow: handler.handle })).toMatchObject({ workflow: 'brief' })
  })

  test('seconds can be switched off, and minEveryMs raised', async () => {
    const { schedules } = setup({ seconds: false, minEveryMs: 60_000 })
    await expect(schedules.create({ ...CRON, cron: '* * * * * *' })).rejects.toMatchObject({ field: 'cron' })
    await expect(schedules.create({ ...GOOD, every: '59s' })).rejects.toMatchObject({ field: 'every' })
  })
})
