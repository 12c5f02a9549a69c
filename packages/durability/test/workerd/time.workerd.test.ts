import { describe, expect, it } from 'vitest'
import { nextOccurrence } from './support/expressions.ts'
import { seeded } from './support/random.ts'
import { type Bundle, crash, setup } from './support/setup.ts'
import { FAR_AHEAD, freezeClock, probeLag, realTime, until } from './support/time.ts'

const SECOND = 1_000
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const MINUTELY = `every ${MINUTE}`

describe('a clock that goes back an hour', () => {
  it('repeats no nominal time', async () => {
    const { object, clock } = await ticked(2)
    clock.moveBy(-HOUR)
    await object.pass()
    await crash()
    await object.set({ expression: MINUTELY, version: 1 })
    for (let minute = 0; minute < 3; minute += 1) {
      clock.moveTo(FAR_AHEAD + minute * MINUTE)
      await object.set({ expression: MINUTELY, version: 1 })
      await object.fireIfDue()
    }
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE, FAR_AHEAD + 2 * MINUTE])
    clock.moveTo(FAR_AHEAD + 3 * MINUTE)
    await object.fireAlarm()
    expect(object.seen.runTimes.at(-1)).toBe(FAR_AHEAD + 3 * MINUTE)
  })

  it.each([
    { how: 'a new version', change: (o: Bundle) => o.set({ expression: MINUTELY, version: 2 }) },
    { how: 'another expression', change: (o: Bundle) => o.set({ expression: 'every 1000', version: 2 }) },
    {
      how: 'cancel and set of the same version',
      change: async (o: Bundle) => [await o.cancel(), await o.set({ expression: MINUTELY, version: 1 })],
    },
    {
      how: 'a tombstone and a higher version',
      change: async (o: Bundle) => [await o.cancel(5), await o.set({ expression: MINUTELY, version: 6 })],
    },
    {
      how: 'a crash, a cancel and a set',
      change: async (o: Bundle) => [
        await crash(),
        await o.cancel(),
        await crash(),
        await o.set({ expression: 'every 30000', version: 0 }),
      ],
    },
  ])('and $how look for a nominal time after the last recorded one', async ({ change }) => {
    const { object, clock } = await ticked(2)
    clock.moveBy(-HOUR)
    await change(object)
    const next = (await object.get())?.nextAt ?? 0
    expect(next).toBeGreaterThan(FAR_AHEAD + 2 * MINUTE)
    for (const at of [FAR_AHEAD, FAR_AHEAD + MINUTE, FAR_AHEAD + 2 * MINUTE, next]) {
      clock.moveTo(at)
      await object.fireIfDue()
    }
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE, FAR_AHEAD + 2 * MINUTE, next])
  })

  it('during a run gives it no negative duration', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    clock.moveBy(-HOUR)
    gate.resolve()
    await until('it is delivered', () => object.seen.deliveries.length === 1)
    expect(object.seen.events.find(({ type }) => type === 'settled')).toMatchObject({ durationMs: 0 })
  })

  it('after it went ahead by mistake does not lose the schedule', async () => {
    const { object, clock } = await ticked(1)
    clock.moveBy(10 * MINUTE)
    await object.fireAlarm()
    clock.moveTo(FAR_AHEAD + 2 * MINUTE)
    await object.set({ expression: MINUTELY, version: 1 })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 12 * MINUTE)
    clock.moveTo(FAR_AHEAD + 12 * MINUTE)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([1, 2, 12].map((minute) => FAR_AHEAD + minute * MINUTE))
  })

  it('does not spin and does not stop the ticks that are to come', async () => {
    const { object, clock } = await ticked(1)
    clock.moveBy(-10 * SECOND)
    await object.fireAlarm()
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
    clock.moveTo(FAR_AHEAD + 2 * MINUTE)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE, FAR_AHEAD + 2 * MINUTE])
  })
})

describe('a change of the definition around a tick', () => {
  it('ten version bumps inside a jitter delay neither lose nor repeat the nominal time', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1, jitterMs: 30_000 })
    for (let bump = 1; bump <= 10; bump += 1) {
      clock.moveTo(FAR_AHEAD + MINUTE + bump * SECOND)
      await object.set({ expression: MINUTELY, version: 1 + bump, jitterMs: 30_000 })
      expect(await object.get()).toMatchObject({ nextAt: FAR_AHEAD + MINUTE, version: 1 + bump })
    }
    expect(object.seen.runs).toEqual([])
    clock.moveTo(FAR_AHEAD + MINUTE + 30_000)
    await object.fireAlarm()
    clock.moveTo(FAR_AHEAD + 2 * MINUTE + 30_000)
    await object.fireAlarm()
    expect(object.seen.runs.map(({ scheduledTime, version }) => [scheduledTime, version])).toEqual([
      [FAR_AHEAD + MINUTE, 11],
      [FAR_AHEAD + 2 * MINUTE, 11],
    ])
  })

  it('a nominal time in its jitter delay is due at once when the new offset has passed', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1, jitterMs: 30_000 })
    clock.moveTo(FAR_AHEAD + MINUTE + 10_000)
    await object.set({ expression: MINUTELY, version: 2, jitterMs: 5_000 })
    await object.fireAlarm()
    expect(object.seen.runs).toMatchObject([
      { scheduledTime: FAR_AHEAD + MINUTE, dueAt: FAR_AHEAD + MINUTE + 5_000, version: 2 },
    ])
  })

  it('a nominal time in its jitter delay waits for a longer new offset', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1, jitterMs: 30_000 })
    clock.moveTo(FAR_AHEAD + MINUTE + 10_000)
    await object.set({ expression: MINUTELY, version: 2, jitterMs: 45_000 })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE + 45_000)
  })

  it.each([
    {
      how: 'when the expression changed',
      change: (o: Bundle) => o.set({ expression: `every ${MINUTE} from 0`, version: 2 }),
    },
    { how: 'on cancel', change: (o: Bundle) => o.cancel() },
  ])('a nominal time in its jitter delay is dropped $how', async ({ change }) => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1, jitterMs: 30_000 })
    clock.moveTo(FAR_AHEAD + MINUTE + 10_000)
    await change(object)
    clock.moveTo(FAR_AHEAD + MINUTE + 45_000)
    await object.pass()
    expect(object.seen.runs).toEqual([])
  })

  it('of several missed ticks the earliest is recorded as a run of the old version', async () => {
    const { object, clock } = await ticked(1)
    clock.moveBy(10 * MINUTE)
    await object.set({ expression: 'every 1000', version: 2 })
    await object.fireAlarm()
    expect(object.seen.runs.map(({ scheduledTime, version }) => [scheduledTime, version])).toEqual([
      [FAR_AHEAD + MINUTE, 1],
      [FAR_AHEAD + 2 * MINUTE, 1],
    ])
    expect(await object.get()).toMatchObject({ nextAt: clock.now() + SECOND })
  })

  it('a tick that is due is recorded without asking nextOccurrence about the old expression', async () => {
    const clock = freezeClock()
    const asked: string[] = []
    const object = setup({
      schedule: {
        nextOccurrence: (expression, after) => {
          asked.push(expression)
          return nextOccurrence(expression, after)
        },
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    asked.length = 0
    await object.set({ expression: 'every 7000', version: 2 })
    await object.cancel()
    expect(new Set(asked)).toEqual(new Set(['every 7000']))
  })

  it('B047 cancelled and set again within one slot goes on with the next slot', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: 'every 180000', version: 1 })
    clock.moveTo(FAR_AHEAD + 180_000)
    await object.fireAlarm()
    clock.moveBy(5_000)
    await object.cancel()
    await object.set({ expression: 'every 180000', version: 1 })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 360_000)
    await object.cancel()
    await object.set({ expression: `at ${FAR_AHEAD + 180_000},${FAR_AHEAD + 360_000}`, version: 1 })
    clock.moveTo(FAR_AHEAD + 360_000)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + 180_000, FAR_AHEAD + 360_000])
  })

  it('a hundred random changes, clock steps and passes only ever raise the nominal times', async () => {
    const clock = freezeClock()
    const object = setup({ scheduler: { alarmMinDelayMs: 1_000, alarmHandoffMs: 50 } })
    const random = seeded(20_261_118)
    for (let version = 1; version <= 100; version += 1) {
      clock.moveBy(Math.floor((random() - 0.4) * 90_000))
      const expression = random() < 0.5 ? MINUTELY : `every ${7_000 + version}`
      const jitterMs = random() < 0.5 ? 0 : Math.floor(random() * 80_000)
      if (random() < 0.6) await object.set({ expression, version, jitterMs })
      if (random() < 0.15) await object.cancel(random() < 0.5 ? undefined : version)
      if (random() < 0.3) await crash()
      clock.moveBy(Math.floor(random() * 100_000))
      if (random() < 0.6) await object.fireAlarm()
    }
    await object.fireAlarm()
    const times = object.seen.runTimes
    expect(times.length).toBeGreaterThan(20)
    expect(times).toEqual([...new Set(times)].sort((one, other) => one - other))
    expect(object.seen.runs.every(({ startedAt, dueAt }) => startedAt >= dueAt)).toBe(true)
    expect(object.seen.deliveries.map(({ run }) => run.scheduledTime)).toEqual(times)
  })
})

describe('missed ticks', () => {
  it.each([
    { what: '43,200 missed minutes', everyMs: MINUTE, missed: 43_200 },
    { what: '2.6 million missed seconds', everyMs: SECOND, missed: 2_592_000 },
  ])('B049 $what collapse into one run within 50 ms', async ({ everyMs, missed }) => {
    const clock = freezeClock()
    const tookMs: number[] = []
    // What a busy machine adds is not the same each time: the shortest of three is what the work takes.
    for (let time = 0; time < 3; time += 1) {
      clock.moveTo(FAR_AHEAD)
      let calls = 0
      const object = setup({
        schedule: {
          nextOccurrence: (expression, after) => {
            calls += 1
            return nextOccurrence(expression, after)
          },
        },
      })
      await object.set({ expression: `every ${everyMs}`, version: 1 })
      clock.moveBy(missed * everyMs + 500)
      calls = 0
      const startedAt = performance.now()
      await object.fireAlarm()
      tookMs.push(performance.now() - startedAt)
      expect(calls).toBeLessThanOrEqual(101)
      expect(object.seen.runTimes).toEqual([FAR_AHEAD + everyMs])
      expect(await object.get()).toMatchObject({ nextAt: FAR_AHEAD + (missed + 1) * everyMs })
      expect(await object.alarmAt()).toBe(FAR_AHEAD + (missed + 1) * everyMs)
    }
    expect(Math.min(...tookMs)).toBeLessThan(50)
  })

  it('up to a hundred keep the phase of an expression that counts from the last tick', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: 'plus 1000', version: 1 })
    clock.moveBy(99_300)
    await object.fireAlarm()
    expect(await object.get()).toMatchObject({ nextAt: FAR_AHEAD + 100_000 })
  })

  it('more than a hundred go on from now, on the jitter', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: 'plus 1000', version: 1, jitterMs: 300 })
    clock.moveBy(500_555)
    await object.fireAlarm()
    expect(await object.get()).toMatchObject({ nextAt: FAR_AHEAD + 500_255 + 1_000 })
  })

  it('in the middle of which the schedule ends leave one run and the end', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: `at ${[1, 2, 3].map((s) => FAR_AHEAD + s * SECOND)}`, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + SECOND])
    expect(await object.status()).toMatchObject({ state: 'ended' })
    expect(await object.alarmAt()).toBeNull()
  })

  it('exactly at a tick’s time: that tick is due too, and is collapsed', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(3 * MINUTE)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(await object.get()).toMatchObject({ nextAt: FAR_AHEAD + 4 * MINUTE })
  })
})

describe('the times of runs', () => {
  it('B057 do not drift, however late each pass and however long each run is', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: `plus ${MINUTE}`, version: 1 })
    for (let tick = 1; tick <= 100; tick += 1) {
      clock.moveTo(FAR_AHEAD + tick * MINUTE + ((tick * 7_919) % 5_000))
      await object.fireAlarm()
    }
    expect(object.seen.runTimes).toEqual(Array.from({ length: 100 }, (_, i) => FAR_AHEAD + (i + 1) * MINUTE))
  })

  it('B059 do not restart with the object when it sets the same definition each time', async () => {
    const clock = freezeClock()
    const object = setup()
    for (let hour = 0; hour <= 24; hour += 2) {
      clock.moveTo(FAR_AHEAD + hour * HOUR)
      if (hour % 4 === 0) {
        await crash()
        await object.set({ expression: `plus ${6 * HOUR}`, version: 1 })
      }
      await object.fireIfDue()
    }
    expect(object.seen.runTimes).toEqual([6, 12, 18, 24].map((hour) => FAR_AHEAD + hour * HOUR))
  })

  it('B045 with an offset larger than the interval are each late by it, in order, and none is lost', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: `every ${2 * MINUTE}`, version: 1, jitterMs: 150_000 })
    for (let second = 0; second <= 15 * 60; second += 30) {
      clock.moveTo(FAR_AHEAD + second * SECOND)
      await object.fireIfDue()
    }
    const ticks = [2, 4, 6, 8, 10, 12].map((minute) => FAR_AHEAD + minute * MINUTE)
    expect(object.seen.runTimes).toEqual(ticks)
    expect(object.seen.runs.map(({ startedAt }) => startedAt)).toEqual(ticks.map((tick) => tick + 150_000))
  })

  it('B055 a month away take one alarm each', async () => {
    const clock = freezeClock()
    const object = setup()
    const months = [31, 59, 90, 120].map((day) => FAR_AHEAD + day * 24 * HOUR)
    const cost = await object.costOf(async () => {
      await object.set({ expression: `at ${months}`, version: 1 })
      for (const month of months.slice(0, 3)) {
        clock.moveTo(month)
        await object.fireAlarm()
      }
    })
    expect(object.seen.runTimes).toEqual(months.slice(0, 3))
    expect(cost.alarms).toBe(1 + 3)
    expect(await object.alarmAt()).toBe(months[3])
  })

  it('carry the key <objectId>:<scheduledTime>', async () => {
    const { object } = await ticked(1)
    const id = await object.inside(({ ctx }) => ctx.id.toString())
    expect(object.seen.runs).toMatchObject([{ idempotencyKey: `${id}:${FAR_AHEAD + MINUTE}` }])
    expect(object.seen.deliveries[0]?.run.idempotencyKey).toBe(`${id}:${FAR_AHEAD + MINUTE}`)
  })

  it('are by an in-memory timer as exact as by an alarm', async () => {
    const lag = probeLag()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise, maxConcurrentRuns: 50 } })
    await object.set({ expression: 'every 50', version: 1 })
    await until('twenty runs', () => object.seen.runs.length >= 20, 5_000)
    gate.resolve()
    const late = object.seen.runs.map(({ startedAt, dueAt }) => startedAt - dueAt)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...late)).toBeLessThan(50 + lag.stop())
    expect(object.seen.passes.length).toBeLessThan(10)
  })

  it('wait for the wall clock when a timer fires before it is there', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise } })
    await object.set({ expression: 'every 20', version: 1 })
    clock.moveBy(20)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    await realTime(150)
    expect(object.seen.runs).toHaveLength(1)
    clock.moveBy(20)
    await until('the next runs', () => object.seen.runs.length === 2, 1_000)
    gate.resolve()
  })
})

describe('a drawn jitter', () => {
  it('is from 0 to maxMs, stays over resends and crashes, and is drawn again by a new version only', async () => {
    freezeClock()
    const object = setup()
    const drawn = new Set<number>()
    for (let version = 1; version <= 40; version += 1) {
      const definition = { expression: MINUTELY, version, jitterMs: { maxMs: 3 } }
      await object.set(definition)
      const jitterMs = (await object.get())?.jitterMs ?? -1
      drawn.add(jitterMs)
      await object.set(definition)
      expect((await object.get())?.jitterMs).toBe(jitterMs)
    }
    expect([...drawn].sort()).toEqual([0, 1, 2, 3])
    const before = await object.get()
    await crash()
    expect(await object.get()).toEqual(before)
  })
})

/** A minutely schedule that has run that often, each time on time. */
async function ticked(count: number) {
  const clock = freezeClock()
  const object = setup()
  await object.set({ expression: MINUTELY, version: 1 })
  for (let tick = 0; tick < count; tick += 1) {
    clock.moveBy(MINUTE)
    await object.fireAlarm()
  }
  return { object, clock }
}
