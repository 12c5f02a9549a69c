import { type DescribedError, describeThrown } from '../core/thrown.ts'

/** How a run ended. The name and message of the error are cut to 128 and 2,048 characters. */
export type RunOutcome =
  | { readonly status: 'complete'; readonly error?: undefined }
  | { readonly status: 'errored'; readonly error: DescribedError }

/** Which run this is. Instants are epoch ms. */
export interface RunIdentity {
  /** The nominal time: what `nextOccurrence` returned. */
  readonly scheduledTime: number
  /** When it was due: `scheduledTime` plus the version's jitter. */
  readonly dueAt: number
  /** `<objectId>:<scheduledTime>`. Deduplicate by it. */
  readonly idempotencyKey: string
  /** The version of the definition that made the run. */
  readonly version: number
}

/** What `run` is called with, once. */
export interface ScheduledRun extends RunIdentity {
  /** Aborted with a `ScheduledRunTimeoutError` after `runTimeoutMs`. */
  readonly signal: AbortSignal
}

/** What `onOutcome` is called with, perhaps several times. */
export interface OutcomeRun extends RunIdentity {
  /** Which delivery this is, from 1. */
  readonly attempt: number
}

export function complete(): RunOutcome {
  return { status: 'complete' }
}

export function errored(thrown: unknown): RunOutcome {
  return { status: 'errored', error: describeThrown(thrown) }
}
