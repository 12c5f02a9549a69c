import { optionsOf } from '../core/checks.ts'
import { ALARM_WALL_LIMIT_MS, NEVER } from '../core/limits.ts'
import { defaultDelay, type Retries, retryRules } from '../core/retries.ts'
import type { DurabilityScheduler } from '../core/scheduler.ts'
import type { ScheduledRunEvent } from './events.ts'
import type { NextOccurrence } from './occurrences.ts'
import type { OutcomeRun, RunOutcome, ScheduledRun } from './outcome.ts'

/** How often and how far apart the delivery of one outcome is tried. */
export interface OutcomeRetries {
  /** Deliveries of one outcome, the first included. From 1; default 10. */
  readonly maxAttempts?: number
  /** ms to wait after failed delivery number `attempt` (from 1). Default: 1 s doubling up to 5 minutes, half of it random. */
  readonly delay?: (attempt: number) => number
}

export interface DurabilityScheduleOptions {
  readonly scheduler: DurabilityScheduler
  readonly nextOccurrence: NextOccurrence
  /** The work of one tick. Called at most once per run; may be async; its result is ignored. */
  readonly run: (run: ScheduledRun) => unknown
  /**
   * Receives each outcome at least once, always the same one; returning acknowledges it. Left out, outcomes are dropped
   * as the run settles.
   */
  readonly onOutcome?: (run: OutcomeRun, outcome: RunOutcome) => unknown
  /** Handlers in flight at once; later runs wait in tick order. From 1; default 10. */
  readonly maxConcurrentRuns?: number
  /** ms after which a run is reported as timed out. Default 15 minutes. */
  readonly runTimeoutMs?: number
  /**
   * ms within which a run cut off by a crash is reported, also when the next tick is far away. Costs one more alarm
   * write per run. Default: by the next tick.
   */
  readonly interruptedWithinMs?: number
  /** ms after which a delivery counts as failed. Default 60 seconds. */
  readonly outcomeTimeoutMs?: number
  /** Deliveries in flight at once. From 1; default 10. */
  readonly maxConcurrentDeliveries?: number
  readonly outcomeRetries?: OutcomeRetries
  /** Told what happens to runs. Best effort. */
  readonly onLifecycleEvent?: (event: ScheduledRunEvent) => unknown
}

/** The options, checked and with their defaults. */
export interface ScheduleSettings {
  readonly scheduler: DurabilityScheduler
  readonly nextOccurrence: NextOccurrence
  readonly run: (run: ScheduledRun) => unknown
  readonly onOutcome: ((run: OutcomeRun, outcome: RunOutcome) => unknown) | null
  readonly maxConcurrentRuns: number
  readonly runTimeoutMs: number
  readonly interruptedWithinMs: number
  readonly outcomeTimeoutMs: number
  readonly maxConcurrentDeliveries: number
  readonly outcomeRetries: Retries
  readonly onLifecycleEvent: ((event: ScheduledRunEvent) => unknown) | null
}

/** @throws TypeError or RangeError naming the option and its value. */
export function settingsOf(options: DurabilityScheduleOptions): ScheduleSettings {
  return optionsOf<ScheduleSettings>(options, {
    scheduler: ['object'],
    nextOccurrence: ['function'],
    run: ['function'],
    onOutcome: ['function', null],
    maxConcurrentRuns: ['number', 10],
    runTimeoutMs: ['number', ALARM_WALL_LIMIT_MS],
    interruptedWithinMs: ['number', NEVER],
    outcomeTimeoutMs: ['number', 60_000],
    maxConcurrentDeliveries: ['number', 10],
    outcomeRetries: retryRules({ maxAttempts: 10, delay: defaultDelay }),
    onLifecycleEvent: ['function', null],
  })
}
