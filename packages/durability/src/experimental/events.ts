import type { DescribedError } from '../core/thrown.ts'
import type { RunOutcome } from './outcome.ts'

interface RunEvent {
  readonly entityKind: 'scheduled_run'
  /** `<objectId>:<scheduledTime>`: the run this is about. */
  readonly idempotencyKey: string
  /** Epoch ms, when the event happened. */
  readonly timestamp: number
  /** Epoch ms, the nominal time. */
  readonly scheduledTime: number
  /** Epoch ms, the nominal time plus jitter. */
  readonly dueAt: number
  /** The version of the definition that made the run. */
  readonly version: number
}

/** A tick recorded a run. `queued`: it waits for a slot. */
export interface RunDueEvent extends RunEvent {
  readonly type: 'due'
  readonly queued: boolean
}

/** The handler is about to be called, for the first and only time. */
export interface RunStartedEvent extends RunEvent {
  readonly type: 'started'
}

/** The run has its outcome, and it is stored. `durationMs` is `undefined` when the instance that ran it is gone. */
export interface RunSettledEvent extends RunEvent {
  readonly type: 'settled'
  readonly outcome: RunOutcome['status']
  readonly error: DescribedError | undefined
  readonly durationMs: number | undefined
}

/** Delivery number `attempt` failed; the next is at `nextAttemptAt`, epoch ms. */
export interface OutcomeRetryEvent extends RunEvent {
  readonly type: 'outcome_retry'
  readonly attempt: number
  readonly error: DescribedError
  readonly nextAttemptAt: number
}

/** The outcome is given up after `attempts` deliveries; `error` says why. */
export interface OutcomeDeadLetteredEvent extends RunEvent {
  readonly type: 'dead_lettered'
  /** `undefined` when its row was removed from outside before it could be read. */
  readonly outcome: RunOutcome | undefined
  readonly attempts: number
  readonly error: DescribedError
}

/** A timed-out handler has not settled: it keeps its slot until it does. */
export interface RunStuckEvent extends RunEvent {
  readonly type: 'stuck'
}

/** Passed to `onLifecycleEvent`. Best effort: for logs and metrics, not for work that must happen. */
export type ScheduledRunEvent =
  | RunDueEvent
  | RunStartedEvent
  | RunSettledEvent
  | OutcomeRetryEvent
  | OutcomeDeadLetteredEvent
  | RunStuckEvent
