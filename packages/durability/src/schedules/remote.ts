import { DurabilityError } from '../core/errors.ts'
import {
  ConcurrencyLimitError,
  EngineDrainingError,
  InvalidInputError,
  InvalidScheduleError,
  ScheduleAlreadyExistsError,
  ScheduleContentionError,
  ScheduleNotFoundError,
  StartTimeoutError,
  StoreNotCapableError,
  WorkflowNotRegisteredError,
} from './errors.ts'

/** What a call across objects answers: errors as plain values, for a class does not survive the way. */
export type Answer = { readonly value: unknown } | { readonly error: PlainError }

export interface PlainError {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly field?: string
  readonly reason?: string
}

/** Which of how many objects is meant. */
export interface Placement {
  readonly shard: number
  readonly shards: number
}

export function plainError(thrown: unknown): PlainError {
  if (!(thrown instanceof Error)) return { name: 'Error', message: String(thrown) }
  const { name, message } = thrown
  const { code, field, reason } = thrown as Partial<PlainError>
  return {
    name,
    message,
    ...(typeof code === 'string' && { code }),
    ...(typeof field === 'string' && { field }),
    ...(typeof reason === 'string' && { reason }),
  }
}

const CLASSES: Readonly<Record<string, { readonly prototype: DurabilityError }>> = {
  concurrency_limit: ConcurrencyLimitError,
  engine_draining: EngineDrainingError,
  invalid_input: InvalidInputError,
  schedule_already_exists: ScheduleAlreadyExistsError,
  schedule_contention: ScheduleContentionError,
  schedule_not_found: ScheduleNotFoundError,
  start_timeout: StartTimeoutError,
  store_not_capable: StoreNotCapableError,
  workflow_not_registered: WorkflowNotRegisteredError,
}

/** The error again as an instance of its class, which its code names. */
export function rebuiltError({ name, message, code, field, reason }: PlainError): Error {
  if (code === 'invalid_schedule' && field !== undefined)
    return new InvalidScheduleError(field, reason ?? message)
  if (code === undefined) return Object.assign(new Error(message), { name })
  const error = new DurabilityError(name, code, message)
  const known = Object.hasOwn(CLASSES, code) ? CLASSES[code] : undefined
  // The constructors make the text anew from what it is about; here it is there already.
  return known === undefined ? error : Object.setPrototypeOf(error, known.prototype)
}

/** One object of a sharded set could not be asked, or failed. The others were, and may have answered. */
export class ShardError extends DurabilityError {
  readonly shard: number

  constructor(shard: number, cause: unknown) {
    super(
      'ShardError',
      'shard_failed',
      `Shard ${shard} failed: ${cause instanceof Error ? cause.message : String(cause)}`,
    )
    this.shard = shard
    this.cause = cause
  }
}

/** The set was made with another number of objects: the ids would be looked for in the wrong ones. */
export class ShardCountError extends DurabilityError {
  constructor(stored: number, given: number) {
    super(
      'ShardCountError',
      'shard_count',
      `The set has ${stored} shards, not ${given}: ids would be looked for in the wrong ones`,
    )
  }
}
