import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { forwarding } from './support/forwarding.ts'
import { type Bundle, type SetupOptions, setup } from './support/setup.ts'
import { type FrozenClock, freezeClock, until } from './support/time.ts'

const MINUTE = 60_000
/** Of one object, in workerd; the next one throws a QuotaExceededError. */
const MOST_TIMERS = 10_000

/** Sets timers, in the object it is called in, until no more are to be had. */
function takeAllTimers(): number {
  for (let taken = 0; ; taken += 1) {
    try {
      setTimeout(() => {}, 2 ** 31 - 1)
    } catch {
      return taken
    }
  }
}

describe('an object whose own code has all the timers that the runtime allows', () => {
  let clock: FrozenClock

  beforeEach(() => {
    clock = freezeClock()
    vi.spyOn(console, 'error').mockImplementation(() => {})
  })

  // They go with the object.
  afterEach(() => vi.restoreAllMocks())

  /** With a tick a minute. */
  async function withoutTimers(options?: SetupOptions): Promise<Bundle> {
    const object = setup(options)
    await object.set({ expression: `every ${MINUTE}`, version: 1 })
    expect(await object.inside(takeAllTimers)).toBe(MOST_TIMERS)
    return object
  }

  /** As the platform does, at the time of the alarm; answers that time. */
  async function nextAlarm(object: Bundle): Promise<number> {
    const at = (await object.alarmAt()) ?? Number.NaN
    clock.moveTo(at)
    await object.fireAlarm()
    return at
  }

  it('runs its ticks and its named alarms at their times, and delivers the outcomes', async () => {
    const named: number[] = []
    const object = await withoutTimers({ alarms: { handlers: { a: () => void named.push(Date.now()) } } })
    const firstAt = (await object.alarmAt()) ?? 0
    await object.inside(({ alarms }) => alarms.set('a', firstAt + 1_000))
    for (let alarm = 0; alarm < 4; alarm += 1) await nextAlarm(object)
    const ticks = [firstAt, firstAt + MINUTE, firstAt + 2 * MINUTE]
    expect(object.seen.runs.map(({ startedAt }) => startedAt)).toEqual(ticks)
    expect(object.seen.deliveries.map(({ run }) => run.scheduledTime)).toEqual(ticks)
    expect(named).toEqual([firstAt + 1_000])
    expect(object.seen.passes.every(({ state }) => state === 'returned')).toBe(true)
    expect(object.seen.retries).toEqual([])
    expect(await object.alarmAt()).toBe(firstAt + 3 * MINUTE)
  })

  it('delivers an outcome that was refused, later and by the alarm', async () => {
    let refusals = 2
    const object = await withoutTimers({
      schedule: {
        onOutcome: () => {
          refusals -= 1
          if (refusals >= 0) throw new Error('Not now')
        },
      },
    })
    const firstAt = (await object.alarmAt()) ?? 0
    while (clock.now() < firstAt + 5 * MINUTE) await nextAlarm(object)
    expect(object.seen.deliveries.filter(({ run }) => run.scheduledTime === firstAt)).toHaveLength(3)
    expect(object.seen.passes.every(({ state }) => state === 'returned')).toBe(true)
    expect(await object.rows()).toEqual([])
  })

  it('frees the slot of a delivery whose acknowledgement cannot be stored', async () => {
    let refusals = 2
    const refusing = (ctx: DurableObjectState) => {
      const exec = (query: string, ...bindings: unknown[]) => {
        if (/^DELETE|SET attempts/.test(query) && refusals-- > 0) throw new Error('database or disk is full')
        return ctx.storage.sql.exec(query, ...bindings)
      }
      return forwarding(ctx, {
        storage: forwarding(ctx.storage, { sql: forwarding(ctx.storage.sql, { exec }) }),
      })
    }
    const object = await withoutTimers({ context: refusing, schedule: { maxConcurrentDeliveries: 1 } })
    const firstAt = (await object.alarmAt()) ?? 0
    while (clock.now() < firstAt + 2 * MINUTE) {
      clock.moveTo((await object.alarmAt()) ?? Number.NaN)
      const { length } = object.seen.passes
      object.startAlarm()
      await until('the pass has ended', () => object.seen.passes[length]?.state === 'returned')
    }
    expect(object.seen.deliveries.map(({ run }) => run.scheduledTime - firstAt)).toEqual([
      0,
      0,
      MINUTE,
      2 * MINUTE,
    ])
    expect(await object.rows()).toEqual([])
  })

  it('arms an early alarm again, however often it comes', async () => {
    const object = await withoutTimers()
    const firstAt = await object.alarmAt()
    for (let early = 0; early < 4; early += 1) await object.fireAlarm()
    expect(object.seen.passes.map(({ state }) => state)).toEqual(Array(4).fill('returned'))
    expect(object.seen.runs).toEqual([])
    expect(await object.alarmAt()).toBe(firstAt)
  })
})
