import type { JsonValue } from './json.ts'
import type { StoredRunStatus } from './store.ts'

/** What a workflow is told of the run that it is started for. */
export interface RunToStart {
  readonly runId: string
  readonly workflow: string
  readonly input: JsonValue
  readonly namespace: string
  readonly tags: readonly string[]
  readonly searchAttributes: { readonly [name: string]: JsonValue } | null
  readonly priority: number
  readonly scheduleId: string | null
  readonly scheduledTime: number | null
  readonly revision: number | null
}

/** Throws (or rejects) to refuse an input: the start then fails with `InvalidInputError`, its message quoted. */
export type ValidateInput = (input: JsonValue) => unknown

/** A run of this object: its function is called here, once. */
export interface RegisteredHandler {
  readonly kind: 'handler'
  readonly handler: (run: RunToStart & { readonly signal: AbortSignal }) => unknown
  readonly validate?: ValidateInput | undefined
  /** ms; the engine's when left out. */
  readonly runTimeoutMs?: number | undefined
}

export interface OutsideStatus {
  readonly status: Exclude<StoredRunStatus, 'starting'>
  readonly error: string | null
}

/** A run of something outside. Made by `workflow(binding)` and `dispatch(send)`. */
export interface RegisteredOutside {
  readonly kind: 'workflow' | 'dispatch'
  readonly validate?: ValidateInput | undefined
  /**
   * Idempotent by run id. Resolves when the run exists there: `running`, or `complete` for what is done once handed over.
   * Rejects when that is not known: it will be tried again.
   */
  start(run: RunToStart): Promise<'running' | 'complete'>
  /** What has become of it; `unknown` when it is not kept any more. */
  status?(runId: string): Promise<OutsideStatus>
  cancel?(runId: string): Promise<void>
}

export type Registered = RegisteredHandler | RegisteredOutside
