import { describe, expect, it } from 'vitest'
import { ScheduledRunTimeoutError } from '../../src/experimental/index.ts'
import { crash, setup } from './support/setup.ts'
import { FAR_AHEAD, freezeClock, probeLag, realTime, until } from './support/time.ts'

const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`
const never = new Promise<never>(() => {})

describe('a handler of two seconds at a cadence of one', () => {
  it('starts every run within 50 ms of its due time at limit 10, and in tick order, none lost, at limit 1', async () => {
    const lag = probeLag()
    const run = () => realTime(2_000)
    const wide = setup({ schedule: { run } })
    const narrow = setup({ schedule: { run, maxConcurrentRuns: 1 } })
    await Promise.all([wide, narrow].map((object) => object.set({ expression: 'every 1000', version: 1 })))
    await until('four ticks', () => wide.seen.runs.length >= 4, 12_000)
    await Promise.all([wide, narrow].map((object) => object.cancel()))
    const late = wide.seen.runs.map(({ startedAt, dueAt }) => startedAt - dueAt)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...late)).toBeLessThan(50 + lag.stop())
    const recorded = narrow.seen.events.filter(({ type }) => type === 'due')
    expect(recorded.length).toBeGreaterThanOrEqual(4)
    expectEvery(
      recorded.map(({ scheduledTime }) => scheduledTime),
      1_000,
    )
    await until('all are run', () => narrow.seen.deliveries.length === recorded.length, 15_000)
    expect(narrow.seen.runTimes).toEqual(recorded.map(({ scheduledTime }) => scheduledTime))
    const starts = narrow.seen.runs.map(({ startedAt }) => startedAt)
    expect(starts.every((at, index) => index === 0 || at - (starts[index - 1] ?? 0) >= 1_990)).toBe(true)
  })
})

describe('the limit of runs', () => {
  it('is never exceeded, and starts are in tick order, over 60 runs of mixed length', async () => {
    let inFlight = 0
    let most = 0
    const object = setup({
      schedule: {
        maxConcurrentRuns: 3,
        run: async ({ scheduledTime }) => {
          inFlight += 1
          most = Math.max(most, inFlight)
          await realTime((scheduledTime / 20) % 7 === 0 ? 150 : 30)
          inFlight -= 1
        },
      },
    })
    await object.set({ expression: 'every 20', version: 1 })
    await until('60 runs', () => object.seen.deliveries.length >= 60, 10_000)
    expect(most).toBe(3)
    expect(object.seen.runTimes).toEqual([...object.seen.runTimes].sort((one, other) => one - other))
    const due = object.seen.events.filter(({ type }) => type === 'due').map((event) => event.scheduledTime)
    expect(object.seen.runTimes).toEqual(due.slice(0, object.seen.runs.length))
  })

  it('holds for runs of replaced and cancelled versions too, which still run in tick order', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise, maxConcurrentRuns: 1 } })
    for (let version = 1; version <= 4; version += 1) {
      await object.set({ expression: `every ${MINUTE + version}`, version })
      clock.moveBy(2 * MINUTE)
      object.startAlarm()
      await until('it is recorded', async () => (await object.rows()).length === version)
    }
    await object.cancel()
    gate.resolve()
    await until('all are delivered', () => object.seen.deliveries.length === 4)
    expect(object.seen.runs.map(({ version }) => version)).toEqual([1, 2, 3, 4])
    expect(object.seen.runTimes).toEqual([...object.seen.runTimes].sort((one, other) => one - other))
    await until('no alarm is left', async () => (await object.alarmAt()) === null)
  })

  it('frees the slot of a handler that throws at once', async () => {
    const clock = freezeClock()
    const object = setup({
      schedule: {
        maxConcurrentRuns: 1,
        run: () => {
          throw new Error('It failed')
        },
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 0; tick < 5; tick += 1) {
      clock.moveBy(MINUTE)
      await object.fireAlarm()
    }
    expect(object.seen.deliveries).toHaveLength(5)
    expect(await object.status()).toMatchObject({ running: 0, waiting: 0, stuck: 0 })
  })

  it('of deliveries is never exceeded', async () => {
    let inFlight = 0
    let most = 0
    const object = setup({
      schedule: {
        maxConcurrentDeliveries: 2,
        maxConcurrentRuns: 10,
        onOutcome: async () => {
          inFlight += 1
          most = Math.max(most, inFlight)
          await realTime(80)
          inFlight -= 1
        },
      },
    })
    await object.set({ expression: 'every 20', version: 1 })
    await until('fifteen deliveries', () => object.seen.deliveries.length >= 15, 5_000)
    expect(most).toBe(2)
  })
})

describe('a handler that does not settle in time', () => {
  it('has its signal aborted with a ScheduledRunTimeoutError, and the run is errored with it', async () => {
    const { object } = await timedOut()
    expect(object.seen.deliveries).toMatchObject([
      { outcome: { status: 'errored', error: { name: 'ScheduledRunTimeoutError' } } },
    ])
    // A signal belongs to its object: it can be read only in there.
    const reason: unknown = await object.inside(() => object.seen.runs[0]?.signal.reason)
    expect(reason).toBeInstanceOf(ScheduledRunTimeoutError)
  })

  it('does not by itself hold the pass', async () => {
    const { object } = await timedOut()
    await until('the pass is over', () => object.seen.passes[0]?.state === 'returned')
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
    expect(await object.rows()).toEqual([])
  })

  it('keeps its slot: the next run waits until it settles, and is shown as stuck', async () => {
    const { object, clock, gate } = await timedOut()
    await until('it is stuck', () => object.seen.events.some(({ type }) => type === 'stuck'))
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(await object.status()).toMatchObject({ running: 0, waiting: 1, stuck: 1, undelivered: 0 })
    expect(object.seen.runs).toHaveLength(1)
    gate.resolve()
    await until('the next runs', () => object.seen.runs.length === 2)
    expect(await object.status()).toMatchObject({ waiting: 0, stuck: 0 })
  })

  it('leaves what waits behind it under an alarm within alarmMinDelayMs', async () => {
    const { object, clock } = await timedOut()
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(await object.status()).toMatchObject({ waiting: 1 })
    expect(await object.alarmAt()).toBe(clock.now() + 15_000)
  })

  it('frees its slot with its instance, and is reported once, by its timeout', async () => {
    const { object, clock } = await timedOut()
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    await crash()
    expect(await object.status()).toMatchObject({ waiting: 1, stuck: 0 })
    object.startAlarm()
    await until('the next runs', () => object.seen.runs.length === 2)
    expect(object.seen.deliveries.filter(({ run }) => run.scheduledTime === FAR_AHEAD + MINUTE)).toHaveLength(
      1,
    )
  })

  it.each([
    { how: 'succeeds', settle: (gate: PromiseWithResolvers<void>) => gate.resolve() },
    { how: 'fails', settle: (gate: PromiseWithResolvers<void>) => gate.reject(new Error('Too late')) },
  ])('and later $how changes nothing', async ({ settle }) => {
    const { object, gate, clock } = await timedOut()
    settle(gate)
    await until('its slot is free', async () => (await object.status()).stuck === 0)
    await object.pass()
    expect(object.seen.deliveries).toHaveLength(1)
    expect(object.seen.events.filter(({ type }) => type === 'settled')).toHaveLength(1)
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('the next runs', () => object.seen.runs.length === 2)
  })

  it('but heeds its signal is not stuck', async () => {
    const clock = freezeClock()
    const object = setup({
      schedule: {
        runTimeoutMs: 30,
        run: ({ signal }) =>
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.deliveries).toMatchObject([
      { outcome: { error: { name: 'ScheduledRunTimeoutError' } } },
    ])
    expect(object.seen.events.map(({ type }) => type)).toEqual(['due', 'started', 'settled'])
    expect(await object.status()).toMatchObject({ stuck: 0 })
  })

  it('is not aborted when it settles first (B055)', async () => {
    const clock = freezeClock()
    const object = setup({ schedule: { runTimeoutMs: 2 ** 31 - 1, run: () => realTime(50) } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.deliveries).toMatchObject([{ outcome: { status: 'complete' } }])
    expect(await object.inside(() => object.seen.runs[0]?.signal.aborted)).toBe(false)
  })

  it('with all slots stuck, ten of them, still lets every tick be recorded', async () => {
    const clock = freezeClock()
    const object = setup({ schedule: { runTimeoutMs: 10, run: () => never, maxConcurrentRuns: 10 } })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 1; tick <= 15; tick += 1) {
      clock.moveTo(FAR_AHEAD + tick * MINUTE)
      await object.fireAlarm()
    }
    expect(await object.status()).toMatchObject({ stuck: 10, waiting: 5, running: 0 })
    const due = object.seen.events.filter(({ type }) => type === 'due')
    expect(due).toHaveLength(15)
    expect(due.map((event) => event.type === 'due' && event.queued)).toEqual([
      ...Array(10).fill(false),
      ...Array(5).fill(true),
    ])
  })
})

/** A minutely schedule, limit 1, whose first run has just timed out and hangs on. */
async function timedOut() {
  const clock = freezeClock()
  const gate = Promise.withResolvers<void>()
  const object = setup({ schedule: { run: () => gate.promise, maxConcurrentRuns: 1, runTimeoutMs: 30 } })
  await object.set({ expression: MINUTELY, version: 1 })
  clock.moveBy(MINUTE)
  object.startAlarm()
  await until('it timed out', () => object.seen.deliveries.length === 1)
  return { object, clock, gate }
}

function expectEvery(times: readonly number[], everyMs: number): void {
  expect(times).toEqual(times.map((_, index) => (times[0] ?? 0) + index * everyMs))
}
