import { DurabilityError } from '../core/errors.ts'
import { cursorOf } from './cursor.ts'
import type { ScheduleDescription } from './description.ts'
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
import { listKey } from './filters.ts'
import { MAX_ANSWERED_PAGE } from './limits.ts'
import { type Page, type RunDescription, runKey } from './runs.ts'

export const SCHEDULE_VERBS = [
  'create',
  'upsert',
  'pause',
  'resume',
  'trigger',
  'get',
  'list',
  'count',
  'delete',
  'preview',
  'history',
] as const

export const RUN_VERBS = ['start', 'getRun', 'listRuns', 'cancelRun'] as const

/** A call of `engine.schedules`, or of the engine's runs. */
export type ObjectVerb = (typeof SCHEDULE_VERBS)[number] | (typeof RUN_VERBS)[number]

/** What a call across objects answers: errors as plain values, for a class does not survive the way. */
export type Answer = { readonly value: unknown } | { readonly error: PlainError }

export interface PlainError {
  readonly name: string
  readonly message: string
  readonly code?: string
  readonly field?: string
  readonly reason?: string
}

/** A page with its cursor as a value that crosses an RPC. */
export interface PortablePage<Item = unknown> {
  readonly page: readonly Item[]
  readonly cursor: string | null
}

/** What a verb answers, as it crosses an RPC. A page of large inputs would be too large for one: it ends before, and its cursor goes on there. */
export function portable(value: unknown): unknown {
  if (!Array.isArray(value) || !('cursor' in value)) return value
  // What has a cursor is a page of either list.
  const given = value as unknown as Page<ScheduleDescription | RunDescription>
  const page: (ScheduleDescription | RunDescription)[] = []
  let size = 0
  for (const item of given) {
    size += JSON.stringify(item).length
    const last = page.at(-1)
    if (size > MAX_ANSWERED_PAGE && last !== undefined) {
      const cursor = cursorOf('nextFireAt' in last ? listKey(last) : runKey(last))
      return { page, cursor } satisfies PortablePage
    }
    page.push(item)
  }
  return { page, cursor: given.cursor } satisfies PortablePage
}

/** Which of how many objects is meant. */
export interface Placement {
  readonly shard: number
  readonly shards: number
}

/** The part of the stub of a `DurabilityScheduleObject` that is used. */
export interface ScheduleObjectStub {
  call(verb: ObjectVerb, args: readonly unknown[], placement?: Placement): Promise<Answer>
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

const CLASSES: Readonly<Record<string, { readonly code: string; readonly prototype: DurabilityError }>> = {
  ConcurrencyLimitError: { code: 'concurrency_limit', prototype: ConcurrencyLimitError.prototype },
  EngineDrainingError: { code: 'engine_draining', prototype: EngineDrainingError.prototype },
  InvalidInputError: { code: 'invalid_input', prototype: InvalidInputError.prototype },
  InvalidScheduleError: { code: 'invalid_schedule', prototype: InvalidScheduleError.prototype },
  ScheduleAlreadyExistsError: {
    code: 'schedule_already_exists',
    prototype: ScheduleAlreadyExistsError.prototype,
  },
  ScheduleContentionError: { code: 'schedule_contention', prototype: ScheduleContentionError.prototype },
  ScheduleNotFoundError: { code: 'schedule_not_found', prototype: ScheduleNotFoundError.prototype },
  ShardCountError: { code: 'shard_count', prototype: ShardCountError.prototype },
  StartTimeoutError: { code: 'start_timeout', prototype: StartTimeoutError.prototype },
  StoreNotCapableError: { code: 'store_not_capable', prototype: StoreNotCapableError.prototype },
  WorkflowNotRegisteredError: {
    code: 'workflow_not_registered',
    prototype: WorkflowNotRegisteredError.prototype,
  },
}

/** The error again as an instance of its class, which its name and code tell; others, such as a user's, as they were. */
export function rebuiltError({ name, message, code, ...rest }: PlainError): Error {
  const known = Object.hasOwn(CLASSES, name) ? CLASSES[name] : undefined
  if (code === undefined || known?.code !== code) {
    return Object.assign(new Error(message), { name, ...(code !== undefined && { code }), ...rest })
  }
  // The constructors make the text anew from what it is about; here it is there already.
  const error = Object.assign(new DurabilityError(name, code, message), rest)
  return Object.setPrototypeOf(error, known.prototype)
}

/** What an answer holds. @throws the error of an answer that is one. */
export function answered(answer: Answer): unknown {
  if ('error' in answer) throw rebuiltError(answer.error)
  return answer.value
}
