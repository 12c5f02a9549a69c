import { check, checkInteger } from '../core/checks.ts'
import { cursorOf, keyOf } from './cursor.ts'
import { scheduleIdOf } from './definition.ts'
import type { ScheduleDescription } from './description.ts'
import { InvalidScheduleError } from './errors.ts'
import { type Key, LIST_KEY, listKey, type ScheduleFilter } from './filters.ts'
import { DEFAULT_PAGE, MAX_OFFSET } from './limits.ts'
import {
  type Answer,
  answered,
  type ObjectVerb,
  type PortablePage,
  type ScheduleObjectStub,
  ShardCountError,
  ShardError,
} from './remote.ts'
import { parseRunId } from './run-id.ts'
import {
  type Page,
  pageOf,
  pageSizeOf,
  RUN_KEY,
  type RunDescription,
  type RunFilter,
  type RunKey,
  runIdOf,
  runKey,
  type StartOptions,
} from './runs.ts'
import { comparedText } from './text-order.ts'
import type { Schedules } from './verbs.ts'

/** The part of a namespace of `DurabilityScheduleObject`s that is used; `DurableObjectNamespace` has this shape. */
export interface ScheduleObjects {
  getByName(name: string): ScheduleObjectStub
}

export interface ShardedOptions {
  /** Objects of the set, 1 to 1,000. Fixed by the first call: another number is refused. */
  readonly shards: number
}

/** With `partial`, shards that fail are left out of the answer, and named in its `failed`. */
export interface Partial {
  readonly partial?: boolean
}

export type PartialPage<Item> = Page<Item> & { readonly failed: readonly ShardError[] }

/** `engine.schedules` and the engine's runs over a set of objects. */
export interface ShardedSchedules {
  /** Objects of the set. */
  readonly shards: number
  readonly schedules: Omit<Schedules<string>, 'list' | 'count'> & {
    list(filter?: ScheduleFilter & Partial): Promise<PartialPage<ScheduleDescription>>
    count(filter?: Omit<ScheduleFilter, 'limit' | 'offset' | 'cursor'> & Partial): Promise<number>
  }
  start(workflow: string, input: unknown, runId: string, options?: StartOptions): Promise<RunDescription>
  getRun(runId: string): Promise<RunDescription | null>
  listRuns(filter?: RunFilter & Partial): Promise<PartialPage<RunDescription>>
  cancelRun(runId: string): Promise<boolean>
}

/**
 * The same calls over `shards` objects: each id has its object, by a stable hash. Runs of a schedule are where it is.
 * `concurrency` and `maxConcurrentRuns` are counted in each object by itself.
 *
 * @throws TypeError or RangeError for a bad namespace or number.
 */
export function shardedSchedules(objects: ScheduleObjects, { shards }: ShardedOptions): ShardedSchedules {
  check('objects', objects, 'object')
  check('objects.getByName', objects.getByName, 'function')
  checkInteger('options.shards', shards, 1, 1_000)
  let isConfirmed = false

  const ask = async (shard: number, verb: ObjectVerb, args: readonly unknown[]): Promise<unknown> => {
    let answer: Answer
    try {
      answer = await objects.getByName(`schedules-${shard}`).call(verb, args, { shard, shards })
    } catch (error) {
      throw new ShardError(shard, error)
    }
    return answered(answer)
  }

  /** The first object knows how many there are; one that is new would not. What it is asked reads one row. */
  const confirm = async () => {
    // Not the promise is kept: one of a request that was cut off never settles, and all others would wait for it.
    if (!isConfirmed) await ask(0, 'get', ['shards'])
    isConfirmed = true
  }

  const one = async <T>(id: string, verb: ObjectVerb, args: readonly unknown[]): Promise<T> => {
    const shard = shardOf(id, shards)
    if (shard !== 0) await confirm()
    // The object answers what the verb of its engine does.
    return (await ask(shard, verb, args)) as T
  }

  const ofSchedule = async <T>(id: unknown, verb: ObjectVerb, ...args: unknown[]) =>
    one<T>(scheduleIdOf(id), verb, args)

  const ofRun = async <T>(runId: unknown, verb: ObjectVerb, ...args: unknown[]) => {
    const id = runIdOf(runId)
    return one<T>(parseRunId(id).scheduleId ?? id, verb, args)
  }

  /** Asks every object; one that fails fails the call, or is named beside the answers of the rest. */
  const every = async <T>(verb: ObjectVerb, filter: Filter, partial: boolean): Promise<Answers<T>> => {
    const { scheduleId } = filter
    // The runs of one schedule are where it is.
    const meant = typeof scheduleId === 'string' ? [shardOf(scheduleId, shards)] : [...Array(shards).keys()]
    await confirm().catch((error: unknown) => {
      if (!partial || isAboutTheCall(error)) throw error
    })
    const asked = await Promise.all(
      meant.map(async (shard) => {
        try {
          return { value: (await ask(shard, verb, [filter])) as T }
        } catch (error) {
          if (isAboutTheCall(error)) throw error
          const failed = error instanceof ShardError ? error : new ShardError(shard, error)
          if (!partial) throw failed
          return { failed }
        }
      }),
    )
    return {
      values: asked.flatMap((answer) => ('value' in answer ? [answer.value] : [])),
      failed: asked.flatMap((answer) => ('failed' in answer ? [answer.failed] : [])),
    }
  }

  const merged = async <Item extends K, K extends AnyKey>(
    verb: ObjectVerb,
    filter: Filter,
    { limit, offset = 0, partial, compare, keyIn, keyAt }: Merge<K>,
  ): Promise<PartialPage<Item>> => {
    const size = pageSizeOf(limit)
    if (!Number.isSafeInteger(offset) || offset < 0 || offset > MAX_OFFSET) {
      throw new InvalidScheduleError('offset', `must be an integer from 0 to ${MAX_OFFSET}, got "${offset}"`)
    }
    const items: Item[] = []
    const failed = new Map<number, ShardError>()
    let cursor: string | null = null
    let left = offset + size
    // With an offset the rows before it have to be read: page by page, for an object answers no longer ones.
    do {
      const pageSize = Math.min(left, 1_000)
      const page: Filter = { ...filter, limit: pageSize, ...(cursor !== null && { cursor }) }
      const answers = await every<PortablePage<Item>>(verb, page, partial)
      for (const error of answers.failed) failed.set(error.shard, error)
      // A page may be shorter than was asked for, or empty, and not the last: what comes after its end is not known yet.
      const ends = answers.values.flatMap((answer) => (answer.cursor === null ? [] : [keyAt(answer.cursor)]))
      const [end] = ends.sort(compare)
      const known = answers.values
        .flatMap((answer) => answer.page)
        .filter((item) => end === undefined || compare(item, end) <= 0)
        .sort(compare)
      const part = known.slice(0, pageSize)
      items.push(...part)
      left -= part.length
      const last = part.length < known.length ? part.at(-1) : undefined
      const next = last === undefined ? end : keyIn(last)
      cursor = next === undefined ? null : cursorOf(next)
    } while (cursor !== null && left > 0)
    const page = pageOf(items.slice(offset), cursor)
    return Object.defineProperty(page, 'failed', { value: [...failed.values()] }) as PartialPage<Item>
  }

  return {
    shards,
    schedules: {
      create: (definition) => ofSchedule(definition?.id, 'create', definition),
      upsert: (definition) => ofSchedule(definition?.id, 'upsert', definition),
      pause: (id, note) => ofSchedule(id, 'pause', id, note),
      resume: (id) => ofSchedule(id, 'resume', id),
      trigger: (id) => ofSchedule(id, 'trigger', id),
      get: (id) => ofSchedule(id, 'get', id),
      delete: (id) => ofSchedule(id, 'delete', id),
      history: (id, options) => ofSchedule(id, 'history', id, options),
      preview(subject, options) {
        const id = typeof subject === 'string' ? subject : subject?.id
        return ofSchedule(id, 'preview', subject, options)
      },
      list({ limit = DEFAULT_PAGE, offset = 0, partial = false, ...filter } = {}) {
        const keyAt = (cursor: string) => keyOf<Key>(cursor, LIST_KEY)
        return merged('list', filter, {
          limit,
          offset,
          partial,
          compare: soonestFirst,
          keyIn: listKey,
          keyAt,
        })
      },
      async count({ partial = false, ...filter } = {}) {
        const { values } = await every<number>('count', filter, partial)
        return values.reduce((sum, count) => sum + count, 0)
      },
    },
    start: (workflow, input, runId, options) => ofRun(runId, 'start', workflow, input, runId, options),
    getRun: (runId) => ofRun(runId, 'getRun', runId),
    cancelRun: (runId) => ofRun(runId, 'cancelRun', runId),
    listRuns({ limit = DEFAULT_PAGE, partial = false, ...filter } = {}) {
      const keyAt = (cursor: string) => keyOf<RunKey>(cursor, RUN_KEY)
      return merged('listRuns', filter, { limit, partial, compare: newestFirst, keyIn: runKey, keyAt })
    },
  }
}

type Filter = Readonly<Record<string, unknown>>

interface Answers<T> {
  readonly values: readonly T[]
  readonly failed: readonly ShardError[]
}

type AnyKey = Key | RunKey

/** `K`: what an item is placed by. */
interface Merge<K extends AnyKey> {
  readonly limit: number
  readonly offset?: number
  readonly partial: boolean
  readonly compare: (one: K, other: K) => number
  /** The key of an item, and of the place that a cursor means. */
  readonly keyIn: (item: K) => K
  readonly keyAt: (cursor: string) => K
}

/** Whatever object was asked, the call itself is wrong, and would be at each of them. */
function isAboutTheCall(error: unknown): boolean {
  return error instanceof InvalidScheduleError || error instanceof ShardCountError
}

/** FNV-1a (32 bits) of the id's UTF-8, mixed: it never changes, for a schedule would not be found where it is. */
export function shardOf(id: string, shards: number): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) % shards
}

function soonestFirst(one: Key, other: Key): number {
  return (
    Number(one.paused) - Number(other.paused) ||
    (one.nextFireAt ?? Number.MAX_SAFE_INTEGER) - (other.nextFireAt ?? Number.MAX_SAFE_INTEGER) ||
    comparedText(one.id, other.id)
  )
}

function newestFirst(one: RunKey, other: RunKey): number {
  return other.createdAt - one.createdAt || comparedText(other.id, one.id)
}
