import { InvalidCronError, parseCron } from 'durability/cron'
import type { JitterInput } from 'durability/experimental'
import { badInput, HttpError } from './http-error.ts'
import type { ZonedCron } from './zoned-cron.ts'

/** A checked `PUT /schedules/:name`. */
export interface ScheduleInput extends ZonedCron {
  readonly version: number
  readonly jitterMs: JitterInput
}

/** Bytes. The longest legal definition is far below. */
export const MAX_BODY_BYTES = 4_096

/** ms. The most the library takes: what a 32-bit timer holds. */
export const MAX_JITTER_MS: number = 2 ** 31 - 1

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
const FIELDS = ['expression', 'timezone', 'version', 'jitterMs']

/** The name of a schedule, from one segment of the path. */
export function parseName(segment: string): string {
  if (!NAME.test(segment)) {
    throw badInput('name', 'A name has 1 to 64 letters, digits, - and _, and begins with a letter or a digit')
  }
  return segment
}

/** `?version=` of a cancellation; left out, the schedule is cancelled whatever its version. */
export function parseCancelQuery(query: URLSearchParams): number | undefined {
  for (const key of query.keys()) {
    if (key !== 'version') throw badInput(key.slice(0, 64), 'Unknown parameter: only version is read here')
  }
  const [text, second] = query.getAll('version')
  if (text === undefined) return undefined
  if (second !== undefined) throw badInput('version', 'The version is given more than once')
  if (!/^\d{1,16}$/.test(text)) throw badInput('version', 'The version is an integer from 0')
  return parseVersion(Number(text))
}

/** The definition in the body of a PUT. Everything a user can get wrong is answered here, before anything is stored. */
export async function readScheduleInput(request: Request): Promise<ScheduleInput> {
  return parseScheduleInput(await readJson(request))
}

/** @throws HttpError 413 for a body that is too large, 400 for one that is not JSON. */
export async function readJson(request: Request): Promise<unknown> {
  return parseJson(await readBody(request))
}

/** @throws HttpError 400 that names the field. */
export function parseScheduleInput(body: unknown): ScheduleInput {
  if (!isRecord(body)) throw badInput('body', 'The body is a JSON object')
  const unknown = Object.keys(body).find((key) => !FIELDS.includes(key))
  if (unknown !== undefined) {
    throw badInput(unknown.slice(0, 64), `Unknown field: a schedule has ${FIELDS.join(', ')}`)
  }
  const { expression, timezone = 'UTC', version, jitterMs = 0 } = body
  if (typeof expression !== 'string') throw badInput('expression', 'The expression is a string, and required')
  if (typeof timezone !== 'string')
    throw badInput('timezone', 'The time zone is a string such as Europe/Berlin')
  checkCron({ expression, timezone })
  return { expression, timezone, version: parseVersion(version), jitterMs: parseJitter(jitterMs) }
}

function checkCron({ expression, timezone }: ZonedCron): void {
  try {
    parseCron(expression, { timezone })
  } catch (error) {
    if (!(error instanceof InvalidCronError)) throw error
    // The error may name a part of the expression, such as its hour; the message says so too.
    throw badInput(error.field === 'timezone' ? 'timezone' : 'expression', error.message)
  }
}

function parseVersion(version: unknown): number {
  if (!isIntegerWithin(version, Number.MAX_SAFE_INTEGER)) {
    throw badInput('version', `The version is an integer from 0 to ${Number.MAX_SAFE_INTEGER}, and required`)
  }
  return version
}

function parseJitter(jitter: unknown): JitterInput {
  const range = `an integer from 0 to ${MAX_JITTER_MS}, in milliseconds`
  if (!isRecord(jitter)) {
    if (!isIntegerWithin(jitter, MAX_JITTER_MS))
      throw badInput('jitterMs', `The jitter is ${range}, or { maxMs }`)
    return jitter
  }
  const { maxMs, ...rest } = jitter
  if (Object.keys(rest).length > 0) throw badInput('jitterMs', 'A drawn jitter has the field maxMs only')
  if (!isIntegerWithin(maxMs, MAX_JITTER_MS))
    throw badInput('jitterMs.maxMs', `The largest jitter is ${range}`)
  return { maxMs }
}

/** Reads no more than the limit, whatever the length header claims. */
async function readBody(request: Request): Promise<Uint8Array> {
  const tooLarge = () => new HttpError(413, 'body', `The body has at most ${MAX_BODY_BYTES} bytes`)
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw tooLarge()
  const body = new Uint8Array(MAX_BODY_BYTES)
  let length = 0
  for await (const chunk of request.body ?? []) {
    if (length + chunk.byteLength > MAX_BODY_BYTES) throw tooLarge()
    body.set(chunk, length)
    length += chunk.byteLength
  }
  return body.subarray(0, length)
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes))
  } catch {
    throw badInput('body', 'The body is not JSON in UTF-8')
  }
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isIntegerWithin(value: unknown, max: number): value is number {
  return Number.isSafeInteger(value) && typeof value === 'number' && value >= 0 && value <= max
}
