import { fromLocalInput, toLocalInput } from './times.ts'
import type { ScheduleDescription } from './types.ts'

/** What is typed, field by field, as text. */
export interface FormValues {
  readonly id: string
  readonly workflow: string
  readonly kind: 'cron' | 'every'
  readonly cron: string
  readonly timezone: string
  readonly every: string
  readonly jitter: string
  readonly overlap: string
  readonly catchup: string
  readonly input: string
  readonly note: string
  readonly tags: string
  readonly namespace: string
  readonly searchAttributes: string
  readonly priority: string
  readonly concurrencyKey: string
  readonly concurrencyLimit: string
  readonly startAt: string
  readonly endAt: string
  readonly maxRuns: string
  readonly pauseAfterFailures: string
  readonly paused: boolean
}

export const EMPTY: FormValues = {
  id: '',
  workflow: '',
  kind: 'cron',
  cron: '',
  timezone: 'UTC',
  every: '',
  jitter: '',
  overlap: 'allow',
  catchup: 'latest',
  input: '',
  note: '',
  tags: '',
  namespace: '',
  searchAttributes: '',
  priority: '',
  concurrencyKey: '',
  concurrencyLimit: '',
  startAt: '',
  endAt: '',
  maxRuns: '',
  pauseAfterFailures: '',
  paused: false,
}

export function valuesOf(schedule: ScheduleDescription): FormValues {
  const { concurrency, cron, every, everyMs, jitter, jitterMs } = schedule
  return {
    id: schedule.id,
    workflow: schedule.workflow,
    kind: cron === null ? 'every' : 'cron',
    cron: cron ?? '',
    timezone: schedule.timezone ?? 'UTC',
    every: textOf(every ?? everyMs),
    jitter: textOf(jitter ?? (jitterMs === 0 ? null : jitterMs)),
    overlap: schedule.overlap,
    catchup: schedule.catchup,
    input: schedule.input === null ? '' : JSON.stringify(schedule.input, null, 2),
    note: schedule.note ?? '',
    tags: schedule.tags.join('\n'),
    namespace: schedule.namespace,
    searchAttributes:
      schedule.searchAttributes === null ? '' : JSON.stringify(schedule.searchAttributes, null, 2),
    priority: schedule.priority === 0 ? '' : textOf(schedule.priority),
    concurrencyKey: concurrency?.key ?? '',
    concurrencyLimit: textOf(concurrency?.limit ?? null),
    startAt: toLocalInput(schedule.startAt),
    endAt: toLocalInput(schedule.endAt),
    maxRuns: textOf(schedule.maxRuns),
    pauseAfterFailures: textOf(schedule.pauseAfterFailures),
    paused: schedule.paused,
  }
}

/** A field that cannot even be sent. */
export class FieldError extends Error {
  readonly field: string

  constructor(field: string, message: string) {
    super(message)
    this.field = field
  }
}

/**
 * The definition that is sent. Whether it can be used is for the server to say; here only JSON is read. An empty field is
 * left out, except for a note, which is removed.
 *
 * @param edited What the form was filled with. Of that, what was not touched is sent as it was; paused and a note are not
 * sent then at all, for somebody else may have changed them meanwhile.
 * @param isNew There is nothing that could keep them: they are sent.
 * @throws FieldError for text that is no JSON.
 */
export function definitionOf(
  values: FormValues,
  edited?: ScheduleDescription,
  isNew: boolean = edited === undefined,
): Record<string, unknown> {
  const { kind, concurrencyKey, concurrencyLimit } = values
  const before = edited && valuesOf(edited)
  const isTouched = (name: keyof FormValues) => before === undefined || before[name] !== values[name]
  const instantOf = (name: 'startAt' | 'endAt') =>
    edited !== undefined && !isTouched(name) ? (edited[name] ?? undefined) : fromLocalInput(values[name])
  const all: Record<string, unknown> = {
    workflow: values.workflow,
    input: jsonOf('input', values.input),
    overlap: values.overlap,
    catchup: values.catchup,
    jitter: durationOf(values.jitter),
    paused: isNew || isTouched('paused') ? values.paused : undefined,
    note: isNew || isTouched('note') ? noteOf(values.note, edited) : undefined,
    namespace: values.namespace === '' ? undefined : values.namespace,
    tags: edited !== undefined && !isTouched('tags') ? edited.tags : tagsOf(values.tags),
    searchAttributes: jsonOf('searchAttributes', values.searchAttributes),
    priority: numberOf(values.priority),
    startAt: instantOf('startAt'),
    endAt: instantOf('endAt'),
    maxRuns: numberOf(values.maxRuns),
    pauseAfterFailures: numberOf(values.pauseAfterFailures),
    ...(kind === 'cron'
      ? { cron: values.cron, timezone: values.timezone === '' ? undefined : values.timezone }
      : { every: durationOf(values.every) ?? '' }),
    ...((concurrencyKey !== '' || concurrencyLimit !== '') && {
      concurrency: { key: concurrencyKey, limit: numberOf(concurrencyLimit) },
    }),
  }
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined))
}

/** The field of the form that shows what is wrong with a field of the definition: `tags[3]` is `tags`. */
export function fieldOf(field: string): string {
  if (field === 'concurrency.limit') return 'concurrencyLimit'
  return field.split(/[.[]/)[0] ?? field
}

function textOf(value: string | number | null): string {
  return value === null ? '' : String(value)
}

function noteOf(note: string, edited: ScheduleDescription | undefined): string | null | undefined {
  if (note !== '') return note
  return edited === undefined ? undefined : null
}

function tagsOf(text: string): string[] {
  return text
    .split('\n')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
}

/** Digits alone are ms, as in the API; the rest is for the server. */
function durationOf(text: string): string | number | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^\d+$/.test(trimmed) ? Number(trimmed) : trimmed
}

/** What is no number is sent as it is: the server says what is wrong with it. */
function numberOf(text: string): string | number | undefined {
  const trimmed = text.trim()
  if (trimmed === '') return undefined
  return /^[+-]?\d+(\.\d+)?$/.test(trimmed) ? Number(trimmed) : trimmed
}

function jsonOf(field: string, text: string): unknown {
  if (text.trim() === '') return undefined
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new FieldError(field, `is no JSON: ${error instanceof Error ? error.message : ''}`)
  }
}
