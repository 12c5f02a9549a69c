import { shown } from '../core/checks.ts'
import { nameOf, objectOf } from './definition.ts'
import { InvalidScheduleError } from './errors.ts'
import type { EngineParts } from './parts.ts'
import { namespaceOf } from './runs.ts'
import type { ScheduleQuery } from './store.ts'

export interface ScheduleFilter {
  readonly namespace?: string
  readonly workflow?: string
  readonly tag?: string
  /** Neither value leaves out finished ones. */
  readonly paused?: boolean
  /** Default 100, at most 1,000. */
  readonly limit?: number
  /** Rows to leave out first, at most 100,000; they are read. A `cursor` is cheaper. */
  readonly offset?: number
  /** The `cursor` of the page before. */
  readonly cursor?: string
}

export type Key = { readonly paused: boolean; readonly nextFireAt: number | null; readonly id: string }

export const LIST_KEY = { paused: 'boolean', nextFireAt: 'number or null', id: 'string' } as const

export function listKey({ paused, nextFireAt, id }: Key): Key {
  return { paused, nextFireAt, id }
}

export const FILTERS: ReadonlySet<keyof ScheduleFilter> = new Set(['namespace', 'workflow', 'tag', 'paused'])

export const PAGED_FILTERS: ReadonlySet<keyof ScheduleFilter> = new Set([
  'namespace',
  'workflow',
  'tag',
  'paused',
  'limit',
  'offset',
  'cursor',
])

export function filterOf(given: unknown, known: ReadonlySet<keyof ScheduleFilter>): ScheduleFilter {
  const filter = objectOf('filter', given, known)
  for (const name of ['namespace', 'workflow', 'tag'] as const) {
    if (filter[name] !== undefined) nameOf(name, filter[name], 256)
  }
  if (filter.paused !== undefined && typeof filter.paused !== 'boolean') {
    throw new InvalidScheduleError('paused', `must be true or false, got ${shown(filter.paused)}`)
  }
  // Each member was looked at; the rest are looked at where they are used.
  return filter as ScheduleFilter
}

export function queryOf(
  engine: EngineParts,
  { namespace, workflow, tag, paused }: ScheduleFilter,
): Omit<ScheduleQuery, 'limit'> {
  return { namespace: namespaceOf(engine, namespace), workflow, tag, paused }
}
