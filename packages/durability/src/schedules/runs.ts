import { shown } from '../core/checks.ts'
import { describeThrown } from '../core/thrown.ts'
import { cursorOf, keyOf } from './cursor.ts'
import { nameOf, objectOf, parseStartOptions } from './definition.ts'
import {
  ConcurrencyLimitError,
  EngineDrainingError,
  InvalidInputError,
  InvalidScheduleError,
  StartTimeoutError,
  WorkflowNotRegisteredError,
} from './errors.ts'
import type { JsonValue } from './json.ts'
import { DEFAULT_PAGE, MAX_PAGE, MAX_RUN_ID_LENGTH } from './limits.ts'
import type { EngineParts } from './parts.ts'
import type { RegisteredOutside } from './registered.ts'
import { parseRunId } from './run-id.ts'
import { endedAt, toStart } from './run-rows.ts'
import { isLive, makeRoom, refreshed, roomFor, someRefreshed } from './run-status.ts'
import { startWithin } from './start-within.ts'
import { LIVE_STATUSES, type RunPatch, type RunQuery, type RunRow, type StoredRunStatus } from './store.ts'

export type RunStatus = Exclude<StoredRunStatus, 'starting'>

/** One run of any kind. Instants are epoch ms. */
export interface RunDescription {
  readonly id: string
  readonly workflow: string
  readonly input: JsonValue
  readonly namespace: string
  readonly tags: readonly string[]
  readonly searchAttributes: { readonly [name: string]: JsonValue } | null
  readonly priority: number
  /** `null` for a run that was started by `engine.start` under an id of its own. */
  readonly scheduleId: string | null
  /** The window, or the time of the trigger. */
  readonly scheduledTime: number | null
  /** Which revision of the schedule's definition made it. */
  readonly revision: number | null
  readonly status: RunStatus
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** `name: message` of what it ended with. */
  readonly error: string | null
}

export interface StartOptions {
  /** Default: the engine's, or `default`. */
  readonly namespace?: string
  readonly tags?: readonly string[]
  readonly searchAttributes?: { readonly [name: string]: unknown }
  readonly priority?: number
  readonly concurrency?: { readonly key: string; readonly limit: number }
}

export interface RunFilter {
  readonly scheduleId?: string
  readonly workflow?: string
  readonly tag?: string
  readonly namespace?: string
  readonly status?: RunStatus
  /** Default 100, at most 1,000. */
  readonly limit?: number
  /** The `cursor` of the page before. */
  readonly cursor?: string
}

/** A page of results; `cursor` leads to the next one, `null` after the last. Not enumerable, so that a page is its rows. */
export type Page<Item> = readonly Item[] & { readonly cursor: string | null }

export function pageOf<Item>(items: readonly Item[], cursor: string | null): Page<Item> {
  return Object.defineProperty([...items], 'cursor', { value: cursor }) as unknown as Page<Item>
}

export interface Runs {
  start(workflow: unknown, input: unknown, runId: string, options?: StartOptions): Promise<RunDescription>
  /** Starts a run whose row is made; when it is not started, no row is left. */
  startRow(run: RunRow, limit: number | undefined): Promise<RunDescription>
  getRun(runId: string): Promise<RunDescription | null>
  listRuns(filter?: RunFilter): Promise<Page<RunDescription>>
  cancelRun(runId: string): Promise<boolean>
}

export function describedRun(run: RunRow): RunDescription {
  const {
    kind: _kind,
    manual: _manual,
    concurrencyKey: _key,
    counted: _counted,
    expiresAt: _expires,
    ...described
  } = run
  return { ...described, status: run.status === 'starting' ? 'queued' : run.status }
}

export function runsOf(engine: EngineParts): Runs {
  const { store } = engine

  const isMine = ({ namespace }: RunRow) => engine.namespace === undefined || namespace === engine.namespace

  const find = async (runId: string) => {
    const run = await store.getRun(runIdOf(runId))
    return run !== null && isMine(run) ? run : null
  }

  const checkInput = async (run: RunRow) => {
    const registered = engine.registered(run.workflow)
    if (registered === undefined) throw new WorkflowNotRegisteredError(run.workflow)
    try {
      await startWithin(engine, new Promise(() => {}), () =>
        registered.validate?.(structuredClone(run.input)),
      )
    } catch (error) {
      if (error instanceof StartTimeoutError) throw error
      throw new InvalidInputError(run.workflow, describeThrown(error).message)
    }
    return registered
  }

  const insert = async (run: RunRow, limit: number | undefined): Promise<'saved' | 'exists'> => {
    const save = () =>
      engine.write(() => store.saveRun(run, { limit: roomFor(engine, run.concurrencyKey, limit) }))
    let saved = await save()
    if (saved === 'over_limit' && (await makeRoom(engine, run.concurrencyKey))) saved = await save()
    if (saved === 'over_limit') throw new ConcurrencyLimitError(run.concurrencyKey ?? '', limit ?? 0)
    return saved === 'exists' ? 'exists' : 'saved'
  }

  const startRow = async (run: RunRow, limit: number | undefined): Promise<RunDescription> => {
    const existing = await store.getRun(run.id)
    if (existing !== null && !isMine(existing)) throw notMine()
    if (existing !== null && existing.status !== 'starting') return describedRun(existing)
    if (engine.draining()) throw new EngineDrainingError()
    const registered = await checkInput(run)
    if (registered.kind === 'handler') {
      const { objectRuns } = engine
      if (objectRuns === undefined) throw new WorkflowNotRegisteredError(run.workflow)
      const hasSlot = objectRuns.reserve()
      const status = hasSlot ? 'running' : 'queued'
      const row: RunRow = { ...run, kind: 'handler', status, startedAt: hasSlot ? engine.now() : null }
      let saved: 'saved' | 'exists' = 'exists'
      try {
        saved = await insert(row, limit)
      } finally {
        if (saved !== 'saved' && hasSlot) objectRuns.release()
      }
      if (saved === 'exists') {
        const stored = (await store.getRun(run.id)) ?? row
        if (!isMine(stored)) throw notMine()
        return describedRun(stored)
      }
      if (hasSlot) objectRuns.launch(row)
      else {
        objectRuns.waits()
        engine.hold(objectRuns.look())
      }
      return describedRun(row)
    }
    const row: RunRow = { ...run, kind: registered.kind, status: 'starting' }
    if (existing === null) await insert(row, limit)
    let status: 'running' | 'complete'
    try {
      status = await startWithin(engine, new Promise(() => {}), () => registered.start(toStart(row)))
    } catch (error) {
      // One that was not answered may be there all the same: the row stays for a sweep, which asks.
      const isAsked = error instanceof StartTimeoutError && registered.status !== undefined
      if (!isAsked) await engine.write(() => store.deleteRun(row.id))
      throw error
    }
    // It is there from here on: where that cannot be written, the row stays, and a sweep asks what has become of it.
    const startedAt = engine.now()
    const patch = { status, startedAt, ...(status === 'complete' && endedAt(run, startedAt)) }
    return describedRun(await startedRow(registered, row, patch))
  }

  /** Another start of this id may have ended the row before this one was answered, and so may a cancel. */
  const startedRow = async (registered: RegisteredOutside, run: RunRow, patch: RunPatch): Promise<RunRow> => {
    const row = { ...run, ...patch }
    if (await engine.write(() => store.updateRun(run.id, patch, ['starting']))) return row
    if ((await engine.write(() => store.saveRun(row))) === 'saved') return row
    const stored = await store.getRun(run.id)
    if (stored?.status === 'cancelled') await registered.cancel?.(run.id)
    return stored ?? row
  }

  /** What is outside is cancelled first: when that fails, the run still counts as running and can be cancelled again. */
  const cancelOutside = async (run: RunRow): Promise<boolean> => {
    if (run.kind !== 'workflow') return true
    const registered = engine.registered(run.workflow)
    if (registered?.kind !== 'workflow') throw new WorkflowNotRegisteredError(run.workflow)
    try {
      await registered.cancel?.(run.id)
      return true
    } catch (error) {
      // It may have ended just now.
      if (isLive(await refreshed(engine, run))) throw error
      return false
    }
  }

  return {
    startRow,

    async start(workflow, input, runId, options = {}) {
      const id = runIdOf(runId)
      const parsed = parseStartOptions(input, options)
      const namespace = parsed.namespace ?? engine.namespace ?? 'default'
      if (engine.namespace !== undefined && namespace !== engine.namespace) {
        throw new InvalidScheduleError(
          'namespace',
          `must be the engine's, ${shown(engine.namespace)}, got ${shown(namespace)}`,
        )
      }
      const { scheduleId, time, manual } = parseRunId(id)
      if (scheduleId !== null && engine.namespace !== undefined) {
        // A window that has a run is never fired: another namespace's would be taken from it.
        const row = await store.getSchedule(scheduleId)
        if (row?.namespace !== engine.namespace) throw notMine()
      }
      const now = engine.now()
      return startRow(
        {
          id,
          workflow: engine.nameOf(workflow),
          kind: 'handler',
          input: parsed.input,
          namespace,
          tags: parsed.tags,
          searchAttributes: parsed.searchAttributes,
          priority: parsed.priority,
          scheduleId,
          scheduledTime: time,
          manual,
          revision: null,
          concurrencyKey: parsed.concurrency?.key ?? null,
          status: 'queued',
          counted: false,
          createdAt: now,
          startedAt: null,
          finishedAt: null,
          error: null,
          expiresAt: null,
        },
        parsed.concurrency?.limit,
      )
    },

    async getRun(runId) {
      const run = await find(runId)
      return run === null ? null : describedRun(await refreshed(engine, run))
    },

    async listRuns(filter = {}) {
      const query = runQueryOf(engine, filter)
      const rows = await store.listRuns({ ...query, limit: query.limit + 1 })
      const page = await someRefreshed(engine, rows.slice(0, query.limit))
      const last = page.at(-1)
      const isMore = rows.length > query.limit && last !== undefined
      // Those that turned out to be over do not belong to a page of those that run.
      const asked = page.filter(({ status }) => query.status?.includes(status) ?? true)
      return pageOf(asked.map(describedRun), isMore ? cursorOf(runKey(last)) : null)
    },

    async cancelRun(runId) {
      const stored = await find(runId)
      const run = stored === null ? null : await refreshed(engine, stored)
      if (run === null || !isLive(run) || !(await cancelOutside(run))) return false
      const patch = { status: 'cancelled', ...endedAt(run, engine.now()) } as const
      const written = engine.write(() => store.updateRun(run.id, patch, LIVE_STATUSES))
      // In the same turn where the store answers at once: no start may find the run neither live nor ending.
      const isCancelled = written instanceof Promise ? await written : written
      if (isCancelled) engine.objectRuns?.abort(run.id)
      return isCancelled
    },
  }
}

function notMine(): InvalidScheduleError {
  return new InvalidScheduleError(
    'runId',
    "belongs to a schedule or run that is none of the engine's namespace",
  )
}

export function runIdOf(given: unknown): string {
  return nameOf('runId', given, MAX_RUN_ID_LENGTH)
}

const RUN_FILTERS: ReadonlySet<keyof RunFilter> = new Set([
  'scheduleId',
  'workflow',
  'tag',
  'namespace',
  'status',
  'limit',
  'cursor',
])

const STATUSES: Readonly<Record<string, readonly StoredRunStatus[]>> = {
  queued: ['queued', 'starting'],
  running: ['running'],
  complete: ['complete'],
  errored: ['errored'],
  interrupted: ['interrupted'],
  cancelled: ['cancelled'],
  unknown: ['unknown'],
}

export type RunKey = { readonly createdAt: number; readonly id: string }

export const RUN_KEY = { createdAt: 'number', id: 'string' } as const

export function runKey({ createdAt, id }: RunKey): RunKey {
  return { createdAt, id }
}

function runQueryOf(engine: EngineParts, given: RunFilter): RunQuery {
  const {
    limit = DEFAULT_PAGE,
    cursor,
    status,
    ...filter
  } = objectOf('filter', given, RUN_FILTERS) as RunFilter
  const statuses =
    status === undefined ? undefined : Object.hasOwn(STATUSES, status) ? STATUSES[status] : undefined
  if (status !== undefined && statuses === undefined)
    throw new InvalidScheduleError('status', `is unknown: ${shown(status)}`)
  for (const [name, value] of Object.entries(filter)) if (value !== undefined) nameOf(name, value, 256)
  return {
    ...filter,
    namespace: namespaceOf(engine, filter.namespace),
    status: statuses,
    limit: pageSizeOf(limit),
    after: cursor === undefined ? undefined : keyOf<RunKey>(cursor, RUN_KEY),
    order: 'newest',
  }
}

/** A namespaced engine sees its own; an operator what it asks for, or all. */
export function namespaceOf(engine: EngineParts, asked: string | undefined): string | undefined {
  if (engine.namespace !== undefined && asked !== undefined && asked !== engine.namespace) {
    throw new InvalidScheduleError(
      'namespace',
      `must be the engine's, ${shown(engine.namespace)}, got ${shown(asked)}`,
    )
  }
  return engine.namespace ?? asked
}

export function pageSizeOf(limit: unknown, max: number = MAX_PAGE): number {
  if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1 || limit > max) {
    throw new InvalidScheduleError('limit', `must be an integer from 1 to ${max}, got ${shown(limit)}`)
  }
  return limit
}
