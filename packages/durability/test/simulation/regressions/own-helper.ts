import { DurabilityAlarms } from '../../../src/alarms/alarms.ts'
import type { SchedulerHelper } from '../../../src/core/helper.ts'
import { DurabilityScheduler, type DurabilitySchedulerOptions } from '../../../src/core/scheduler.ts'
import { DurabilitySchedule } from '../../../src/experimental/schedule.ts'
import { type SimulatedObject, simulateObject } from '../../../src/testing/index.ts'

export const SECOND_MS = 1_000
export const MINUTE_MS = 60_000

export interface Parts {
  readonly schedule: DurabilitySchedule
  readonly alarms: DurabilityAlarms<'ping'>
  alarm(info?: object): Promise<void>
}

/** What the parts of an object were seen doing. */
export interface Seen {
  readonly ticks: number[]
  readonly pings: number[]
  readonly failures: string[]
}

/** An object with a minutely schedule that is not set yet, a named alarm, and a helper of the user's own. */
export function objectWith(
  helper: (now: () => number) => Omit<SchedulerHelper, 'name'>,
  options: {
    readonly scheduler?: Partial<DurabilitySchedulerOptions>
    readonly run?: () => unknown
  } = {},
): { object: SimulatedObject<Parts>; seen: Seen } {
  const seen: Seen = { ticks: [], pings: [], failures: [] }
  const object = simulateObject<Parts>((context, clock) => {
    const scheduler = new DurabilityScheduler({
      onAlarmRetry: ({ helper: name }) => seen.failures.push(name),
      ...options.scheduler,
      context,
      clock,
    })
    scheduler.attach({ name: 'own', ...helper(() => clock.now()) })
    const schedule = new DurabilitySchedule({
      scheduler,
      nextOccurrence: (_expression, after) => (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS,
      run: () => {
        seen.ticks.push(clock.now())
        return options.run?.()
      },
    })
    const alarms = new DurabilityAlarms({
      scheduler,
      handlers: { ping: () => void seen.pings.push(clock.now()) },
    })
    return { schedule, alarms, alarm: (info) => scheduler.alarm(info) }
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
