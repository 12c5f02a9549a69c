import { describe, expect, it } from 'vitest'
import { withStorage } from './support/forwarding.ts'
import { crash, setup } from './support/setup.ts'
import { ticker } from './support/ticker.ts'
import { FAR_AHEAD, freezeClock, probeLag, realTime, shiftClock, until } from './support/time.ts'

const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`
const YEAR = 365 * 24 * 60 * MINUTE

describe('an alarm that is not as expected', () => {
  it('replayed, duplicated or retried records no second run', async () => {
    const clock = freezeClock()
    const object = setup({ scheduler: { alarmMinDelayMs: 1_000 } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    const scheduledTime = clock.now()
    await object.fireAlarm()
    await object.pass({ isRetry: false, retryCount: 0, scheduledTime })
    clock.moveBy(10)
    await object.pass({ isRetry: true, retryCount: 5, scheduledTime })
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
  })

  it('delivered fifty times at once records one run', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.inside(({ scheduler }) => Promise.all(Array.from({ length: 50 }, () => scheduler.alarm())))
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(object.seen.deliveries).toHaveLength(1)
  })

  it('late runs once, for the earliest missed time, and the next tick is the first after now', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(10 * MINUTE + 7)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 11 * MINUTE)
  })

  it.each([{ earlyMs: 29_000 }, { earlyMs: 10 }, { earlyMs: 1 }])(
    'B043 early by $earlyMs ms runs nothing and is armed again',
    async ({ earlyMs }) => {
      const clock = freezeClock()
      const object = setup()
      await object.set({ expression: MINUTELY, version: 1 })
      clock.moveTo(FAR_AHEAD + MINUTE - earlyMs)
      await object.fireAlarm()
      expect(object.seen.runs).toEqual([])
      expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
      clock.moveTo(FAR_AHEAD + MINUTE)
      await object.fireAlarm()
      expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
      expect(await object.get()).toMatchObject({ nextAt: FAR_AHEAD + 2 * MINUTE })
    },
  )

  it('B043 does not spin when the object’s clock is two seconds behind the platform’s', async () => {
    shiftClock(-2_000)
    const object = setup()
    const tick = await object.setOnce(100)
    await until('it runs', () => object.seen.runs.length === 1, 5_000)
    expect(object.seen.runs[0]?.startedAt).toBeGreaterThanOrEqual(tick)
    expect(object.seen.passes.length).toBeLessThanOrEqual(4)
  })

  it('B043 does not spin either with a hand-off that is shorter than the wait', async () => {
    shiftClock(-1_000)
    const object = setup({ scheduler: { alarmHandoffMs: 1 } })
    await object.setOnce(100)
    await until('it runs', () => object.seen.runs.length === 1, 5_000)
    expect(object.seen.passes.length).toBeLessThanOrEqual(10)
  })

  it('B043 does not spin over many ticks either, and each runs once at its time', async () => {
    shiftClock(-700)
    const object = setup()
    await object.set({ expression: 'every 200', version: 1 })
    await until('five runs', () => object.seen.runs.length >= 5, 5_000)
    const times = object.seen.runTimes
    expect(new Set(times).size).toBe(times.length)
    expect(object.seen.runs.every(({ startedAt, dueAt }) => startedAt >= dueAt)).toBe(true)
    expect(object.seen.passes.length).toBeLessThanOrEqual(3 * object.seen.runs.length + 4)
  })

  it('for nothing at all is deleted by its pass', async () => {
    freezeClock()
    const object = setup()
    await object.inside(({ ctx }) => ctx.storage.setAlarm(FAR_AHEAD + MINUTE))
    await object.pass()
    expect(await object.alarmAt()).toBeNull()
  })
})

describe('an alarm that other code deleted or moved', () => {
  it('B033 resending the definition repairs a deleted alarm and one overdue run follows', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: 'every 30000', version: 1 })
    for (const tick of [30_000, 60_000]) {
      clock.moveTo(FAR_AHEAD + tick)
      await object.fireAlarm()
    }
    await crash()
    await object.inside(({ ctx }) => ctx.storage.deleteAlarm())
    clock.moveTo(FAR_AHEAD + 300_000)
    await crash()
    expect(await object.set({ expression: 'every 30000', version: 1 })).toBe(false)
    expect(await object.alarmAt()).not.toBeNull()
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + 30_000, FAR_AHEAD + 60_000, FAR_AHEAD + 90_000])
    expect(await object.get()).toMatchObject({ nextAt: FAR_AHEAD + 330_000 })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 330_000)
  })

  it.each([
    { how: 'deleted', to: undefined },
    { how: 'moved an hour later (B041)', to: FAR_AHEAD + 60 * MINUTE },
    { how: 'moved earlier', to: FAR_AHEAD + 1_000 },
  ])('is put right by a resend when it was $how', async ({ to }) => {
    freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ ctx }) =>
      to === undefined ? ctx.storage.deleteAlarm() : ctx.storage.setAlarm(to),
    )
    await object.set({ expression: MINUTELY, version: 1 })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })

  it.each([
    { call: 'a set of a lower version', version: 1 },
    { call: 'a set of a higher version', version: 9 },
  ])('is put right by $call', async ({ version }) => {
    freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 5 })
    await object.inside(({ ctx }) => ctx.storage.deleteAlarm())
    await object.set({ expression: MINUTELY, version })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })

  it('is put right by a call on another helper', async () => {
    freezeClock()
    const object = setup({ alarms: { handlers: { renew: () => {} } } })
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ ctx }) => ctx.storage.deleteAlarm())
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + 5 * MINUTE))
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
    await object.inside(({ ctx }) => ctx.storage.deleteAlarm())
    await object.inside(({ alarms }) => alarms.cancel('renew'))
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })

  it('is put right by the next pass', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ ctx }) => ctx.storage.setAlarm(FAR_AHEAD + 60 * MINUTE))
    clock.moveTo(FAR_AHEAD + 60 * MINUTE)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 61 * MINUTE)
  })

  it('while a pass is open is put right by its end', async () => {
    const { object, gate } = await held()
    await object.inside(({ ctx }) => ctx.storage.deleteAlarm())
    gate.resolve()
    await until('the pass is over', () => object.seen.passes[0]?.state === 'returned')
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
  })

  it('is put right by a cancel that ignores its version', async () => {
    freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 5 })
    await object.inside(({ ctx }) => ctx.storage.deleteAlarm())
    expect(await object.cancel(1)).toBe(false)
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })
})

describe('an alarm in the past', () => {
  it('outside a pass counts as lost: a call starts the due work, under an alarm that joins it', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveTo(FAR_AHEAD + MINUTE + 5_000)
    await object.set({ expression: MINUTELY, version: 1 })
    await until('it runs', () => object.seen.runs.length === 1)
    expect(await object.alarmAt()).toBe(clock.now() + 1)
    clock.moveBy(1)
    object.startAlarm()
    await until('the pass joins', () => object.seen.passes.length === 1)
    await realTime(30)
    expect(object.seen.passes[0]?.state).toBe('open')
    gate.resolve()
    await until('the pass is over', () => object.seen.passes[0]?.state === 'returned')
    expect(object.seen.runs).toHaveLength(1)
    expect(object.seen.deliveries).toHaveLength(1)
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
  })

  it('is armed at now + 1 at the earliest, never at or before now', async () => {
    const armed: { at: number; now: number }[] = []
    const clock = freezeClock()
    const object = setup({
      context: (ctx) =>
        withStorage(ctx, (storage) => ({
          setAlarm: (at) => {
            armed.push({ at: Number(at), now: Date.now() })
            return storage.setAlarm(at)
          },
        })),
    })
    await object.set({ expression: MINUTELY, version: 1 })
    for (const late of [0, 1, MINUTE, 7 * MINUTE + 1]) {
      clock.moveBy(MINUTE + late)
      await object.set({ expression: MINUTELY, version: 1 })
      await object.pass()
    }
    await object.set({ expression: 'plus 1', version: 2 })
    clock.moveBy(1)
    await object.pass()
    await object.set({ expression: `at ${FAR_AHEAD + 9 * YEAR}`, version: 3 })
    expect(armed.length).toBeGreaterThan(8)
    expect(armed.filter(({ at, now }) => at < now + 1 || at > now + YEAR)).toEqual([])
  })

  it('B037 five past-due re-arms from within alarm() all fire without outside traffic', async () => {
    const slow = ticker(20, () => realTime(80))
    const object = setup({ helpers: [slow.helper] })
    await object.pass()
    await until('five turns', () => slow.ticks.length >= 5, 5_000)
    expect(slow.ticks.slice(1, 5).every(({ dueAt, ranAt }) => ranAt > dueAt)).toBe(true)
  })
})

describe('an alarm far away', () => {
  it('is armed a year ahead, then again, and the tick runs at its time', async () => {
    const clock = freezeClock()
    const object = setup({ scheduler: { alarmMinDelayMs: 1_000 } })
    const tick = FAR_AHEAD + 2.5 * YEAR
    await object.set({ expression: `at ${tick}`, version: 1 })
    for (const alarmAt of [FAR_AHEAD + YEAR, FAR_AHEAD + 2 * YEAR, tick]) {
      expect(await object.alarmAt()).toBe(alarmAt)
      clock.moveTo(alarmAt)
      await object.fireAlarm()
    }
    expect(object.seen.runTimes).toEqual([tick])
    expect(await object.alarmAt()).toBeNull()
  })

  it('is not written again by each resend', async () => {
    const clock = freezeClock()
    const object = setup()
    const definition = { expression: `at ${FAR_AHEAD + 3 * YEAR}`, version: 1 }
    await object.set(definition)
    clock.moveBy(MINUTE)
    expect(await object.costOf(() => object.set(definition))).toMatchObject({ alarms: 0, rowsWritten: 0 })
  })
})

describe('a pass that is joined', () => {
  it('waits for the same hold, starts what is newly due, and nothing twice', async () => {
    const { object, gate, clock } = await held()
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('the second run', () => object.seen.runs.length === 2)
    await realTime(30)
    expect(object.seen.passes.map(({ state }) => state)).toEqual(['open', 'open'])
    gate.resolve()
    await until('both are over', () => object.seen.passes.every(({ state }) => state === 'returned'))
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE, FAR_AHEAD + 2 * MINUTE])
    expect(object.seen.deliveries).toHaveLength(2)
  })
})

describe('the hand-off', () => {
  it('returns with the alarm set, the work goes on, and the next pass joins it', async () => {
    const gate = Promise.withResolvers<void>()
    const object = setup({
      scheduler: { alarmHandoffMs: 100, alarmMinDelayMs: 1_000 },
      schedule: { run: () => gate.promise },
    })
    await object.setOnce(30)
    await until('the first pass hands off', () => object.seen.passes[0]?.state === 'returned', 2_000)
    const alarmAt = await object.alarmAt()
    expect(alarmAt).toBeGreaterThan(Date.now())
    expect(alarmAt).toBeLessThanOrEqual(Date.now() + 1_000)
    await until('the next pass joins', () => object.seen.passes.length >= 2, 3_000)
    gate.resolve()
    await until('it is delivered', () => object.seen.deliveries.length === 1, 2_000)
    expect(object.seen.runs).toHaveLength(1)
    await until('its row is gone', async () => (await object.rows()).length === 0)
    await until('no alarm is left', async () => (await object.alarmAt()) === null, 3_000)
  })

  it('keeps the ticks on time, before, in and after the gap', async () => {
    const lag = probeLag()
    const gate = Promise.withResolvers<void>()
    const object = setup({
      scheduler: { alarmHandoffMs: 150, alarmMinDelayMs: 1_000 },
      schedule: { run: () => gate.promise, maxConcurrentRuns: 100 },
    })
    await object.set({ expression: 'every 100', version: 1 })
    await until('twenty runs', () => object.seen.runs.length >= 20, 6_000)
    const late = object.seen.runs.map(({ startedAt, dueAt }) => startedAt - dueAt)
    expect(Math.max(...late)).toBeLessThan(50 + lag.stop())
    expectEvery(object.seen.runTimes, 100)
    gate.resolve()
    await until('all are delivered', () => object.seen.deliveries.length >= 20)
  })

  it('with work that settles in the gap leaves it delivered and the alarm on the next tick', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ scheduler: { alarmHandoffMs: 20 }, schedule: { run: () => gate.promise } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.deliveries).toEqual([])
    expect(await object.alarmAt()).toBe(clock.now() + 15_000)
    gate.resolve()
    await until('it is delivered', () => object.seen.deliveries.length === 1)
    await until('its row is gone', async () => (await object.rows()).length === 0)
    await until('the alarm is back', async () => (await object.alarmAt()) === FAR_AHEAD + 2 * MINUTE)
    expect(object.seen.runs).toHaveLength(1)
  })

  it('with a crash in the gap is covered by the fallback alarm', async () => {
    const clock = freezeClock()
    const object = setup({
      scheduler: { alarmHandoffMs: 20 },
      schedule: { run: () => new Promise(() => {}) },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    await crash()
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE + 15_000)
    clock.moveBy(15_000)
    await object.fireAlarm()
    expect(object.seen.deliveries).toMatchObject([
      { outcome: { error: { name: 'ScheduledRunInterruptedError' } } },
    ])
  })

  it('happens again and again for a run that outlasts many of them', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ scheduler: { alarmHandoffMs: 10 }, schedule: { run: () => gate.promise } })
    await object.set({ expression: `at ${FAR_AHEAD + MINUTE}`, version: 1 })
    clock.moveBy(MINUTE)
    for (let pass = 0; pass < 10; pass += 1) {
      await object.fireAlarm()
      const alarmAt = await object.alarmAt()
      expect(alarmAt).toBe(clock.now() + 15_000)
      clock.moveTo(alarmAt ?? 0)
    }
    gate.resolve()
    await until('it is delivered', () => object.seen.deliveries.length === 1)
    expect(object.seen.runs).toHaveLength(1)
  })
})

describe('work of other helpers that comes due during a hold', () => {
  it('waits for the end of the hold', async () => {
    const { gate, other, object } = await heldBesideTicker({ liveTimers: false })
    await realTime(200)
    expect(other.ticks).toEqual([])
    gate.resolve()
    await until('it is run', () => other.ticks.length > 0, 2_000)
    expect(object.seen.runs).toHaveLength(1)
  })

  it('is started at its exact time with liveTimers', async () => {
    const lag = probeLag()
    const { gate, other } = await heldBesideTicker({ liveTimers: true })
    await until('it is run', () => other.ticks.length >= 2, 2_000)
    const late = other.ticks.map(({ dueAt, ranAt }) => ranAt - dueAt)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...late)).toBeLessThan(50 + lag.stop())
    gate.resolve()
  })
})

/** A run in flight holds the pass while the work of a user's helper comes due after 100 ms. */
async function heldBesideTicker(scheduler: { liveTimers: boolean }) {
  const gate = Promise.withResolvers<void>()
  const other = ticker(100)
  const object = setup({ scheduler, helpers: [other.helper], schedule: { run: () => gate.promise } })
  await object.setOnce(20)
  await until('the run holds the pass', () => object.seen.runs.length === 1)
  return { gate, other, object }
}

/** A minutely schedule whose first run holds its pass. */
async function held() {
  const clock = freezeClock()
  const gate = Promise.withResolvers<void>()
  const object = setup({ schedule: { run: () => gate.promise } })
  await object.set({ expression: MINUTELY, version: 1 })
  clock.moveBy(MINUTE)
  object.startAlarm()
  await until('it runs', () => object.seen.runs.length === 1)
  return { object, gate, clock }
}

function expectEvery(times: readonly number[], everyMs: number): void {
  expect(times).toEqual(times.map((_, index) => (times[0] ?? 0) + index * everyMs))
}
