import type { DescribedError } from '../core/thrown.ts'

interface AlarmEvent {
  readonly entityKind: 'alarm'
  readonly name: string
  /** Names the occurrence: the same over its attempts, another one each time the name is set. */
  readonly idempotencyKey: string
  /** Epoch ms, when the event happened. */
  readonly timestamp: number
  /** Epoch ms, as given to `set`. */
  readonly scheduledTime: number
  /** Which attempt this is about, from 1. */
  readonly attempt: number
}

/** Passed to `onLifecycleEvent` of `DurabilityAlarms`. Best effort. */
export type NamedAlarmEvent = AlarmEvent &
  (
    | { readonly type: 'started' }
    | { readonly type: 'completed' }
    | { readonly type: 'retry'; readonly error: DescribedError; readonly nextAttemptAt: number }
    | { readonly type: 'dead_lettered'; readonly error: DescribedError }
  )
