import { describe, expect, it, vi } from 'vitest'
import { killer } from './support/killing.ts'
import { type Bundle, crash, setup } from './support/setup.ts'
import { FAR_AHEAD, freezeClock, until } from './support/time.ts'

const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`
const never = new Promise<never>(() => {})

describe('a run that is cut off', () => {
  it('is reported once as interrupted and its handler is not called again', async () => {
    const { object, clock } = await runningWhenCrashed()
    await object.fireAlarm()
    clock.moveBy(10 * MINUTE)
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(object.seen.deliveries.map(({ run, outcome }) => ({ run, outcome }))).toEqual([
      {
        run: expect.objectContaining({ scheduledTime: FAR_AHEAD + MINUTE, version: 1, attempt: 1 }),
        outcome: {
          status: 'errored',
          error: { name: 'ScheduledRunInterruptedError', message: expect.any(String) },
        },
      },
    ])
    expect(await object.rows()).toEqual([])
  })

  it('is reported by the platform’s own alarm within alarmMinDelayMs when no tick is left', async () => {
    const object = setup({ scheduler: { alarmMinDelayMs: 1_000 }, schedule: { run: () => never } })
    await object.setOnce(50)
    await until('it runs', () => object.seen.runs.length === 1)
    await crash()
    await until('it is reported', () => object.seen.deliveries.length === 1, 5_000)
    expect(object.seen.deliveries[0]?.outcome).toMatchObject({
      error: { name: 'ScheduledRunInterruptedError' },
    })
    expect(object.seen.runs).toHaveLength(1)
  })

  it('is reported by the next tick, which itself runs', async () => {
    let hangs = true
    const object = setup({
      schedule: { run: () => (hangs ? never : undefined), maxConcurrentRuns: 1 },
    })
    await object.set({ expression: 'every 500', version: 1 })
    await until('it runs', () => object.seen.runs.length === 1)
    const [cutOff] = object.seen.runTimes
    hangs = false
    await crash()
    await until('two outcomes', () => object.seen.deliveries.length >= 2, 8_000)
    expect(
      object.seen.deliveries.slice(0, 2).map(({ run, outcome }) => [run.scheduledTime, outcome.status]),
    ).toEqual([
      [cutOff, 'errored'],
      [object.seen.runTimes[1], 'complete'],
    ])
  })

  it('is found within interruptedWithinMs, and the alarm is back on the next tick once a run is over', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise, interruptedWithinMs: 5_000 } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE + 5_000)
    gate.resolve()
    await until('it is over', async () => (await object.rows()).length === 0)
    await until('the alarm is back', async () => (await object.alarmAt()) === FAR_AHEAD + 2 * MINUTE)
  })

  it('keeps the alarm on the next tick while it is in flight', async () => {
    const { object } = await runningWhenCrashed()
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
  })

  it('does not take away the slot of the next tick (B053)', async () => {
    const { object, clock } = await runningWhenCrashed()
    clock.moveTo(FAR_AHEAD + 2 * MINUTE)
    object.startAlarm()
    await until('the next tick runs', () => object.seen.runs.length === 2)
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE, FAR_AHEAD + 2 * MINUTE])
    await until('the first is reported', () => object.seen.deliveries.length === 1)
    expect(await object.status()).toMatchObject({ running: 1, waiting: 0 })
  })

  it('B061 six deploys in a row interrupt six runs, once each, and the next tick is normal', async () => {
    const clock = freezeClock()
    let hangs = true
    const object = setup({ schedule: { run: () => (hangs ? never : undefined) } })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let deploy = 1; deploy <= 6; deploy += 1) {
      clock.moveTo(FAR_AHEAD + deploy * MINUTE)
      object.startAlarm()
      await until('it runs', () => object.seen.runs.length === deploy)
      await crash()
      await object.set({ expression: MINUTELY, version: 1 })
    }
    hangs = false
    clock.moveTo(FAR_AHEAD + 7 * MINUTE)
    await object.fireAlarm()
    const ticks = [1, 2, 3, 4, 5, 6, 7].map((tick) => FAR_AHEAD + tick * MINUTE)
    expect(object.seen.runTimes).toEqual(ticks)
    expect(outcomesByTime(object)).toEqual(
      ticks.map((tick, index) => [tick, index < 6 ? 'ScheduledRunInterruptedError' : 'complete']),
    )
  })

  it('is invoked once when it kills its object in its first synchronous slice', async () => {
    const clock = freezeClock()
    const { context, kill } = killer()
    const object = setup({ context, schedule: { run: kill } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it was called', () => object.seen.runs.length === 1)
    await object.pass()
    await object.pass()
    expect(object.seen.runs).toHaveLength(1)
    expect(outcomesByTime(object)).toEqual([[FAR_AHEAD + MINUTE, 'ScheduledRunInterruptedError']])
  })

  it('is invoked once by the platform’s own alarms when each run kills its object at once', async () => {
    const { context, kill } = killer()
    const object = setup({ context, schedule: { run: kill } })
    await object.set({ expression: 'every 300', version: 1 })
    await until('three runs were cut off', () => object.seen.deliveries.length >= 3, 20_000)
    const times = object.seen.runTimes
    expect(new Set(times).size).toBe(times.length)
    expect(new Set(object.seen.deliveries.map(({ outcome }) => JSON.stringify(outcome))).size).toBe(1)
  })

  it('ends as interrupted also when the object dies between its record and its first call', async () => {
    const clock = freezeClock()
    const { context, kill } = killer()
    const object = setup({
      context,
      schedule: { onLifecycleEvent: ({ type }) => type === 'started' && kill() },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('the object was killed', () => object.seen.events.some(({ type }) => type === 'started'))
    await object.pass()
    await object.pass()
    expect(object.seen.runs).toEqual([])
    expect(outcomesByTime(object)).toEqual([[FAR_AHEAD + MINUTE, 'ScheduledRunInterruptedError']])
  })

  it('starts over, as if never recorded, when the object dies in the turn that records it', async () => {
    const clock = freezeClock()
    const { context, kill } = killer()
    let kills = 1
    const object = setup({
      context,
      schedule: {
        onLifecycleEvent: ({ type }) => {
          if (type === 'due' && kills-- > 0) kill()
        },
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('the object was killed', () => kills === 0)
    expect(await object.rows()).toEqual([])
    expect(await object.get()).toMatchObject({ nextAt: FAR_AHEAD + MINUTE })
    await object.pass()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(outcomesByTime(object)).toEqual([[FAR_AHEAD + MINUTE, 'complete']])
  })
})

describe('a crash around a run', () => {
  it('in the jitter delay neither loses nor repeats the tick', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1, jitterMs: 30_000 })
    clock.moveTo(FAR_AHEAD + MINUTE + 10_000)
    await crash()
    await object.fireAlarm()
    expect(object.seen.runs).toEqual([])
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE + 30_000)
    await crash()
    clock.moveTo(FAR_AHEAD + MINUTE + 30_000)
    await object.fireAlarm()
    await crash()
    await object.pass()
    expect(object.seen.runs).toMatchObject([
      { scheduledTime: FAR_AHEAD + MINUTE, dueAt: FAR_AHEAD + MINUTE + 30_000 },
    ])
  })

  it('leaves waiting runs to the next instance, in tick order, each called once', async () => {
    const clock = freezeClock()
    let hangs = true
    const object = setup({ schedule: { run: () => (hangs ? never : undefined), maxConcurrentRuns: 1 } })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 1; tick <= 4; tick += 1) {
      clock.moveBy(MINUTE)
      object.startAlarm()
      await until('it is recorded', async () => (await object.rows()).length === tick)
    }
    await crash()
    hangs = false
    await object.fireAlarm()
    const ticks = [1, 2, 3, 4].map((tick) => FAR_AHEAD + tick * MINUTE)
    expect(object.seen.runTimes).toEqual(ticks)
    expect(outcomesByTime(object)).toEqual([
      [ticks[0], 'ScheduledRunInterruptedError'],
      [ticks[1], 'complete'],
      [ticks[2], 'complete'],
      [ticks[3], 'complete'],
    ])
  })

  it('after a cancel leaves the runs that wait to be run, and nothing armed afterwards', async () => {
    const clock = freezeClock()
    let hangs = true
    const object = setup({ schedule: { run: () => (hangs ? never : undefined), maxConcurrentRuns: 1 } })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 1; tick <= 3; tick += 1) {
      clock.moveBy(MINUTE)
      object.startAlarm()
      await until('it is recorded', async () => (await object.rows()).length === tick)
    }
    await object.cancel(1)
    hangs = false
    await crash()
    const alarmAt = (await object.alarmAt()) ?? Number.POSITIVE_INFINITY
    expect(alarmAt).toBeLessThanOrEqual(clock.now() + 15_000)
    clock.moveTo(alarmAt)
    await object.fireAlarm()
    expect(outcomesByTime(object).map(([, outcome]) => outcome)).toEqual([
      'ScheduledRunInterruptedError',
      'complete',
      'complete',
    ])
    await until('nothing is armed', async () => (await object.alarmAt()) === null)
  })

  it('of ten in flight and one waiting reports the ten, and runs the one', async () => {
    const clock = freezeClock()
    let hangs = true
    const object = setup({ schedule: { run: () => (hangs ? never : undefined) } })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 1; tick <= 11; tick += 1) {
      clock.moveBy(MINUTE)
      object.startAlarm()
      await until('it is recorded', async () => (await object.rows()).length === tick)
    }
    expect(await object.status()).toMatchObject({ running: 10, waiting: 1 })
    await crash()
    expect(await object.status()).toMatchObject({ running: 10, waiting: 1 })
    hangs = false
    await object.fireAlarm()
    expect(outcomesByTime(object).map(([, outcome]) => outcome)).toEqual([
      ...Array(10).fill('ScheduledRunInterruptedError'),
      'complete',
    ])
    expect(object.seen.runs).toHaveLength(11)
  })

  it('in the turn of a set takes row and alarm together', async () => {
    freezeClock()
    const { context, kill } = killer()
    const object = setup({ context })
    await object.set({ expression: MINUTELY, version: 1 })
    const killed = object.inside(({ schedule }) => {
      schedule.set({ expression: 'every 1000', version: 2 })
      kill()
    })
    await expect(killed).rejects.toThrow()
    expect(await object.get()).toMatchObject({ expression: MINUTELY, version: 1 })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })

  it('after a set has resolved keeps row and alarm', async () => {
    freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    await crash()
    expect(await object.get()).toMatchObject({ expression: MINUTELY, version: 1, nextAt: FAR_AHEAD + MINUTE })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })
})

describe('a delivery that is cut off', () => {
  it('is made again with the same outcome', async () => {
    const clock = freezeClock()
    let hangs = true
    const object = setup({
      schedule: {
        run: () => {
          throw new RangeError('The handler’s own error')
        },
        onOutcome: () => (hangs ? never : undefined),
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it is delivered', () => object.seen.deliveries.length === 1)
    hangs = false
    await crash()
    await object.fireAlarm()
    const [first, second] = object.seen.deliveries
    expect(second?.outcome).toEqual(first?.outcome)
    expect(second?.run.idempotencyKey).toBe(first?.run.idempotencyKey)
    expect(object.seen.deliveries).toHaveLength(2)
    expect(object.seen.runs).toHaveLength(1)
    await crash()
    await object.pass()
    expect(object.seen.deliveries).toHaveLength(2)
  })

  it('just after the receiver answered is made again, and an idempotent receiver sees one outcome', async () => {
    const clock = freezeClock()
    const { context, kill } = killer()
    const received = new Map<string, string>()
    let kills = 1
    const object = setup({
      context,
      schedule: {
        onOutcome: ({ idempotencyKey }, outcome) => {
          received.set(idempotencyKey, JSON.stringify(outcome))
          if (kills-- > 0) kill()
        },
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it was received', () => received.size === 1)
    await object.pass()
    expect(object.seen.deliveries).toHaveLength(2)
    expect([...received.values()]).toEqual([JSON.stringify({ status: 'complete' })])
    expect(await object.rows()).toEqual([])
  })

  it('and crashes the object each time ends as a dead letter after maxAttempts counted attempts', async () => {
    const clock = freezeClock()
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { context, kill } = killer()
    const object = setup({
      context,
      schedule: { onOutcome: kill, outcomeRetries: { maxAttempts: 3, delay: () => 0 } },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    // The first is the ordinary path's, which is not marked: it may have been any crash.
    for (let delivery = 1; delivery <= 4; delivery += 1) {
      await until(`delivery ${delivery}`, () => object.seen.deliveries.length === delivery)
      await object.pass().catch(() => {})
    }
    await object.pass()
    expect(object.seen.deliveries.map(({ run }) => run.attempt)).toEqual([1, 1, 2, 3])
    expect(await object.rows()).toEqual([])
    expect(object.seen.events.filter(({ type }) => type === 'dead_lettered')).toHaveLength(1)
    expect(
      errors.mock.calls.flat().filter((line) => `${line}`.includes('outcome_dead_lettered')),
    ).toHaveLength(1)
  })

  it('B039 crash-looping on the platform’s own alarms comes to an end, and the ticks go on', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { context, kill } = killer()
    let poison: number | undefined
    const object = setup({
      context,
      scheduler: { alarmMinDelayMs: 1_000 },
      schedule: {
        onOutcome: ({ scheduledTime }) => {
          poison ??= scheduledTime
          if (scheduledTime === poison) kill()
        },
        outcomeRetries: { maxAttempts: 2, delay: () => 0 },
      },
    })
    await object.set({ expression: 'every 200', version: 1 })
    await until(
      'it is given up',
      () => object.seen.events.some(({ type }) => type === 'dead_lettered'),
      25_000,
    )
    const { length } = object.seen.deliveries
    await until('others are delivered', () => object.seen.deliveries.length > length + 3, 10_000)
    expect(object.seen.deliveries.filter(({ run }) => run.scheduledTime === poison)).toHaveLength(3)
  })

  it('ten deploys while it waits for its retry use up no attempt', async () => {
    const clock = freezeClock()
    let isDown = true
    const object = setup({
      schedule: {
        onOutcome: () => {
          if (isDown) throw new Error('The receiver is down')
        },
        outcomeRetries: { maxAttempts: 3, delay: () => 20_000 },
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    for (let deploy = 0; deploy < 10; deploy += 1) {
      await crash()
      await object.pass()
    }
    expect(await object.rows()).toMatchObject([{ attempts: 1, delivering: 0 }])
    isDown = false
    clock.moveBy(20_000)
    await object.fireAlarm()
    expect(object.seen.deliveries.map(({ run }) => run.attempt)).toEqual([1, 2])
  })

  it('ten deploys cut off ten deliveries of ten outcomes without using up ten attempts of any', async () => {
    const clock = freezeClock()
    let hangs = true
    const object = setup({
      schedule: { onOutcome: () => (hangs ? never : undefined), outcomeRetries: { delay: () => 0 } },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 1; tick <= 10; tick += 1) {
      clock.moveBy(MINUTE)
      object.startAlarm()
      await until('it is delivered', () => object.seen.deliveries.length === tick)
    }
    for (let deploy = 1; deploy <= 9; deploy += 1) {
      const { length } = object.seen.deliveries
      await crash()
      object.startAlarm()
      await until('one is delivered', () => object.seen.deliveries.length > length)
      expect(object.seen.deliveries).toHaveLength(length + 1)
    }
    const attempts = (await object.rows()).map((row) => row.attempts)
    expect(attempts).toHaveLength(10)
    expect(attempts.reduce((sum, of) => sum + of)).toBeLessThan(9)
    hangs = false
    await crash()
    await object.pass()
    expect(await object.rows()).toEqual([])
    expect(object.seen.events.filter(({ type }) => type === 'dead_lettered')).toEqual([])
  })
})

/** A minutely schedule whose first run was in flight when the object crashed. */
async function runningWhenCrashed() {
  const clock = freezeClock()
  const object = setup({ schedule: { run: () => never, maxConcurrentRuns: 1 } })
  await object.set({ expression: MINUTELY, version: 1 })
  clock.moveBy(MINUTE)
  object.startAlarm()
  await until('it runs', () => object.seen.runs.length === 1)
  await crash()
  return { object, clock }
}

/** Each outcome's nominal time, and its error's name or 'complete', in the order of their ticks. */
function outcomesByTime(object: Bundle): [number, string][] {
  return object.seen.deliveries
    .map(({ run, outcome }): [number, string] => [
      run.scheduledTime,
      outcome.status === 'errored' ? outcome.error.name : outcome.status,
    ])
    .sort(([one], [other]) => one - other)
}
