import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  dispatch,
  memoryStore,
  type ScheduleQuery,
  type ScheduleStore,
} from '../../../src/schedules/index.node.ts'
import { HOUR_MS, START_AT, settled, setup, silenceReports } from '../support/setup.ts'
import { STORES } from '../support/stores.ts'

afterEach(() => vi.restoreAllMocks())

const hour = (n: number) => START_AT + n * HOUR_MS
const SEND = { id: 'a', workflow: 'send', every: '1h' }

/** Engines over one store, whose starts wait until the test lets them go. */
function workers(store: ScheduleStore, count: number) {
  const sent: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const send = dispatch(async ({ runId }) => {
    sent.push(runId)
    await promise
  })
  const at = setup({ store: { ...store, boundTo: {} }, workflows: { send } })
  const engines = Array.from({ length: count }, () => at.engineWith())
  return { ...at, engines, sent, letGo: resolve }
}

describe.each(STORES)('any number of engines over $name', ({ open }) => {
  test('start a window under one id, and exactly one of them moves the schedule on', async () => {
    const opened = open()
    const { engines, sent, letGo, moveTo, schedules } = workers(opened.store, 8)
    await schedules.create(SEND)
    moveTo(hour(1))
    const ticks = engines.map((engine) => engine.schedules.tick())
    for (let turn = 0; turn < 20; turn += 1) await settled()
    letGo()
    const answers = await Promise.all(ticks)
    expect(new Set(sent)).toEqual(new Set([`sched:a:${hour(1)}`]))
    expect(answers.flat()).toEqual([`sched:a:${hour(1)}`])
    expect(await schedules.get('a')).toMatchObject({ fires: 1, lastFireAt: hour(1), nextFireAt: hour(2) })
    expect(await schedules.history('a')).toHaveLength(1)
    opened.close()
  })
})

test('a tick asks once for what is due by now, in batches of 100', async () => {
  const asked: ScheduleQuery[] = []
  const store = memoryStore()
  const watched: ScheduleStore = {
    ...store,
    listSchedules(query) {
      asked.push(query)
      return store.listSchedules(query)
    },
  }
  const { schedules, moveTo, now } = setup({ store: watched })
  await schedules.tick()
  expect(asked).toEqual([{ dueBy: START_AT, limit: 100, namespace: undefined, after: undefined }])
  for (let n = 0; n < 250; n += 1) await schedules.create({ id: `s${n}`, workflow: 'brief', every: '1h' })
  moveTo(hour(1))
  asked.length = 0
  expect(await schedules.tick()).toHaveLength(250)
  expect(asked.map(({ dueBy, limit }) => [dueBy, limit])).toEqual([1, 2, 3].map(() => [now(), 100]))
})

test('a tick costs as many store calls with 1,000 schedules that are not due as with none', async () => {
  const costs: number[] = []
  for (const others of [0, 1_000]) {
    const store = memoryStore()
    let calls = 0
    const counted = Object.entries(store).map(([name, member]) => [
      name,
      typeof member !== 'function'
        ? member
        : (...args: never[]) => {
            calls += 1
            return (member as (...given: never[]) => unknown)(...args)
          },
    ])
    const { schedules, tickIn } = setup({ store: Object.fromEntries(counted) as ScheduleStore })
    await schedules.create({ id: 'a', workflow: 'brief', every: '1h' })
    for (let n = 0; n < others; n += 1)
      await schedules.create({ id: `o${n}`, workflow: 'brief', every: '1d' })
    calls = 0
    expect(await tickIn(HOUR_MS)).toHaveLength(1)
    costs.push(calls)
  }
  expect(costs[1]).toBe(costs[0])
})

test('a draining engine stops firing, and another one goes on', async () => {
  const { schedules, engine, engineWith, moveTo } = setup()
  await schedules.create({ id: 'a', workflow: 'brief', every: '1h' })
  await engine.drain()
  moveTo(hour(1))
  expect(await schedules.tick()).toEqual([])
  expect(await engineWith().schedules.tick()).toEqual([`sched:a:${hour(1)}`])
})

test('an engine fires the schedules of its namespace, and an operator those of every one', async () => {
  const { engineWith, moveTo, schedules: operator } = setup()
  const hourly = { workflow: 'brief', every: '1h' }
  for (const namespace of ['one', 'two']) {
    const { schedules } = engineWith({ namespace })
    await schedules.create({ ...hourly, id: namespace })
  }
  await operator.create({ ...hourly, id: 'none' })
  expect((await operator.get('none'))?.namespace).toBe('default')
  moveTo(hour(1))
  expect(await engineWith({ namespace: 'one' }).schedules.tick()).toEqual([`sched:one:${hour(1)}`])
  expect((await operator.tick()).sort()).toEqual([`sched:none:${hour(1)}`, `sched:two:${hour(1)}`])
})

test('tick, called by any poller, does not look at persistedSchedules and returns the run ids', async () => {
  const { schedules, tickIn } = setup({ persistedSchedules: false })
  for (const id of ['a', 'b']) await schedules.create({ id, workflow: 'brief', every: '1h' })
  expect(await tickIn(HOUR_MS)).toEqual([`sched:a:${hour(1)}`, `sched:b:${hour(1)}`])
  expect(await tickIn(0)).toEqual([])
})

test('a tick takes the time that it is given, and refuses what is none', async () => {
  const { schedules } = setup()
  await schedules.create({ id: 'a', workflow: 'brief', every: '1h' })
  expect(await schedules.tick(hour(1) - 1)).toEqual([])
  expect(await schedules.tick(hour(1))).toEqual([`sched:a:${hour(1)}`])
  for (const now of [-1, Number.NaN, 'now'])
    await expect(schedules.tick(now as number)).rejects.toThrow(/^now must be /)
})

describe('a start that fails', () => {
  test.each([
    ['for want of a workflow', { id: 'a', workflow: 'gone', every: '1h' }, /^WorkflowNotRegisteredError: /],
    ['by its validator', { ...SEND, input: 'bad' }, /^InvalidInputError: .*no userId/],
    [
      'by its concurrency limit',
      { ...SEND, concurrency: { key: 'k', limit: 1 } },
      /^ConcurrencyLimitError: /,
    ],
  ])(
    '%s is the lastError, the schedule moves on, and the next good start clears it',
    async (_, bad, error) => {
      silenceReports()
      const validate = (input: unknown) => {
        if (input === 'bad') throw new Error('no userId')
      }
      const send = dispatch(() => undefined, { validate })
      const { schedules, engine, tickIn, handler, decisions } = setup({ workflows: { send } })
      handler.instant = false
      await engine.start('brief', null, 'holds', { concurrency: { key: 'k', limit: 5 } })
      await schedules.create(bad)
      expect(await tickIn(HOUR_MS)).toEqual([])
      expect(await schedules.get('a')).toMatchObject({
        lastError: expect.stringMatching(error),
        fires: 0,
        paused: false,
        nextFireAt: hour(2),
      })
      expect(await decisions('a')).toEqual([['start_failed', hour(1)]])
      await schedules.upsert(SEND)
      expect(await tickIn(HOUR_MS)).toEqual([`sched:a:${hour(2)}`])
      expect(await schedules.get('a')).toMatchObject({ lastError: null, fires: 1 })
    },
  )
})
