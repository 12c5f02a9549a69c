import { expect, test } from 'vitest'
import { type SimulatedObject, simulateObject } from './object.ts'
import type { SimulatedAlarmInfo, SimulatedObjectOptions } from './object-options.ts'

type Handler = (ctx: DurableObjectState, info: SimulatedAlarmInfo, number: number) => unknown

/** An object whose `alarm()` is `handler`, with a log of when it was called and with what. */
function setup(handler: Handler = () => undefined, options: SimulatedObjectOptions = {}) {
  const calls: { atMs: number; info: SimulatedAlarmInfo }[] = []
  const object: SimulatedObject<{ alarm(info: SimulatedAlarmInfo): unknown }> = simulateObject(
    (ctx) => ({
      alarm(info) {
        calls.push({ atMs: object.world.clock.elapsedMs, info })
        return handler(ctx, info, calls.length)
      },
    }),
    options,
  )
  const start = object.world.clock.now()
  const set = (atMs: number) => void object.ctx.storage.setAlarm(start + atMs)
  return { object, calls, start, set, times: () => calls.map((call) => call.atMs) }
}

/** A promise that the test settles. */
function gate() {
  let open = (): void => undefined
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { open: () => open(), opened }
}

const forever = () => new Promise(() => undefined)
const fail = () => {
  throw new Error('handler')
}

test('an alarm is delivered once, at its time, and is gone then', async () => {
  const { object, calls, set, start } = setup()
  set(1_000)
  await object.advance('1 day')
  expect(calls).toEqual([
    { atMs: 1_000, info: { scheduledTime: start + 1_000, retryCount: 0, isRetry: false } },
  ])
  expect(object.alarmAt).toBeNull()
})

test('only the last alarm set counts', async () => {
  const { object, times, set } = setup()
  set(1_000)
  set(3_000)
  await object.advance('10 s')
  expect(times()).toEqual([3_000])
})

test('getAlarm() in the handler is null until the handler sets one', async () => {
  const seen: (number | null)[] = []
  const { object, set, start } = setup(async ({ storage }, _info, number) => {
    seen.push(await storage.getAlarm())
    if (number > 1) return
    void storage.setAlarm(start + 5_000)
    seen.push(await storage.getAlarm())
  })
  set(1_000)
  await object.advance('10 s')
  expect(seen).toEqual([null, start + 5_000, null])
})

test('a throwing handler is retried after 2, 4, 8, 16, 32 and 64 s, then the alarm is dropped', async () => {
  const { object, calls, set } = setup(fail)
  set(1_000)
  await object.advance('1 hour')
  expect(calls.map((call) => call.atMs / 1_000)).toEqual([1, 3, 7, 15, 31, 63, 127])
  expect(calls.map((call) => call.info.retryCount)).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(calls.map((call) => call.info.isRetry)).toEqual([false, true, true, true, true, true, true])
  expect(object.alarmAt).toBeNull()
})

test('a rejecting handler is retried too, and what it wrote is kept', async () => {
  const { object, set, times } = setup(async ({ storage }, _info, number) => {
    storage.sql.exec('CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)')
    storage.sql.exec('INSERT INTO t DEFAULT VALUES')
    await storage.sync()
    if (number === 1) fail()
  })
  set(0)
  await object.advance('1 hour')
  expect(times()).toEqual([0, 2_000])
  expect(object.rows('SELECT * FROM t')).toHaveLength(2)
})

test('a handler that sets an alarm and throws is not retried; the new alarm is on time', async () => {
  const { object, calls, set, start } = setup(({ storage }, _info, number) => {
    if (number > 1) return
    void storage.setAlarm(start + 1_500)
    fail()
  })
  set(1_000)
  await object.advance('1 hour')
  expect(calls.map((call) => [call.atMs, call.info.retryCount])).toEqual([
    [1_000, 0],
    [1_500, 0],
  ])
})

test('an alarm set during the pause before a retry does not shorten the pause', async () => {
  const { object, calls, set } = setup((_ctx, _info, number) => number === 1 && fail())
  set(1_000)
  await object.advance('2 s')
  set(2_001)
  await object.advance('10 s')
  expect(calls.map((call) => [call.atMs, call.info.retryCount])).toEqual([
    [1_000, 0],
    [3_000, 1],
  ])
})

test('a retry that takes the place of a newer alarm, and fails too, leaves that to be delivered at once', async () => {
  const { object, calls, set, start } = setup((_ctx, _info, number) => number <= 2 && fail())
  set(1_000)
  await object.advance('2 s')
  set(2_001)
  await object.advance('1 hour')
  expect(calls).toEqual([
    { atMs: 1_000, info: { scheduledTime: start + 1_000, retryCount: 0, isRetry: false } },
    { atMs: 3_000, info: { scheduledTime: start + 1_000, retryCount: 1, isRetry: true } },
    { atMs: 3_000, info: { scheduledTime: start + 2_001, retryCount: 0, isRetry: false } },
  ])
})

test('an alarm set for after the pause before a retry takes its place', async () => {
  const { object, calls, set } = setup((_ctx, _info, number) => number === 1 && fail())
  set(1_000)
  await object.advance('2 s')
  set(9_000)
  await object.advance('1 hour')
  expect(calls.map((call) => [call.atMs, call.info.retryCount])).toEqual([
    [1_000, 0],
    [9_000, 0],
  ])
})

test('abort() in the handler is a failure: retried six times, with this turn lost', async () => {
  const { object, calls, set } = setup((ctx) => {
    ctx.storage.kv.put('lost', true)
    void ctx.storage.setAlarm(object.world.clock.now() + 60_000)
    ctx.abort('enough')
  })
  set(1_000)
  await object.advance('1 hour')
  expect(calls.map((call) => call.info.retryCount)).toEqual([0, 1, 2, 3, 4, 5, 6])
  expect(object.ctx.storage.kv.get('lost')).toBeUndefined()
  expect(object.alarmAt).toBeNull()
})

test('an alarm set in the handler by a transactionSync that is undone stays in storage and is never delivered', async () => {
  const { object, times, set, start } = setup((ctx) => {
    const undone = () =>
      ctx.storage.transactionSync(() => {
        void ctx.storage.setAlarm(object.world.clock.now() + 5_000)
        throw new Error('undone')
      })
    expect(undone).toThrow('undone')
  })
  set(1_000)
  await object.advance('1 hour')
  expect(times()).toEqual([1_000])
  expect(await object.ctx.storage.getAlarm()).toBe(start + 1_000)
  object.crash()
  await object.advance('1 hour')
  expect(times()).toEqual([1_000])
})

test('an alarm that comes due while one is handled starts when that returns', async () => {
  const { open, opened } = gate()
  const { object, calls, set, start } = setup((_ctx, _info, number) => (number === 1 ? opened : undefined))
  set(1_000)
  await object.advance('1 s')
  set(2_000)
  await object.advance('9 s')
  expect(calls).toHaveLength(1)
  expect(object.inAlarm).toBe(true)
  open()
  await object.advance(0)
  expect(calls).toHaveLength(2)
  expect(calls[1]).toMatchObject({ atMs: 10_000, info: { scheduledTime: start + 2_000 } })
})

test('an alarm open at a crash is delivered to the next instance as if for the first time', async () => {
  const { object, calls, set, start } = setup((_ctx, _info, number) => (number === 1 ? forever() : undefined))
  set(1_000)
  await object.advance('5 s')
  object.crash()
  expect(object.inAlarm).toBe(false)
  expect(object.alarmAt).toBe(start + 1_000)
  await object.advance(0)
  const info = { scheduledTime: start + 1_000, retryCount: 0, isRetry: false }
  expect(calls).toEqual([
    { atMs: 1_000, info },
    { atMs: 5_000, info },
  ])
})

test('an alarm open at a crash is not delivered again when the handler had durably set another', async () => {
  const { object, times, set, start } = setup(async ({ storage }, _info, number) => {
    if (number > 1) return
    void storage.setAlarm(start + 8_000)
    await forever()
  })
  set(1_000)
  await object.advance('5 s')
  object.crash()
  await object.advance('1 hour')
  expect(times()).toEqual([1_000, 8_000])
})

test('an alarm set in a turn that the crash loses does not replace the open one', async () => {
  const { object, times, set, start } = setup(({ storage }, _info, number) => {
    if (number > 1) return
    void storage.setAlarm(start + 8_000)
    object.crash()
  })
  set(1_000)
  await object.advance('1 hour')
  expect(times()).toEqual([1_000, 1_000])
})

test('an alarm deleted by its handler is gone after a crash', async () => {
  const { object, times, set } = setup(async ({ storage }) => {
    await storage.deleteAlarm()
    await forever()
  })
  set(1_000)
  await object.advance('5 s')
  object.crash()
  await object.advance('1 hour')
  expect(times()).toEqual([1_000])
})

test('an alarm that a failed transaction set in the handler does not replace the open one', async () => {
  const { object, times, set, start } = setup(({ storage }, _info, number) => {
    if (number > 1) return
    storage.transactionSync(() => {
      void storage.setAlarm(start + 60_000)
      fail()
    })
  })
  set(1_000)
  await object.advance('1 minute')
  expect(times()).toEqual([1_000, 3_000])
})

test('a handler that runs for 15 minutes is cut, counts as failed, and its end is ignored', async () => {
  const { open, opened } = gate()
  const { object, calls, set } = setup((_ctx, _info, number) => (number === 1 ? opened : forever()))
  set(0)
  await object.advance('15 minutes')
  expect(object.inAlarm).toBe(false)
  await object.advance('10 s')
  open()
  await object.settle()
  expect(object.inAlarm).toBe(true)
  expect(calls.map((call) => [call.atMs, call.info.retryCount])).toEqual([
    [0, 0],
    [902_000, 1],
  ])
})

test('after a constructor that throws, the alarm waits 2, 4, 8 … s and stays as it is', async () => {
  let failures = 3
  const births: number[] = []
  const calls: SimulatedAlarmInfo[] = []
  const object = simulateObject((ctx, clock) => {
    births.push(clock.now() - start)
    if (births.length > 1 && failures-- > 0) fail()
    return { ctx, alarm: (info) => calls.push(info) }
  })
  const start = object.world.clock.now()
  void object.instance.ctx.storage.setAlarm(start + 1_000)
  await object.settle()
  object.crash()
  await object.advance('10 s')
  expect(object.alarmAt).toBe(start + 1_000)
  await object.advance('1 minute')
  expect(births).toEqual([0, 1_000, 3_000, 7_000, 15_000])
  expect(calls).toEqual([{ scheduledTime: start + 1_000, retryCount: 0, isRetry: false }])
})

test('no alarm is delivered while the constructor blocks the object', async () => {
  const { open, opened } = gate()
  const calls: number[] = []
  const object = simulateObject((ctx, clock) => {
    void ctx.blockConcurrencyWhile(() => opened)
    return { ctx, alarm: () => calls.push(clock.now()) }
  })
  void object.instance.ctx.storage.setAlarm(object.world.clock.now())
  await object.advance('10 s')
  expect(calls).toEqual([])
  open()
  await object.advance(0)
  expect(calls).toHaveLength(1)
})

test('an early delivery hands over the stored alarm before its time', async () => {
  const { object, calls, set, start } = setup()
  expect(await object.deliverAlarm({ early: true })).toBe(false)
  set(60_000)
  expect(await object.deliverAlarm()).toBe(false)
  expect(calls).toEqual([])
  expect(await object.deliverAlarm({ early: true })).toBe(true)
  await object.advance('1 hour')
  expect(calls).toEqual([{ atMs: 0, info: { scheduledTime: start + 60_000, retryCount: 0, isRetry: false } }])
})

test('a duplicate delivery repeats the last alarm, and leaves the stored one', async () => {
  const { object, calls, set, start } = setup()
  expect(await object.deliverAlarm({ duplicate: true })).toBe(false)
  set(1_000)
  await object.advance('2 s')
  set(60_000)
  expect(await object.deliverAlarm({ duplicate: true })).toBe(true)
  await object.advance('1 hour')
  expect(calls.map((call) => [call.atMs, call.info.scheduledTime - start])).toEqual([
    [1_000, 1_000],
    [2_000, 1_000],
    [60_000, 60_000],
  ])
})

test('a delivery asked for while a handler runs waits for its end', async () => {
  const { open, opened } = gate()
  const { object, calls, set } = setup((_ctx, _info, number) => (number === 1 ? opened : undefined))
  set(0)
  await object.advance(0)
  await object.deliverAlarm({ duplicate: true })
  expect(calls).toHaveLength(1)
  open()
  await object.advance(0)
  expect(calls).toHaveLength(2)
})

test('held alarms are late', async () => {
  const { object, times, set } = setup()
  set(1_000)
  object.holdAlarms('30 s')
  await object.advance('1 hour')
  expect(times()).toEqual([30_000])
})

test("alarms follow the platform's clock: they are early for a wall clock set back, late for one set forwards", async () => {
  const { object, calls, set, start } = setup()
  const seenBy = () => object.world.clock.now() - start
  set(10_000)
  object.world.clock.jump(-4_000)
  await object.advance('10 s')
  expect(calls).toHaveLength(1)
  expect(seenBy()).toBe(6_000)
  set(20_000)
  object.world.clock.jump(104_000)
  await object.advance('9 s')
  expect(calls).toHaveLength(1)
  await object.advance('1 s')
  expect(calls).toHaveLength(2)
})

test('a jump of all clocks past an alarm makes it due', async () => {
  const { object, times, set } = setup()
  set(3_600_000)
  object.world.clock.jump(7_200_000, { alarms: true })
  await object.advance('1 s')
  expect(times()).toEqual([0])
})

test('an alarm that other code moves or loses is what the platform has', async () => {
  const { object, times, set, start } = setup()
  set(1_000)
  await object.settle()
  object.overwriteAlarm(start + 5_000)
  await object.advance('10 s')
  expect(times()).toEqual([5_000])
  set(20_000)
  await object.settle()
  object.overwriteAlarm(null)
  await object.advance('1 hour')
  expect(times()).toEqual([5_000])
})
