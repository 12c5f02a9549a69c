import { check, checkInteger } from '../core/checks.ts'
import { cursorOf } from './cursor.ts'
import { scheduleIdOf } from './definition.ts'
import type { ScheduleDescription } from './description.ts'
import { InvalidScheduleError } from './errors.ts'
import type { ScheduleFilter } from './filters.ts'
import { DEFAULT_PAGE, MAX_OFFSET } from './limits.ts'
import { type Answer, type Placement, rebuiltError, ShardError } from './remote.ts'
import { parseRunId } from './run-id.ts'
import {
  type Page,
  pageOf,
  pageSizeOf,
  type RunDescription,
  type RunFilter,
  runIdOf,
  type StartOptions,
} from './runs.ts'
import type { Schedules } from './verbs.ts'

/** The part of a namespace of `DurabilityScheduleObject`s that is used; `DurableObjectNamespace` has this shape. */
export interface ScheduleObjects {
  getByName(name: string): {
    call(verb: string, args: readonly unknown[], placement?: Placement): Promise<Answer>
  }
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
 *
 * @throws TypeError or RangeError for a bad namespace or number.
 */
export function shardedSchedules(objects: ScheduleObjects, { shards }: ShardedOptions): ShardedSchedules {
  check('objects', objects, 'object')
  check('objects.getByName', objects.getByName, 'function')
  checkInteger('options.shards', shards, 1, 1_000)
  let confirmed: Promise<unknown> | undefined

  const ask = async (shard: number, verb: string, args: readonly unknown[]): Promise<unknown> => {
    let answer: Answer
    try {
      answer = await objects.getByName(`schedules-${shard}`).call(verb, args, { shard, shards })
    } catch (error) {
      throw new ShardError(shard, error)
    }
    if ('error' in answer) throw rebuiltError(answer.error)
    return answer.value
  }

  /** The first object knows how many there are; one that is new would not. */
  const confirm = () => {
    confirmed ??= ask(0, 'count', [{}]).catch((error: unknown) => {
      confirmed = undefined
      throw error
    })
    return confirmed
  }

  const one = async <T>(id: string, verb: string, ...args: unknown[]): Promise<T> => {
    const shard = shardOf(id, shards)
    if (shard !== 0) await confirm()
    // The object answers what the verb of its engine does.
    return (await ask(shard, verb, args)) as T
  }

  const ofRun = (runId: unknown) => {
    const id = runIdOf(runId)
    return parseRunId(id).scheduleId ?? id
  }

  /** Asks every object; one that fails fails the call, or is named beside the answers of the rest. */
  const every = async <T>(verb: string, filter: object, partial: boolean): Promise<Answers<T>> => {
    if (!partial) await confirm()
    const asked = await Promise.all(
      Array.from({ length: shards }, async (_, shard) => {
        try {
          return { value: (await ask(shard, verb, [filter])) as T }
        } catch (error) {
          if (error instanceof InvalidScheduleError || !partial) throw error
          return { failed: error instanceof ShardError ? error : new ShardError(shard, error) }
        }
      }),
    )
    return {
      values: asked.flatMap((answer) => ('value' in answer ? [answer.value] : [])),
      failed: asked.flatMap((answer) => ('failed' in answer ? [answer.failed] : [])),
    }
  }

  const merged = async <Item>(
    verb: string,
    filter: object,
    { limit, offset = 0, partial, compare, keyOf }: Merge<Item>,
  ): Promise<PartialPage<Item>> => {
    const size = pageSizeOf(limit)
    if (!Number.isSafeInteger(offset) || offset < 0 || offset > MAX_OFFSET) {
      throw new InvalidScheduleError('offset', `must be an integer from 0 to ${MAX_OFFSET}, got "${offset}"`)
    }
    const items: Item[] = []
    const failed: ShardError[] = []
    let cursor: string | null = null
    let left = offset + size
    // With an offset the rows before it have to be read: page by page, for an object answers no longer ones.
    do {
      const pageSize = Math.min(left, 1_000)
      const page: object = { ...filter, limit: pageSize, ...(cursor !== null && { cursor }) }
      const answers: Answers<{ page: Item[]; cursor: string | null }> = await every(verb, page, partial)
      failed.splice(0, failed.length, ...answers.failed)
      const all = answers.values.flatMap((answer) => answer.page).sort(compare)
      const isMore = all.length > pageSize || answers.values.some((answer) => answer.cursor !== null)
      const part = all.slice(0, pageSize)
      items.push(...part)
      left -= part.length
      const last = part.at(-1)
      cursor = isMore && last !== undefined ? cursorOf(keyOf(last)) : null
    } while (cursor !== null && left > 0)
    const page = pageOf(items.slice(offset), cursor)
    return Object.defineProperty(page, 'failed', { value: failed }) as PartialPage<Item>
  }

  return {
    schedules: {
      create: (definition) => one(scheduleIdOf(definition?.id), 'create', definition),
      upsert: (definition) => one(scheduleIdOf(definition?.id), 'upsert', definition),
      pause: (id, note) => one(scheduleIdOf(id), 'pause', id, note),
      resume: (id) => one(scheduleIdOf(id), 'resume', id),
      trigger: (id) => one(scheduleIdOf(id), 'trigger', id),
      get: (id) => one(scheduleIdOf(id), 'get', id),
      delete: (id) => one(scheduleIdOf(id), 'delete', id),
      history: (id, options) => one(scheduleIdOf(id), 'history', id, options),
      preview(subject, options) {
        const id = typeof subject === 'string' ? subject : subject?.id
        return one(scheduleIdOf(id), 'preview', subject, options)
      },
      list({ limit = DEFAULT_PAGE, offset = 0, partial = false, ...filter } = {}) {
        const keyOf = ({ paused, nextFireAt, id }: ScheduleDescription) => ({ paused, nextFireAt, id })
        return merged('list', filter, { limit, offset, partial, compare: soonestFirst, keyOf })
      },
      async count({ partial = false, ...filter } = {}) {
        const { values } = await every<number>('count', filter, partial)
        return values.reduce((sum, count) => sum + count, 0)
      },
    },
    start: (workflow, input, runId, options) => one(ofRun(runId), 'start', workflow, input, runId, options),
    getRun: (runId) => one(ofRun(runId), 'getRun', runId),
    cancelRun: (runId) => one(ofRun(runId), 'cancelRun', runId),
    listRuns({ limit = DEFAULT_PAGE, partial = false, ...filter } = {}) {
      const keyOf = ({ createdAt, id }: RunDescription) => ({ createdAt, id })
      return merged('listRuns', filter, { limit, partial, compare: newestFirst, keyOf })
    },
  }
}

interface Answers<T> {
  readonly values: readonly T[]
  readonly failed: readonly ShardError[]
}

interface Merge<Item> {
  readonly limit: number
  readonly offset?: number
  readonly partial: boolean
  readonly compare: (one: Item, other: Item) => number
  readonly keyOf: (item: Item) => { readonly [name: string]: string | number | boolean | null }
}

/** FNV-1a (32 bits) of the id's UTF-8, mixed: it never changes, for a schedule would not be found where it is. */
export function shardOf(id: string, shards: number): number {
  let hash = 0x811c9dc5
  for (const byte of new TextEncoder().encode(id)) hash = Math.imul(hash ^ byte, 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return ((hash ^ (hash >>> 13)) >>> 0) % shards
}

function soonestFirst(one: ScheduleDescription, other: ScheduleDescription): number {
  return (
    Number(one.paused) - Number(other.paused) ||
    (one.nextFireAt ?? Number.MAX_SAFE_INTEGER) - (other.nextFireAt ?? Number.MAX_SAFE_INTEGER) ||
    (one.id < other.id ? -1 : 1)
  )
}

function newestFirst(one: RunDescription, other: RunDescription): number {
  return other.createdAt - one.createdAt || (one.id < other.id ? 1 : -1)
}
