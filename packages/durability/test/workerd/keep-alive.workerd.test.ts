import { describe, expect, it, vi } from 'vitest'
import type { Clock } from '../../src/index.ts'
import { withStorage } from './support/forwarding.ts'
import { crash, type SetupOptions, setup } from './support/setup.ts'
import { FAR_AHEAD, freezeClock, realTime, until } from './support/time.ts'

const SECOND = 1_000
const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`
const never = new Promise<never>(() => {})

describe('a timer in memory', () => {
  it.each([
    { what: 'an ordinary run', schedule: {}, handoffMs: 60_000 },
    {
      what: 'a run that timed out and hangs on',
      schedule: { run: () => never, runTimeoutMs: 20 },
      handoffMs: 60_000,
    },
    {
      what: 'a delivery that timed out and hangs on',
      schedule: { onOutcome: () => never, outcomeTimeoutMs: 20, outcomeRetries: { maxAttempts: 1 } },
      handoffMs: 60_000,
    },
    {
      what: 'a retry that is far away',
      schedule: {
        onOutcome: () => {
          throw new Error('Down')
        },
        outcomeRetries: { delay: () => MINUTE },
      },
      handoffMs: 60_000,
    },
    { what: 'a run that settles after its hand-off', schedule: { run: () => realTime(80) }, handoffMs: 10 },
  ])('does not outlive $what', async ({ schedule, handoffMs }) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { timers, clock: counted } = countingClock()
    const clock = freezeClock()
    const object = setup({ scheduler: { clock: counted, alarmHandoffMs: handoffMs }, schedule })
    await object.set({ expression: MINUTELY, version: 1 })
    expect(timers.size).toBe(0)
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    await until('the run is settled', () => object.seen.events.some(({ type }) => type === 'settled'))
    await until('no timer is left', () => timers.size === 0, 2_000)
  })

  it('does not outlive a cancel during the hold', async () => {
    const { timers, clock: counted } = countingClock()
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ scheduler: { clock: counted }, schedule: { run: () => gate.promise } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    await object.cancel()
    gate.resolve()
    await until('no timer is left', () => timers.size === 0, 2_000)
    expect(await object.alarmAt()).toBeNull()
  })
})

describe('a run', () => {
  it('keeps its object in memory, with no request, for longer than an idle one is kept', async () => {
    const object = setup({ schedule: { run: () => realTime(11_500) } })
    await object.setOnce(20)
    // Only what the test shares with the object is looked at: a call would keep it in memory too.
    await until('it is delivered', () => object.seen.deliveries.length === 1, 20_000)
    expect(object.seen.deliveries).toMatchObject([{ outcome: { status: 'complete' } }])
    expect(object.seen.instances).toBe(1)
  })
})

describe('an object that is evicted', () => {
  it('between ticks goes on with the next alarm, in a new instance, and nothing was interrupted', async () => {
    const object = setup()
    await object.set({ expression: 'every 400', version: 1 })
    for (let run = 1; run <= 3; run += 1) {
      await until('a run is delivered', () => object.seen.deliveries.length >= run)
      await until('the pass is over', () => object.seen.passes.every(({ state }) => state === 'returned'))
      await object.evict()
    }
    await until('it goes on', () => object.seen.deliveries.length >= 4)
    expect(object.seen.instances).toBeGreaterThanOrEqual(4)
    expect(object.seen.deliveries.every(({ outcome }) => outcome.status === 'complete')).toBe(true)
    const times = object.seen.runTimes
    expect(new Set(times).size).toBe(times.length)
  })
})

describe('work that starts outside a pass', () => {
  it('behind a slot that a stuck handler frees is joined by an alarm within alarmMinDelayMs', async () => {
    const clock = freezeClock()
    const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    const object = setup({
      schedule: {
        maxConcurrentRuns: 1,
        runTimeoutMs: 400,
        run: ({ scheduledTime }) => gates[scheduledTime === FAR_AHEAD + MINUTE ? 0 : 1]?.promise,
      },
    })
    await object.set({ expression: `at ${[1, 2, 600].map((m) => FAR_AHEAD + m * MINUTE)}`, version: 1 })
    for (let tick = 1; tick <= 2; tick += 1) {
      clock.moveTo(FAR_AHEAD + tick * MINUTE)
      await object.fireAlarm()
    }
    expect(await object.status()).toMatchObject({ stuck: 1, waiting: 1 })
    gates[0]?.resolve()
    await until('the one that waited runs', () => object.seen.runs.length === 2)
    expect(await object.alarmAt()).toBeLessThanOrEqual(clock.now() + 15 * SECOND)
    await crash()
    clock.moveBy(15 * SECOND)
    await object.fireAlarm()
    expect(object.seen.deliveries.at(-1)).toMatchObject({
      run: { scheduledTime: FAR_AHEAD + 2 * MINUTE },
      outcome: { error: { name: 'ScheduledRunInterruptedError' } },
    })
    expect(object.seen.runs).toHaveLength(2)
  })

  it('by a call is held by the platform’s own alarm at once', async () => {
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise } })
    await object.setOnce(3_600_000)
    await object.inside(async ({ ctx }) => {
      ctx.storage.sql.exec('UPDATE durability_schedule SET nextTime = ?', Date.now() - 5_000)
    })
    await object.set({ expression: '', version: 0 })
    await until('it runs', () => object.seen.runs.length === 1)
    await until('an alarm joins', () => object.seen.passes.some(({ state }) => state === 'open'), 2_000)
    gate.resolve()
    await until('it is delivered', () => object.seen.deliveries.length === 1)
    await until('the pass is over', () => object.seen.passes.every(({ state }) => state === 'returned'))
  })

  it.each([
    {
      what: 'a call',
      act: (object: ReturnType<typeof setup>) => object.set({ expression: 'every 1', version: 0 }),
    },
    { what: 'a crash', act: crash },
  ])('after a hand-off survives $what', async ({ act }) => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ scheduler: { alarmHandoffMs: 10 }, schedule: { run: () => gate.promise } })
    await object.set({ expression: `at ${FAR_AHEAD + MINUTE}`, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    await act(object)
    expect(await object.alarmAt()).toBeLessThanOrEqual(clock.now() + 15 * SECOND)
    gate.resolve()
    clock.moveBy(15 * SECOND)
    await object.fireIfDue()
    await until('it is delivered', () => object.seen.deliveries.length === 1)
    expect(object.seen.runs).toHaveLength(1)
  })
})

describe('a pass that came early a second time', () => {
  it('does not make a named alarm that is set meanwhile for a past time wait', async () => {
    const { object, calls } = await earlyPassOpen()
    await object.inside(({ alarms }) => alarms.set('renew', 1))
    await until('it runs at once', () => calls.length === 1, 1_500)
  })

  it('does not make a schedule that is set meanwhile late', async () => {
    const { object, clock } = await earlyPassOpen()
    await object.set({ expression: `at ${clock.now() + 100}`, version: 2 })
    clock.moveBy(100)
    await until('it runs on time', () => object.seen.runs.length === 1, 1_500)
  })

  it('is followed by the run at its time, once', async () => {
    const clock = freezeClock()
    const object = setup({ scheduler: { alarmMinDelayMs: 1_000 } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveTo(FAR_AHEAD + MINUTE - 40)
    await object.fireAlarm()
    object.startAlarm()
    await until('it is open', () => object.seen.passes.at(-1)?.state === 'open')
    clock.moveBy(40)
    await until('it runs', () => object.seen.deliveries.length === 1, 2_000)
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
  })
})

describe('a platform that fails', () => {
  it('to read the alarm stops neither passes nor calls', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object, clock } = onStorage(() => ({
      getAlarm: () => Promise.reject(new Error('The alarm cannot be read')),
    }))
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 1; tick <= 3; tick += 1) {
      clock.moveBy(MINUTE)
      await object.fireAlarm()
    }
    expect(object.seen.deliveries).toHaveLength(3)
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 4 * MINUTE)
  })

  it('to make a record durable calls no handler, frees its slot, and reports the run', async () => {
    let fails = false
    const { object, clock } = onStorage((storage) => ({
      sync: () => (fails ? Promise.reject(new Error('Not durable')) : storage.sync()),
    }))
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    fails = true
    await object.pass().catch(() => {})
    expect(object.seen.runs).toEqual([])
    fails = false
    for (let tick = 0; tick < 2; tick += 1) {
      clock.moveBy(MINUTE)
      await object.pass()
    }
    expect(object.seen.deliveries.map(({ outcome }) => outcome.status)).toEqual([
      'errored',
      'complete',
      'complete',
    ])
    expect(await object.status()).toMatchObject({ running: 0, waiting: 0, undelivered: 0 })
  })

  it('to store a tick leaves cursor and alarm for a later pass, which runs it once', async () => {
    let fails = false
    const { object, clock } = onStorage((storage) => ({
      transactionSync: (write) => {
        if (fails) throw new Error('database or disk is full: SQLITE_FULL')
        return storage.transactionSync(write)
      },
    }))
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    fails = true
    await object.pass()
    expect(object.seen.runs).toEqual([])
    expect(await object.alarmAt()).toBe(clock.now() + 15 * SECOND)
    await expect(object.set({ expression: 'every 5', version: 2 })).rejects.toThrow('SQLITE_FULL')
    fails = false
    clock.moveBy(15 * SECOND)
    await object.pass()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(object.seen.deliveries).toHaveLength(1)
  })

  it('to delete the alarm does not make a cancel half done', async () => {
    let fails = false
    const { object } = onStorage((storage) => ({
      deleteAlarm: () => {
        if (fails) throw new Error('No')
        return storage.deleteAlarm()
      },
    }))
    await object.set({ expression: MINUTELY, version: 1 })
    fails = true
    await expect(object.cancel()).rejects.toThrow('No')
    expect(await object.get()).toMatchObject({ version: 1 })
    fails = false
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
    expect(await object.cancel()).toBe(true)
    expect(await object.alarmAt()).toBeNull()
  })
})

describe('a deploy', () => {
  it('that lowers maxAttempts dead-letters what had more, without another delivery', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const outcomeRetries = { maxAttempts: 9, delay: () => 20 * SECOND }
    const clock = freezeClock()
    const object = setup({
      schedule: {
        onOutcome: () => {
          throw new Error('Down')
        },
        outcomeRetries,
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    clock.moveBy(20 * SECOND)
    await object.fireAlarm()
    outcomeRetries.maxAttempts = 2
    await crash()
    clock.moveBy(20 * SECOND)
    await object.fireAlarm()
    expect(object.seen.deliveries).toHaveLength(2)
    expect(object.seen.events.at(-1)).toMatchObject({ type: 'dead_lettered', attempts: 2 })
    expect(await object.rows()).toEqual([])
  })

  it('that raises maxConcurrentRuns starts what waits, in tick order, on the next alarm', async () => {
    const clock = freezeClock()
    const schedule = { run: () => never, maxConcurrentRuns: 1 }
    const object = setup({ schedule })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 1; tick <= 5; tick += 1) {
      clock.moveBy(MINUTE)
      object.startAlarm()
      await until('it is recorded', async () => (await object.rows()).length === tick)
    }
    schedule.maxConcurrentRuns = 4
    await crash()
    object.startAlarm()
    await until('all run', () => object.seen.runs.length === 5)
    expect(object.seen.runTimes).toEqual([1, 2, 3, 4, 5].map((tick) => FAR_AHEAD + tick * MINUTE))
  })
})

/** The runtime's clock, and the timers that are pending on it. */
function countingClock(): { clock: Clock; timers: Set<unknown> } {
  const timers = new Set<unknown>()
  const clock: Clock = {
    now: () => Date.now(),
    setTimer(fire, delayMs) {
      const timer = setTimeout(() => {
        timers.delete(timer)
        fire()
      }, delayMs)
      timers.add(timer)
      return {
        cancel: () => {
          timers.delete(timer)
          clearTimeout(timer)
        },
      }
    },
  }
  return { clock, timers }
}

/** An object whose second early pass in a row is open: its schedule is due in ten minutes. */
async function earlyPassOpen() {
  const clock = freezeClock()
  const calls: unknown[] = []
  const object = setup({ alarms: { handlers: { renew: (info) => calls.push(info) } } })
  await object.set({ expression: `at ${FAR_AHEAD + 10 * MINUTE}`, version: 1 })
  await object.fireAlarm()
  object.startAlarm()
  await until('it is open', () => object.seen.passes.at(-1)?.state === 'open')
  await realTime(20)
  return { object, clock, calls }
}

/** An object whose storage differs in some members. */
function onStorage(replace: Parameters<typeof withStorage>[1]) {
  const clock = freezeClock()
  const options: SetupOptions = { context: (ctx) => withStorage(ctx, replace) }
  return { object: setup(options), clock }
}
