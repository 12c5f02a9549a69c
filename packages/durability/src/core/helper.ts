import type { Clock } from './clock.ts'
import type { AlarmInfo, ObjectState } from './state.ts'

/**
 * Something that shares a Durable Object's one alarm. Implement it to put your own recurring or delayed work beside a
 * schedule, and hand it to `scheduler.attach`.
 *
 * Keep the truth in storage: an instance can die at any `await`, and the next one asks the same questions of the same
 * rows. Both methods are called inside the scheduler's synchronous turn.
 */
export interface SchedulerHelper {
  /** Unique among the helpers of one scheduler; named in errors and in `onAlarmRetry`. */
  readonly name: string

  /**
   * When this helper next needs the object, epoch ms: at or before `now` for work that is due, `undefined` for never.
   * Synchronous, from rows read in this turn. It stays due until the work is recorded as done or under way.
   */
  nextAt(now: number): number | undefined

  /**
   * Runs everything that is due at `now`; afterwards `nextAt(now)` must be later than `now`. A returned promise keeps
   * the object alive until it settles, and `run` is not called again before that. For work that should overlap,
   * return nothing and give each piece to `port.hold`. A throw or a rejection is a failure: it is retried after
   * `alarmMinDelayMs`, and other helpers are not affected.
   */
  run(now: number, info: AlarmInfo | undefined): void | Promise<void>

  /**
   * How soon (ms) the object must be woken to find this helper's unfinished work, should the instance die now;
   * `undefined` when `nextAt` is soon enough. Left out: `alarmMinDelayMs` while anything of it is in flight.
   */
  fallbackWithinMs?(now: number, passOpen: boolean): number | undefined

  /** True: timed in memory at its exact time while a pass is open, as with `liveTimers`. Default false. */
  readonly timed?: boolean
}

/** What the scheduler lends to an attached helper. */
export interface SchedulerPort {
  readonly context: ObjectState
  readonly clock: Clock
  /** ms */
  readonly alarmMinDelayMs: number

  /**
   * Runs `write` at once and re-arms the alarm in the same unit: rows and alarm are stored together or, when either
   * throws, not at all. `write` must be synchronous.
   */
  transaction<T>(write: () => T): T

  /** Keeps the pass open, and with it the object alive, until `work` settles. A rejection is a failure of the helper. */
  hold(work: Promise<unknown>): void

  /** Waits for one of the scheduler's `alarmConcurrency` permits, first come, first served. Resolves to its release. */
  acquirePermit(): Promise<() => void>

  /**
   * Puts the physical alarm right, wherever other code left it, and starts what is due. Call it last in every public
   * method that wrote something.
   */
  reconcile(): Promise<void>

  /** Forgets an earlier failure, so that repaired work does not wait for the retry. */
  clearFailure(): void

  /** Resolves when the platform has taken the alarm of the last transaction; rejects when it refused it. */
  alarmTaken(): Promise<void>
}

/** Passed to `onAlarmRetry` each time a helper fails. */
export interface AlarmRetry {
  readonly error: unknown
  /** The name of the helper that failed. */
  readonly helper: string
  /** Failures in a row, counted by the live instance, from 1. */
  readonly consecutiveFailures: number
  /** Epoch ms before which the helper is left out. */
  readonly retryAt: number
  /** What the platform passed to the pass in which it failed. */
  readonly info: AlarmInfo | undefined
}
