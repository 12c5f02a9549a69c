import type { DescribedError } from '../core/thrown.ts'
import type { RunIdentity, RunOutcome } from './outcome.ts'

/** What happened to a run. */
export type ScheduledRunEventDetails =
  /** A tick recorded it. `queued`: it waits for a slot. */
  | { readonly type: 'due'; readonly queued: boolean }
  /** Its handler is about to be called, for the first and only time. */
  | { readonly type: 'started' }
  /** It has its outcome, and it is stored. `durationMs` is `undefined` when the instance that ran it is gone. */
  | {
      readonly type: 'settled'
      readonly outcome: RunOutcome['status']
      readonly error: DescribedError | undefined
      readonly durationMs: number | undefined
    }
  /** Delivery number `attempt` failed; the next is at `nextAttemptAt`, epoch ms. */
  | {
      readonly type: 'outcome_retry'
      readonly attempt: number
      readonly error: DescribedError
      readonly nextAttemptAt: number
    }
  /** Its outcome is given up after `attempts` failed deliveries; `error` says why. */
  | {
      readonly type: 'dead_lettered'
      readonly outcome: RunOutcome
      readonly attempts: number
      readonly error: DescribedError
    }
  /** It timed out and its handler has not settled: it keeps its slot until it does. */
  | { readonly type: 'stuck' }

/** Passed to `onLifecycleEvent`. Best effort: for logs and metrics, not for work that must happen. */
export type ScheduledRunEvent = RunIdentity & {
  readonly entityKind: 'scheduled_run'
  /** Epoch ms, when it happened. */
  readonly timestamp: number
} & ScheduledRunEventDetails
