import { DurabilityAlarms } from '../../../src/alarms/alarms.ts'
import type { SchedulerHelper, SchedulerPort } from '../../../src/core/helper.ts'
import { DurabilityScheduler, type DurabilitySchedulerOptions } from '../../../src/core/scheduler.ts'
import type { ObjectState } from '../../../src/core/state.ts'
import type { DurabilityScheduleOptions } from '../../../src/experimental/options.ts'
import { DurabilitySchedule } from '../../../src/experimental/schedule.ts'
import { type SimulatedObject, simulateObject } from '../../../src/testing/index.ts'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000

/** A helper that never needs the object. */
export const idle = (): Omit<SchedulerHelper, 'name'> => ({ nextAt: () => undefined, run: () => undefined })

export interface Parts {
  /** Lent to the helper of the user's own. */
  readonly port: SchedulerPort
  readonly schedule: DurabilitySchedule
  readonly alarms: DurabilityAlarms<'ping'>
  alarm(info?: object): Promise<void>
}

/** What the parts of an object were seen doing. */
export interface Seen {
  readonly ticks: number[]
  readonly pings: number[]
  readonly failures: string[]
  /** What `alarm()` rejected with. */
  readonly rejections: unknown[]
}

/** An object with a minutely schedule (a daily one as `far`) that is not set yet, a named alarm, and a helper of the user's own. */
export function objectWith(
  helper: (now: () => number) => Omit<SchedulerHelper, 'name'>,
  options: {
    readonly scheduler?: Partial<DurabilitySchedulerOptions>
    readonly run?: () => unknown
    readonly schedule?: Partial<Omit<DurabilityScheduleOptions, 'run' | 'scheduler'>>
    /** The handler of the named alarm. */
    readonly ping?: (at: number) => unknown
    /** Changes the state that the object is given, to make it fail. */
    readonly context?: (state: ObjectState) => ObjectState
  } = {},
): { object: SimulatedObject<Parts>; seen: Seen } {
  const seen: Seen = { ticks: [], pings: [], failures: [], rejections: [] }
  const heard = (pass: Promise<void>) =>
    pass.catch((error: unknown) => {
      seen.rejections.push(error)
      throw error
    })
  const object = simulateObject<Parts>((state, clock) => {
    const context = options.context?.(state) ?? state
    const scheduler = new DurabilityScheduler({
      onAlarmRetry: ({ helper: name }) => seen.failures.push(name),
      ...options.scheduler,
      context,
      clock,
    })
    const port = scheduler.attach({ name: 'own', ...helper(() => clock.now()) })
    const schedule = new DurabilitySchedule({
      scheduler,
      nextOccurrence: (expression, after) => {
        const everyMs = expression === 'far' ? 60 * 24 * MINUTE_MS : MINUTE_MS
        return (Math.floor(after / everyMs) + 1) * everyMs
      },
      ...options.schedule,
      run: () => {
        seen.ticks.push(clock.now())
        return options.run?.()
      },
    })
    const alarms = new DurabilityAlarms({
      scheduler,
      handlers: {
        ping: () => {
          seen.pings.push(clock.now())
          return options.ping?.(clock.now())
        },
      },
    })
    return { port, schedule, alarms, alarm: (info) => heard(scheduler.alarm(info)) }
  })
  return { object, seen }
}

/** A helper that needs the object once, at that instant. */
export function onceAt(at: () => number): () => Omit<SchedulerHelper, 'name'> {
  let isDone = false
  return () => ({
    nextAt: () => (isDone ? undefined : at()),
    run: () => {
      isDone = true
    },
  })
}

/** The state as it is, but that each alarm is told of before it is set: what `onSet` throws, `setAlarm` throws. */
export function toldOfAlarms(onSet: (at: number) => void): (state: ObjectState) => ObjectState {
  return ({ id, storage }) => ({
    id,
    storage: {
      sql: storage.sql,
      transactionSync: (write) => storage.transactionSync(write),
      getAlarm: () => storage.getAlarm(),
      setAlarm: (at) => {
        onSet(at)
        return storage.setAlarm(at)
      },
      deleteAlarm: () => storage.deleteAlarm(),
      sync: () => storage.sync(),
    },
  })
}
