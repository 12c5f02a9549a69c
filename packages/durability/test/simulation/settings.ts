import type { SubjectOptions } from './subject.ts'

/** What the invariants need to know of the options of the live instance. Durations in ms. */
export interface Settings {
  readonly minDelayMs: number
  readonly handoffMs: number
  readonly maxAttempts: number
  readonly maxConcurrentRuns: number
  readonly maxConcurrentDeliveries: number
  readonly runTimeoutMs: number
  readonly outcomeTimeoutMs: number
  readonly interruptedWithinMs: number
  readonly hasReceiver: boolean
  readonly hasAlarms: boolean
  readonly alarmAttempts: number
}

export function settingsOf(options: SubjectOptions): Settings {
  const { schedule = {}, scheduler = {}, alarms = {} } = options
  return {
    minDelayMs: scheduler.alarmMinDelayMs ?? 15_000,
    handoffMs: scheduler.alarmHandoffMs ?? 14 * 60_000,
    maxAttempts: schedule.outcomeRetries?.maxAttempts ?? 10,
    maxConcurrentRuns: schedule.maxConcurrentRuns ?? 10,
    maxConcurrentDeliveries: schedule.maxConcurrentDeliveries ?? 10,
    runTimeoutMs: schedule.runTimeoutMs ?? 15 * 60_000,
    outcomeTimeoutMs: schedule.outcomeTimeoutMs ?? 60_000,
    interruptedWithinMs: schedule.interruptedWithinMs ?? Number.POSITIVE_INFINITY,
    hasReceiver: options.receive !== false,
    hasAlarms: options.hasAlarms === true,
    alarmAttempts: alarms.retries?.maxAttempts ?? 5,
  }
}
