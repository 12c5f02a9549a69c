import { DurabilityError } from '../core/errors.ts'
import { report } from '../core/report.ts'
import { describeThrown } from '../core/thrown.ts'

export type ErrorStatus = 400 | 401 | 403 | 404 | 409 | 413 | 500 | 502 | 503

/** How every error of the API looks. */
export interface ErrorAnswer {
  readonly error: { readonly name: string; readonly message: string; readonly field?: string }
}

/** Of the engine's errors by their codes, for classes do not survive an RPC. */
const ENGINE_STATUSES: Readonly<Record<string, ErrorStatus>> = {
  invalid_schedule: 400,
  invalid_input: 400,
  schedule_not_found: 404,
  schedule_already_exists: 409,
  schedule_contention: 409,
  concurrency_limit: 409,
  workflow_not_registered: 409,
  shard_failed: 502,
  start_timeout: 502,
  engine_draining: 503,
}

const STATUSES: Readonly<Record<string, ErrorStatus>> = {
  ...ENGINE_STATUSES,
  bad_request: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  too_large: 413,
  start_failed: 502,
}

/** Characters of a field's name in an answer: whoever asks may have made it up. */
const SHOWN_FIELD = 200

/** Whether this is an error of the engine, and not of what it starts. */
export function isOfEngine(thrown: unknown): boolean {
  const { code } = Object(thrown) as { readonly code?: unknown }
  return typeof code === 'string' && Object.hasOwn(ENGINE_STATUSES, code)
}

/** A request that the API itself refuses. */
export class RequestError extends DurabilityError {
  readonly field?: string

  constructor(
    code: 'bad_request' | 'not_found' | 'too_large' | 'start_failed',
    message: string,
    field?: string,
  ) {
    super('RequestError', code, message)
    if (field !== undefined) this.field = field
  }
}

/** What is answered for something thrown. What nobody planned for is reported, and not shown. */
export function errorAnswer(thrown: unknown): { readonly status: ErrorStatus; readonly body: ErrorAnswer } {
  const { name, message } = describeThrown(thrown)
  const { code, field } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as {
    readonly code?: unknown
    readonly field?: unknown
  }
  const status = typeof code === 'string' && Object.hasOwn(STATUSES, code) ? STATUSES[code] : undefined
  if (status === undefined) {
    report('console.failed', thrown)
    return { status: 500, body: { error: { name: 'Error', message: 'The console could not do this' } } }
  }
  const where = typeof field === 'string' ? field : code === 'invalid_input' ? 'input' : undefined
  return {
    status,
    body: { error: { name, message, ...(where !== undefined && { field: where.slice(0, SHOWN_FIELD) }) } },
  }
}
