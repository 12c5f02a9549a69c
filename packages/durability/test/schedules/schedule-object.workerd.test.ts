import { abortAllDurableObjects as crash } from 'cloudflare:test'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { DurabilitySchedule } from '../../src/experimental/index.ts'
import { DurabilityAlarms } from '../../src/index.ts'
import {
  InvalidScheduleError,
  type RunDescription,
  ScheduleAlreadyExistsError,
  type ScheduleDescription,
  ScheduleNotFoundError,
} from '../../src/schedules/index.ts'
import { nextOccurrence } from '../workerd/support/expressions.ts'
import { scheduleObject } from '../workerd/support/schedule-objects.ts'
import { behaviour, type TestSchedules } from '../workerd/support/test-schedules.ts'
import { FAR_AHEAD, freezeClock, until } from '../workerd/support/time.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS
const HOURLY = { id: 'hourly', workflow: 'work', every: '1h' } as const
const hour = (n: number) => FAR_AHEAD + n * HOUR_MS
const runId = (id: string, at: number) => `sched:${id}:${at}`

beforeEach(() => {
  freezeClock()
})

/** Holds every handler until it is told to let it end. */
function gate() {
  const { promise, resolve } = Promise.withResolvers<void>()
  behaviour.work = () => promise
  return resolve
}

describe("the object's alarm", () => {
  test('is the soonest schedule, alone drives it, and none is set when nothing is due', async () => {
    const object = scheduleObject()
    const { schedules } = object.remote()
    expect(await schedules.get('hourly')).toBe(null)
    expect(await object.alarmAt()).toBe(null)
    await schedules.create({ id: 'daily', workflow: 'work', cron: '0 9 * * *' })
    expect(await object.alarmAt()).toBe(hour(9))
    await schedules.create(HOURLY)
    expect(await object.alarmAt()).toBe(hour(1))
    await object.passTime(hour(9))
    // 9 windows of one, and one of the other in the last of these alarms: nothing looked in between.
    expect(behaviour.alarms).toHaveLength(9)
    expect(behaviour.called).toHaveLength(10)
    await schedules.pause('hourly')
    expect(await object.alarmAt()).toBe(hour(9 + 24))
    await schedules.delete('daily')
    expect(await object.alarmAt()).toBe(null)
    await object.passTime(FAR_AHEAD + 365 * DAY_MS)
    expect(behaviour.alarms).toHaveLength(9)
  })

  test('fires by itself, again and again', async () => {
    vi.useRealTimers()
    const object = scheduleObject()
    await object.remote().schedules.create({ id: 'quick', workflow: 'work', every: '1s' })
    await until('three runs', () => behaviour.called.length >= 3)
    const { fires } = await object.remote().schedules.pause('quick')
    await until('every window has its run', () => behaviour.called.length === fires)
    expect(new Set(behaviour.called).size).toBe(fires)
    // An alarm that comes a moment early is set again; nothing else calls the object.
    expect(behaviour.alarms.length).toBeLessThanOrEqual(2 * fires)
  })

  test('goes on after the object was dropped from memory', async () => {
    const object = scheduleObject()
    await object.remote().schedules.create(HOURLY)
    for (let n = 1; n <= 3; n += 1) {
      await object.evict()
      await object.passTime(hour(n))
    }
    expect(behaviour.called).toEqual([1, 2, 3].map((n) => runId('hourly', hour(n))))
    expect(await object.remote().schedules.get('hourly')).toMatchObject({ fires: 3, nextFireAt: hour(4) })
  })
})

describe('handlers', () => {
  test('that a crash cuts off are reported as interrupted, and not called again', async () => {
    const object = scheduleObject()
    await object.remote().schedules.create(HOURLY)
    gate()
    vi.setSystemTime(hour(1))
    object.startAlarm()
    await until('the handler was called', () => behaviour.called.length === 1)
    expect(await object.remote().getRun(runId('hourly', hour(1)))).toMatchObject({ status: 'running' })
    await crash()
    behaviour.work = () => {}
    await object.passTime(hour(2))
    expect(await object.remote().getRun(runId('hourly', hour(1)))).toMatchObject({
      status: 'interrupted',
      error: expect.stringContaining('ScheduledRunInterruptedError'),
    })
    expect(behaviour.called).toEqual([runId('hourly', hour(1)), runId('hourly', hour(2))])
    expect(await object.remote().schedules.get('hourly')).toMatchObject({ fires: 2 })
  })

  test('wait in the store behind maxConcurrentRuns, over a crash too', async () => {
    behaviour.options = { maxConcurrentRuns: 2 }
    const object = scheduleObject()
    const { schedules, listRuns } = object.remote()
    for (const id of ['a', 'b', 'c', 'd', 'e']) await schedules.create({ ...HOURLY, id })
    gate()
    vi.setSystemTime(hour(1))
    object.startAlarm()
    await until('two were called', () => behaviour.called.length === 2)
    expect(await listRuns({ status: 'queued' })).toHaveLength(3)
    await crash()
    const open = gate()
    object.startAlarm()
    await until('the next two were called', () => behaviour.called.length === 4)
    expect(await object.remote().listRuns({ status: 'queued' })).toHaveLength(1)
    open()
    await until('all were called', () => behaviour.called.length === 5)
    expect(behaviour.called).toEqual(['a', 'b', 'c', 'd', 'e'].map((id) => runId(id, hour(1))))
    await until(
      'all are over',
      async () => (await object.remote().listRuns({ status: 'complete' })).length === 3,
    )
    expect(await object.remote().listRuns({ status: 'interrupted' })).toHaveLength(2)
  })

  test('of triggers and of starts run without an alarm, and may use the object', async () => {
    const object = scheduleObject()
    behaviour.work = ({ input }) => object.inside(({ parts }) => parts.ctx.storage.kv.put('seen', input))
    const { schedules, start, getRun } = object.remote()
    await schedules.create({ ...HOURLY, input: { from: 'trigger' }, paused: true })
    const { id } = await schedules.trigger('hourly')
    await until('it is over', async () => (await getRun(id))?.status === 'complete')
    expect(await object.inside(({ parts }) => parts.ctx.storage.kv.get('seen'))).toEqual({ from: 'trigger' })
    await start('work', { from: 'start' }, 'mine')
    await until('it is over', async () => (await getRun('mine'))?.status === 'complete')
    expect(await object.inside(({ parts }) => parts.ctx.storage.kv.get('seen'))).toEqual({ from: 'start' })
  })
})

test('start is idempotent by run id, however many ask at once, here and over RPC, and after a crash', async () => {
  const object = scheduleObject()
  const open = gate()
  const started = await Promise.all([
    ...Array.from({ length: 20 }, () => object.remote().start('work', { n: 1 }, 'once')),
    object.ask((engine) => Promise.all([1, 2, 3].map((n) => engine.start('work', { n }, 'once')))),
  ])
  const runs = started.flat()
  expect(new Set(runs.map(({ id }) => id))).toEqual(new Set(['once']))
  expect(new Set(runs.map(({ createdAt }) => createdAt)).size).toBe(1)
  open()
  await until('it is over', async () => (await object.remote().getRun('once'))?.status === 'complete')
  await crash()
  expect(await object.remote().start('work', { n: 2 }, 'once')).toMatchObject({
    status: 'complete',
    input: { n: 1 },
  })
  expect(behaviour.called).toEqual(['once'])
})

describe('call', () => {
  test('answers what the engine does, and errors as values', async () => {
    const stub = scheduleObject().stub()
    expect(await stub.call('create', [HOURLY])).toMatchObject({
      value: { id: 'hourly', nextFireAt: hour(1) },
    })
    expect(await stub.call('list', [{ limit: 1 }])).toMatchObject({
      value: { page: [{ id: 'hourly' }], cursor: null },
    })
    expect(await stub.call('count', [])).toEqual({ value: 1 })
    expect(await stub.call('get', ['none'])).toEqual({ value: null })
    expect(await stub.call('create', [{ ...HOURLY, id: 'x', every: '0s' }])).toMatchObject({
      error: { name: 'InvalidScheduleError', code: 'invalid_schedule', field: 'every' },
    })
    for (const verb of ['tick', 'drain', 'constructor', '__proto__', 'alarm']) {
      expect(await stub.call(verb as never, [])).toEqual({
        error: { name: 'TypeError', message: `There is no call "${verb}"` },
      })
    }
    expect(await stub.call('get', null as never)).toMatchObject({ error: { name: 'TypeError' } })
  })

  test('by remoteSchedules is the whole surface, with pages and classes of errors', async () => {
    const { schedules, start, getRun, listRuns, cancelRun } = scheduleObject().remote()
    const errorOf = (call: Promise<unknown>) => call.catch((thrown: unknown) => thrown)
    for (const id of ['a', 'b', 'c']) await schedules.create({ ...HOURLY, id })
    const first = await schedules.list({ limit: 2 })
    expect(first.map(({ id }: ScheduleDescription) => id)).toEqual(['a', 'b'])
    const second = await schedules.list({ limit: 2, cursor: first.cursor ?? '' })
    expect([second.map(({ id }) => id), second.cursor]).toEqual([['c'], null])
    expect(await schedules.upsert({ ...HOURLY, id: 'a', note: 'mine' })).toMatchObject({ note: 'mine' })
    expect(await schedules.pause('a')).toMatchObject({ paused: true, nextFireAt: null })
    expect(await schedules.count({ paused: true })).toBe(1)
    expect(await schedules.resume('a')).toMatchObject({ paused: false })
    expect(await schedules.preview('a', { count: 2 })).toEqual([
      { scheduledTime: hour(1), dueAt: hour(1) },
      { scheduledTime: hour(2), dueAt: hour(2) },
    ])
    expect((await schedules.history('a')).map(({ decision }) => decision)).toEqual(['resumed', 'paused'])
    gate()
    await schedules.trigger('a')
    await start('work', null, 'mine')
    expect((await listRuns({ limit: 1 })).cursor).not.toBe(null)
    expect((await listRuns()).map(({ id }: RunDescription) => id).sort()).toEqual([
      'mine',
      `sched:a:manual:${FAR_AHEAD}`,
    ])
    expect(await cancelRun('mine')).toBe(true)
    expect(await getRun('mine')).toMatchObject({ status: 'cancelled' })
    expect(await schedules.delete('c')).toBe(true)
    expect(await errorOf(schedules.create({ ...HOURLY, id: 'a' }))).toBeInstanceOf(ScheduleAlreadyExistsError)
    expect(await errorOf(schedules.pause('c'))).toBeInstanceOf(ScheduleNotFoundError)
    const invalid = await errorOf(schedules.create({ id: 'x', workflow: 'work', cron: 'never' }))
    expect(invalid).toBeInstanceOf(InvalidScheduleError)
    expect(invalid).toMatchObject({ field: 'cron' })
  })
})

test('listRuns by pages has each run once, those in flight among those that are over, whatever their ids', async () => {
  const { start, listRuns, getRun } = scheduleObject().remote()
  const ids = ['Ａ', 'a', 'é', '\ue000', '😀', '🦄']
  behaviour.work = ({ runId: id }) => (id === '😀' || id === 'a' ? new Promise(() => {}) : undefined)
  for (const id of ids) await start('work', null, id)
  await until('the others are over', async () => (await getRun('🦄'))?.status === 'complete')
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof listRuns>> = await listRuns({ limit: 1, ...(cursor && { cursor }) })
    seen.push(...page.map(({ id }) => id))
    cursor = page.cursor
  } while (cursor !== null)
  // All of one moment: by the bytes of their ids, as in the database.
  expect(seen).toEqual(['🦄', '😀', 'Ａ', '\ue000', 'é', 'a'])
})

test('list of more than an RPC can take answers it in several pages', { timeout: 60_000 }, async () => {
  const { schedules } = scheduleObject().remote()
  const input = 'x'.repeat(120 * 1024)
  for (let n = 0; n < 290; n += 1) await schedules.create({ ...HOURLY, id: `s${n}`, input })
  let count = 0
  let cursor: string | null = null
  do {
    const page = await schedules.list({ limit: 1_000, ...(cursor !== null && { cursor }) })
    count += page.length
    cursor = page.cursor
  } while (cursor !== null)
  expect(count).toBe(290)
})

test('deleteAll leaves an object that can be used at once, with no alarm', async () => {
  const object = scheduleObject()
  const { schedules, start, listRuns } = object.remote()
  await schedules.create(HOURLY)
  await start('work', null, 'mine')
  await object.inside(({ parts }) => parts.ctx.storage.deleteAll())
  expect(await object.alarmAt()).toBe(null)
  expect(await schedules.list()).toEqual([])
  expect(await listRuns()).toEqual([])
  expect(await schedules.create(HOURLY)).toMatchObject({ fires: 0, nextFireAt: hour(1) })
  await object.passTime(hour(1))
  expect(behaviour.called).toEqual(['mine', runId('hourly', hour(1))])
})

test('an object for each tenant keeps its own schedules and fires them alone', async () => {
  const [one, other] = [scheduleObject('tenant:1'), scheduleObject('tenant:2')]
  await one.remote().schedules.create(HOURLY)
  await other.remote().schedules.create({ ...HOURLY, every: '2h' })
  await one.passTime(hour(1))
  expect(behaviour.alarms).toEqual(['tenant:1'])
  expect(await one.remote().schedules.get('hourly')).toMatchObject({ fires: 1 })
  expect(await other.remote().schedules.get('hourly')).toMatchObject({ fires: 0, nextFireAt: hour(2) })
})

test('an object for a namespace stamps it on all it holds, and refuses another', async () => {
  behaviour.options = { namespace: 'acme' }
  const { schedules, start } = scheduleObject('acme').remote()
  expect(await schedules.create(HOURLY)).toMatchObject({ namespace: 'acme' })
  expect(await schedules.trigger('hourly')).toMatchObject({ namespace: 'acme' })
  expect(await start('work', null, 'mine')).toMatchObject({ namespace: 'acme' })
  for (const call of [
    schedules.create({ ...HOURLY, id: 'b', namespace: 'other' }),
    schedules.list({ namespace: 'other' }),
    start('work', null, 'theirs', { namespace: 'other' }),
  ]) {
    await expect(call).rejects.toMatchObject({ field: 'namespace' })
  }
})

describe('beside the engine', () => {
  test('named alarms and a deployed schedule share its alarm, and all of them fire', async () => {
    const fired: string[] = []
    const made = new WeakMap<
      TestSchedules,
      { alarms: DurabilityAlarms<'remind'>; schedule: DurabilitySchedule }
    >()
    behaviour.beside = (object) => {
      const { scheduler } = object.parts
      const alarms = new DurabilityAlarms({
        scheduler,
        handlers: { remind: ({ scheduledTime }) => void fired.push(`remind ${scheduledTime - FAR_AHEAD}`) },
      })
      const schedule = new DurabilitySchedule({
        scheduler,
        nextOccurrence,
        run: ({ scheduledTime }) => void fired.push(`deployed ${scheduledTime - FAR_AHEAD}`),
      })
      made.set(object, { alarms, schedule })
    }
    behaviour.work = ({ scheduledTime }) => fired.push(`user ${(scheduledTime ?? 0) - FAR_AHEAD}`)
    const object = scheduleObject()
    await object.remote().schedules.create(HOURLY)
    await object.inside(async (instance) => {
      await made.get(instance)?.alarms.set('remind', hour(1) + MINUTE_MS)
      await made.get(instance)?.schedule.set({ expression: `at ${hour(1) + 2 * MINUTE_MS}`, version: 1 })
    })
    await object.passTime(hour(2))
    expect(fired).toEqual([
      `user ${HOUR_MS}`,
      `remind ${HOUR_MS + MINUTE_MS}`,
      `deployed ${HOUR_MS + 2 * MINUTE_MS}`,
      `user ${2 * HOUR_MS}`,
    ])
    expect(behaviour.alarms).toHaveLength(4)
    expect(await object.alarmAt()).toBe(hour(3))
  })

  test("a long run of a deployed schedule holds up no user's", async () => {
    vi.useRealTimers()
    const held = Promise.withResolvers<void>()
    const made = new WeakMap<TestSchedules, DurabilitySchedule>()
    let holds = false
    behaviour.beside = (object) => {
      const { scheduler } = object.parts
      const run = () => {
        holds = true
        return held.promise
      }
      made.set(object, new DurabilitySchedule({ scheduler, nextOccurrence, run }))
    }
    const object = scheduleObject()
    await object.inside((instance) =>
      made.get(instance)?.set({ expression: `at ${Date.now() + 500}`, version: 1 }),
    )
    await until('the deployed run began', () => holds)
    await object.remote().schedules.create({ id: 'quick', workflow: 'work', every: '1s' })
    await until('two runs of the user', () => behaviour.called.length >= 2)
    expect(behaviour.alarms).toHaveLength(1)
    held.resolve()
  })
})

/** Begins to drain the object's engine; `drained` resolves when it has. */
async function beginDrain({ ask }: ReturnType<typeof scheduleObject>) {
  let isBegun = false
  const drained = ask((engine) => {
    const draining = engine.drain()
    isBegun = true
    return draining
  })
  await until('the drain began', () => isBegun)
  return { drained }
}

describe('drain', () => {
  test('fires and starts nothing more, and resolves when what is in flight has settled', async () => {
    const object = scheduleObject()
    const { schedules, start, getRun } = object.remote()
    await schedules.create(HOURLY)
    const open = gate()
    vi.setSystemTime(hour(1))
    object.startAlarm()
    await until('the handler was called', () => behaviour.called.length === 1)
    let isDrained = false
    const drained = object
      .ask((engine) => engine.drain())
      .then(() => {
        isDrained = true
      })
    await expect(start('work', null, 'late')).rejects.toMatchObject({ code: 'engine_draining' })
    await expect(schedules.trigger('hourly')).rejects.toMatchObject({ code: 'engine_draining' })
    vi.setSystemTime(hour(2))
    expect(await object.ask((engine) => engine.schedules.tick())).toEqual([])
    expect(isDrained).toBe(false)
    expect(await getRun(runId('hourly', hour(1)))).toMatchObject({ status: 'running' })
    open()
    await drained
    expect(await getRun(runId('hourly', hour(1)))).toMatchObject({ status: 'complete' })
    expect(behaviour.called).toHaveLength(1)
  })

  test('of an instance leaves what is due to the next one, which its alarm makes', async () => {
    const object = scheduleObject()
    await object.remote().schedules.create(HOURLY)
    await object.ask((engine) => engine.drain())
    expect(await object.alarmAt()).toBe(hour(1))
    vi.setSystemTime(hour(1))
    await object.fireAlarm()
    expect(behaviour.called).toEqual([])
    expect(await object.alarmAt()).toBe(hour(1) + MINUTE_MS)
    await object.evict()
    await object.passTime(hour(1) + MINUTE_MS)
    expect(behaviour.called).toEqual([runId('hourly', hour(1))])
  })

  test('leaves runs that wait to the next instance', async () => {
    behaviour.options = { maxConcurrentRuns: 1 }
    const object = scheduleObject()
    const { start, getRun } = object.remote()
    const open = gate()
    for (const id of ['first', 'second']) await start('work', null, id)
    const { drained } = await beginDrain(object)
    open()
    await drained
    expect(await getRun('first')).toMatchObject({ status: 'complete' })
    expect(await getRun('second')).toMatchObject({ status: 'queued' })
    expect(behaviour.called).toEqual(['first'])
    await object.evict()
    await object.passTime(FAR_AHEAD + 2 * MINUTE_MS)
    expect(behaviour.called).toEqual(['first', 'second'])
    expect(await object.remote().getRun('second')).toMatchObject({ status: 'complete' })
  })
})
