import type { DescribedError } from '../core/thrown.ts'

/** What happened to an occurrence of a named alarm. */
export type NamedAlarmEventDetails =
  /** Its handler is about to be called. */
  | { readonly type: 'started' }
  | { readonly type: 'completed' }
  /** The attempt failed; the next is at `nextAttemptAt`, epoch ms. */
  | { readonly type: 'retry'; readonly error: DescribedError; readonly nextAttemptAt: number }
  /** No attempt is left: it is dropped. */
  | { readonly type: 'dead_lettered'; readonly error: DescribedError }

/** Passed to `onLifecycleEvent` of `DurabilityAlarms`. Best effort. */
export type NamedAlarmEvent = {
  readonly entityKind: 'alarm'
  readonly name: string
  /** Names the occurrence: the same over its attempts, another one each time the name is set. */
  readonly idempotencyKey: string
  /** Epoch ms, when it happened. */
  readonly timestamp: number
  /** Epoch ms, as given to `set`. */
  readonly scheduledTime: number
  /** Which attempt this is about, from 1. */
  readonly attempt: number
} & NamedAlarmEventDetails
