import { shown } from '../core/checks.ts'
import { nextCronTime } from '../cron/index.ts'
import { type Duration, durationMs } from './durations.ts'
import { InvalidScheduleError } from './errors.ts'
import { canonicalJson, copiedJson, type JsonValue, utf8Bytes } from './json.ts'
import {
  JITTER_GAPS,
  MAX_ID_LENGTH,
  MAX_INPUT_BYTES,
  MAX_KEY_LENGTH,
  MAX_NAME_LENGTH,
  MAX_NOTE_BYTES,
  MAX_SEARCH_ATTRIBUTES_BYTES,
  MAX_TAG_LENGTH,
  MAX_TAGS,
} from './limits.ts'
import type { Catchup, Overlap, StoredDefinition } from './store.ts'
import { shortestGap, type Timing } from './timing.ts'

/** What `create` and `upsert` take. Instants are epoch ms, durations ms or text such as `'15m'`. */
export interface ScheduleDefinition<Workflow = string> {
  /** Stable and unique in the store, 1 to 200 characters; part of the id of every run. */
  readonly id: string
  /** The name under which a workflow is registered, or the registered value itself. Not looked up before it fires. */
  readonly workflow: Workflow
  /** A JSON value of at most 128 KiB. Default `null`. */
  readonly input?: unknown
  /** As `durability/cron` reads it. Exactly one of `cron` and `every`. */
  readonly cron?: string
  /** Windows are the multiples of this since 1970, so that restarts do not move them. */
  readonly every?: Duration
  /** IANA zone of the cron. Default `UTC`. */
  readonly timezone?: string
  /** Each window is put off by a stable part of this. Shorter than the gap between windows. Default 0. */
  readonly jitter?: Duration
  /** `skip`: no run for a window while the run of the last fired one is live. Default `allow`. */
  readonly overlap?: Overlap
  /** After an outage: the most recent missed window runs once (`latest`, default), or none that is late (`skip`). */
  readonly catchup?: Catchup
  /** Left out of an `upsert`: stays as it is. Default false. */
  readonly paused?: boolean
  /** Free text of at most 4 kB. Left out of an `upsert`: stays; `null` removes it. */
  readonly note?: string | null
  /** Default: the engine's, or `default`. */
  readonly namespace?: string
  /** At most 64 of 256 characters. Every run has them too, and `schedule:<id>`. */
  readonly tags?: readonly string[]
  /** A JSON object of at most 8 KiB, stamped on every run. */
  readonly searchAttributes?: { readonly [name: string]: unknown }
  /** Runs that wait in the object start highest first. An integer; default 0. */
  readonly priority?: number
  /** A start while `limit` runs with the same `key` are live fails. */
  readonly concurrency?: { readonly key: string; readonly limit: number }
  /** No window before it. */
  readonly startAt?: number
  /** No window at or after it. */
  readonly endAt?: number
  /** Windows that are fired at most. */
  readonly maxRuns?: number
  /** Pauses after so many window runs in a row that ended errored, timed out or interrupted. */
  readonly pauseAfterFailures?: number
}

export interface ParsedSchedule {
  readonly id: string
  readonly workflow: unknown
  readonly namespace: string | undefined
  /** `undefined`: not given. */
  readonly paused: boolean | undefined
  readonly note: string | null | undefined
  readonly definition: StoredDefinition
}

export interface DefinitionRules {
  readonly minEveryMs: number
  /** Whether a cron may have a field of seconds. */
  readonly seconds: boolean
}

const FIELDS: ReadonlySet<keyof ScheduleDefinition> = new Set([
  'id',
  'workflow',
  'input',
  'cron',
  'every',
  'timezone',
  'jitter',
  'overlap',
  'catchup',
  'paused',
  'note',
  'namespace',
  'tags',
  'searchAttributes',
  'priority',
  'concurrency',
  'startAt',
  'endAt',
  'maxRuns',
  'pauseAfterFailures',
])

/** @throws InvalidScheduleError naming the first field that cannot be used, and why. */
export function parseDefinition(given: unknown, rules: DefinitionRules, now: number): ParsedSchedule {
  const fields = objectOf('definition', given, FIELDS)
  const timing = timingOf(fields, rules, now)
  return {
    id: scheduleIdOf(fields.id),
    workflow: workflowOf(fields.workflow),
    namespace: fields.namespace === undefined ? undefined : nameOf('namespace', fields.namespace),
    paused: booleanOf('paused', fields.paused),
    note: noteOf(fields.note),
    definition: {
      ...timing,
      input: fields.input === undefined ? null : jsonOf('input', fields.input, MAX_INPUT_BYTES),
      overlap: oneOf('overlap', fields.overlap, ['allow', 'skip']),
      catchup: oneOf('catchup', fields.catchup, ['latest', 'skip']),
      tags: tagsOf(fields.tags),
      searchAttributes: searchAttributesOf(fields.searchAttributes),
      priority: integerOf('priority', fields.priority, -1_000_000, 1_000_000) ?? 0,
      concurrency: concurrencyOf(fields.concurrency),
      maxRuns: integerOf('maxRuns', fields.maxRuns, 1, Number.MAX_SAFE_INTEGER),
      pauseAfterFailures: integerOf('pauseAfterFailures', fields.pauseAfterFailures, 1, 1_000_000),
    },
  }
}

/** @throws InvalidScheduleError. Also for `get` and the verbs: an id that cannot be one is a mistake, not unknown. */
export function scheduleIdOf(given: unknown): string {
  const id = nameOf('id', given, MAX_ID_LENGTH)
  if (id === '.' || id === '..') throw new InvalidScheduleError('id', `must not be ${shown(id)}`)
  if (id.endsWith(':manual')) {
    throw new InvalidScheduleError(
      'id',
      'must not end in ":manual": its runs would have the ids of manual ones',
    )
  }
  return id
}

/** Text of 1 to `max` UTF-16 units that every store keeps whole. */
export function nameOf(field: string, given: unknown, max: number = MAX_NAME_LENGTH): string {
  const text = textOf(field, given)
  if (text.length < 1 || text.length > max) {
    throw new InvalidScheduleError(field, `must have 1 to ${max} characters, got ${text.length}`)
  }
  return text
}

/** @throws InvalidScheduleError when the delay can be as long as the time between two of the next windows. */
export function checkJitter(timing: Timing, now: number): void {
  if (timing.jitterMs === 0) return
  const gap = shortestGap(timing, now, JITTER_GAPS)
  if (gap !== null && timing.jitterMs >= gap) {
    throw new InvalidScheduleError(
      'jitter',
      `must be below the shortest gap between the next windows, ${gap} ms, got ${timing.jitterMs} ms`,
    )
  }
}

function timingOf(
  fields: { readonly [Name in keyof ScheduleDefinition]?: unknown },
  rules: DefinitionRules,
  now: number,
) {
  const { cron, every, timezone, jitter } = fields
  if ((cron === undefined) === (every === undefined)) {
    throw new InvalidScheduleError(
      'cron',
      `or every must be given, ${cron === undefined ? 'got neither' : 'not both'}`,
    )
  }
  if (every !== undefined && timezone !== undefined) {
    throw new InvalidScheduleError('timezone', 'belongs to cron: every has none')
  }
  const startAt = instantOf('startAt', fields.startAt)
  const endAt = instantOf('endAt', fields.endAt)
  if (startAt !== null && endAt !== null && endAt <= startAt) {
    throw new InvalidScheduleError('endAt', `must be after startAt, got ${endAt} and ${startAt}`)
  }
  const zone = timezone === undefined ? 'UTC' : textOf('timezone', timezone)
  if (cron !== undefined) checkCron(textOf('cron', cron), zone, rules, now)
  return {
    cron: cron === undefined ? null : textOf('cron', cron),
    timezone: cron === undefined ? null : zone,
    every: every === undefined ? null : durationGiven(every),
    everyMs: every === undefined ? null : durationMs('every', every, rules.minEveryMs),
    jitter: jitter === undefined ? null : durationGiven(jitter),
    jitterMs: jitter === undefined ? 0 : durationMs('jitter', jitter, 0),
    startAt,
    endAt,
  }
}

function durationGiven(given: unknown): string | number | null {
  return typeof given === 'string' || typeof given === 'number' ? given : null
}

function checkCron(cron: string, timezone: string, { seconds }: DefinitionRules, now: number): void {
  try {
    if (nextCronTime(cron, now, { timezone, seconds }) !== undefined) return
  } catch (error) {
    const field = (error as { field?: unknown }).field === 'timezone' ? 'timezone' : 'cron'
    throw new InvalidScheduleError(field, `cannot be used: ${error instanceof Error ? error.message : ''}`)
  }
  throw new InvalidScheduleError('cron', 'matches no time within 40 years')
}

function textOf(field: string, given: unknown): string {
  if (typeof given !== 'string') throw new InvalidScheduleError(field, `must be text, got ${shown(given)}`)
  if (/[\0\p{Cs}]/u.test(given)) {
    throw new InvalidScheduleError(field, 'must be well-formed Unicode without NUL')
  }
  return given
}

function workflowOf(given: unknown): unknown {
  if (typeof given === 'string') return nameOf('workflow', given)
  if (typeof given === 'function' || (typeof given === 'object' && given !== null)) return given
  throw new InvalidScheduleError('workflow', `must be the name of a workflow, got ${shown(given)}`)
}

function booleanOf(field: string, given: unknown): boolean | undefined {
  if (given !== undefined && typeof given !== 'boolean') {
    throw new InvalidScheduleError(field, `must be true or false, got ${shown(given)}`)
  }
  return given
}

export function noteOf(given: unknown): string | null | undefined {
  if (given === undefined || given === null) return given
  const note = textOf('note', given)
  if (utf8Bytes(note) > MAX_NOTE_BYTES) {
    throw new InvalidScheduleError(
      'note',
      `must have at most ${MAX_NOTE_BYTES} bytes, got ${utf8Bytes(note)}`,
    )
  }
  return note
}

function oneOf<const Value extends string>(
  field: string,
  given: unknown,
  values: readonly [Value, ...Value[]],
): Value {
  if (given === undefined) return values[0]
  const value = values.find((known) => known === given)
  if (value === undefined) {
    throw new InvalidScheduleError(field, `must be ${values.map(shown).join(' or ')}, got ${shown(given)}`)
  }
  return value
}

function integerOf(field: string, given: unknown, min: number, max: number): number | null {
  if (given === undefined) return null
  if (typeof given !== 'number' || !Number.isSafeInteger(given) || given < min || given > max) {
    throw new InvalidScheduleError(field, `must be an integer from ${min} to ${max}, got ${shown(given)}`)
  }
  return given + 0
}

function requiredInteger(field: string, given: unknown, min: number, max: number): number {
  const value = integerOf(field, given, min, max)
  if (value === null)
    throw new InvalidScheduleError(field, `must be an integer from ${min} to ${max}, got undefined`)
  return value
}

/** Epoch ms in what `durability/cron` answers: the years 1970 to 9000. */
function instantOf(field: string, given: unknown): number | null {
  return integerOf(field, given, 0, Date.UTC(9001, 0, 1))
}

function jsonOf(field: string, given: unknown, maxBytes: number): JsonValue {
  let value: JsonValue
  try {
    value = copiedJson(given, field)
  } catch (error) {
    throw new InvalidScheduleError(
      field,
      `must be a JSON value: ${error instanceof Error ? error.message : ''}`,
    )
  }
  const bytes = utf8Bytes(JSON.stringify(value))
  if (bytes > maxBytes) {
    throw new InvalidScheduleError(field, `must have at most ${maxBytes} bytes as JSON, got ${bytes}`)
  }
  return value
}

function tagsOf(given: unknown): readonly string[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) throw new InvalidScheduleError('tags', `must be a list, got ${shown(given)}`)
  if (given.length > MAX_TAGS) {
    throw new InvalidScheduleError('tags', `must be at most ${MAX_TAGS}, got ${given.length}`)
  }
  const tags = given.map((tag, index) => nameOf(`tags[${index}]`, tag, MAX_TAG_LENGTH))
  return [...new Set(tags)]
}

function searchAttributesOf(given: unknown): StoredDefinition['searchAttributes'] {
  if (given === undefined) return null
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new InvalidScheduleError('searchAttributes', `must be an object, got ${shown(given)}`)
  }
  // An object went in, so an object comes out.
  return jsonOf('searchAttributes', given, MAX_SEARCH_ATTRIBUTES_BYTES) as {
    readonly [name: string]: JsonValue
  }
}

function concurrencyOf(given: unknown): StoredDefinition['concurrency'] {
  if (given === undefined) return null
  const { key, limit } = objectOf('concurrency', given, new Set(['key', 'limit'] as const))
  return {
    key: nameOf('concurrency.key', key, MAX_KEY_LENGTH),
    limit: requiredInteger('concurrency.limit', limit, 1, 1_000_000),
  }
}

/** The members of a plain object, none but these. */
export function objectOf<Name extends string>(
  field: string,
  given: unknown,
  known: ReadonlySet<Name>,
): { readonly [Key in Name]?: unknown } {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw new InvalidScheduleError(field, `must be an object, got ${shown(given)}`)
  }
  const unknown = Object.keys(given).find((name) => !(known as ReadonlySet<string>).has(name))
  if (unknown !== undefined) throw new InvalidScheduleError(unknown, `is no field of a ${field}`)
  // Its members are looked at one by one.
  return given as { readonly [Key in Name]?: unknown }
}

/** Whether two definitions say when in the same way. */
export function isSameTiming(one: StoredDefinition, other: StoredDefinition): boolean {
  return canonicalJson(timingKey(one)) === canonicalJson(timingKey(other))
}

/** Whether they say the same in all: as given or in ms, keys in any order. */
export function isSameDefinition(one: StoredDefinition, other: StoredDefinition): boolean {
  return canonicalJson(definitionKey(one)) === canonicalJson(definitionKey(other))
}

function timingKey({
  cron,
  everyMs,
  timezone,
  jitterMs,
  startAt,
  endAt,
  maxRuns,
}: StoredDefinition): JsonValue {
  return { cron, everyMs, timezone, jitterMs, startAt, endAt, maxRuns }
}

function definitionKey({ every: _every, jitter: _jitter, ...definition }: StoredDefinition): JsonValue {
  return {
    ...definition,
    tags: [...definition.tags].sort(),
    concurrency: definition.concurrency && { ...definition.concurrency },
  }
}

const START_OPTIONS = new Set(['namespace', 'tags', 'searchAttributes', 'priority', 'concurrency'] as const)

export interface ParsedStart
  extends Pick<StoredDefinition, 'input' | 'tags' | 'searchAttributes' | 'priority' | 'concurrency'> {
  readonly namespace: string | undefined
}

/** What a run is stamped with that no schedule starts. @throws InvalidScheduleError naming the field. */
export function parseStartOptions(input: unknown, given: unknown): ParsedStart {
  const fields = objectOf('options', given, START_OPTIONS)
  return {
    input: input === undefined ? null : jsonOf('input', input, MAX_INPUT_BYTES),
    namespace: fields.namespace === undefined ? undefined : nameOf('namespace', fields.namespace),
    tags: tagsOf(fields.tags),
    searchAttributes: searchAttributesOf(fields.searchAttributes),
    priority: integerOf('priority', fields.priority, -1_000_000, 1_000_000) ?? 0,
    concurrency: concurrencyOf(fields.concurrency),
  }
}
