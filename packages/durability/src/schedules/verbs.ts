import { shown } from '../core/checks.ts'
import { cursorOf, keyOf } from './cursor.ts'
import {
  checkJitter,
  isSameDefinition,
  isSameTiming,
  noteOf,
  objectOf,
  type ParsedSchedule,
  parseDefinition,
  type ScheduleDefinition,
  scheduleIdOf,
} from './definition.ts'
import { describedSchedule, type ScheduleDescription } from './description.ts'
import {
  InvalidScheduleError,
  ScheduleAlreadyExistsError,
  ScheduleContentionError,
  ScheduleNotFoundError,
} from './errors.ts'
import {
  FILTERS,
  filterOf,
  type Key,
  LIST_KEY,
  listKey,
  PAGED_FILTERS,
  queryOf,
  type ScheduleFilter,
} from './filters.ts'
import { fireDue } from './fire.ts'
import { failuresAtResume } from './fire-policies.ts'
import { type Decision, historyOf } from './history.ts'
import {
  DEFAULT_PAGE,
  DEFAULT_PREVIEW,
  MAX_OFFSET,
  MAX_PREVIEW,
  MAX_WRITE_TRIES,
  RUN_AGE_MS,
} from './limits.ts'
import { decided, moveOn, placedAt } from './moves.ts'
import { newRow } from './new-row.ts'
import type { EngineParts } from './parts.ts'
import { runRowOf } from './run-rows.ts'
import { oldestRefreshed } from './run-status.ts'
import { type Page, pageOf, pageSizeOf, type RunDescription, type Runs } from './runs.ts'
import type { DecisionRow, SchedulePatch, ScheduleRow } from './store.ts'
import { absentWith, lastDecided, superseded } from './superseded.ts'
import { nextWindow } from './timing.ts'
import { noWindow, type PreviewedWindow, windowsOf } from './windows.ts'

/** `engine.schedules`: what users' schedules are managed with. */
export interface Schedules<Workflow> {
  /** Stores a new schedule. Throws `ScheduleAlreadyExistsError`, or `InvalidScheduleError` naming the field. */
  create(definition: ScheduleDefinition<Workflow>): Promise<ScheduleDescription>
  /** Creates it, or replaces its definition and keeps its history. The same again changes nothing. */
  upsert(definition: ScheduleDefinition<Workflow>): Promise<ScheduleDescription>
  /** No window is due until it is resumed. A note is stored with it. */
  pause(id: string, note?: string): Promise<ScheduleDescription>
  /** Goes on with the next window after now; nothing is caught up. */
  resume(id: string): Promise<ScheduleDescription>
  /** One run now, whatever its state; the cadence does not move. Rejects when it is not started. */
  trigger(id: string): Promise<RunDescription>
  /** `null` when it is unknown. */
  get(id: string): Promise<ScheduleDescription | null>
  /** Soonest due first; finished, then paused ones last. */
  list(filter?: ScheduleFilter): Promise<Page<ScheduleDescription>>
  count(filter?: Omit<ScheduleFilter, 'limit' | 'offset' | 'cursor'>): Promise<number>
  /** `false` when it is unknown. Its runs are left alone. */
  delete(id: string): Promise<boolean>
  /** The next windows of a stored schedule (of a paused one as if it were resumed now), or of a definition. */
  preview(
    idOrDefinition: string | ScheduleDefinition<Workflow>,
    options?: { readonly count?: number },
  ): Promise<PreviewedWindow[]>
  /** What became of its windows, newest first. */
  history(id: string, options?: { readonly limit?: number }): Promise<Decision[]>
}

export function verbsOf(engine: EngineParts, runs: Runs): Schedules<unknown> {
  const { store } = engine

  const find = async (id: unknown): Promise<ScheduleRow | null> => {
    const row = await store.getSchedule(scheduleIdOf(id))
    return row !== null && (engine.namespace === undefined || row.namespace === engine.namespace) ? row : null
  }

  const found = async (id: unknown): Promise<ScheduleRow> => {
    const row = await find(id)
    if (row === null) throw new ScheduleNotFoundError(String(id))
    return row
  }

  const parse = (definition: unknown): ParsedSchedule => {
    const parsed = parseDefinition(definition, engine, engine.now())
    const { namespace } = parsed
    if (engine.namespace !== undefined && namespace !== undefined && namespace !== engine.namespace) {
      throw new InvalidScheduleError(
        'namespace',
        `must be the engine's, ${shown(engine.namespace)}, got ${shown(namespace)}`,
      )
    }
    return parsed
  }

  /** Reads, changes and writes until nobody came in between. */
  const rewrite = async (
    id: unknown,
    change: (row: ScheduleRow, now: number) => Promise<Change | undefined>,
  ) => {
    for (let attempt = 0; attempt < MAX_WRITE_TRIES; attempt += 1) {
      const row = await found(id)
      const now = engine.now()
      const made = await change(row, now)
      if (made === undefined) return row
      const patch = { ...made.patch, updatedAt: now }
      const result = await moveOn(engine, row, {
        patch,
        decisions: made.decisions ?? [],
        absent: absentWith(row, made.decisions),
      })
      if (result === 'moved') return { ...row, ...patch, writes: row.writes + 1 }
    }
    throw new ScheduleContentionError(String(id))
  }

  const createRow = async (parsed: ParsedSchedule, isUpsert: boolean): Promise<ScheduleRow | undefined> => {
    const now = engine.now()
    const last = await store.lastWindow(parsed.id)
    const row = newRow(engine, parsed, now)
    checkJitter(parsed.definition, now)
    const window = nextWindow(parsed.definition, Math.max(now, last ?? 0))
    if (window === null && !isUpsert) throw noWindow(parsed)
    const placed: ScheduleRow = {
      ...row,
      ...placedAt(row, row.paused ? null : window),
      finished: window === null,
    }
    return (await engine.write(() => store.saveSchedule(placed))) ? placed : undefined
  }

  /** Where a schedule goes on that is live from now. Throws when its definition does not evaluate. */
  const placedFromNow = async (row: ScheduleRow, now: number): Promise<SchedulePatch> => {
    const { maxRuns } = row.definition
    const isUsedUp = maxRuns !== null && row.fires >= maxRuns
    const after = Math.max(now, await lastDecided(engine, row))
    return placedAt(row, isUsedUp ? null : nextWindow(row.definition, after))
  }

  const changed = async (
    row: ScheduleRow,
    parsed: ParsedSchedule,
    now: number,
  ): Promise<Change | undefined> => {
    const { definition, paused = row.paused, note = row.note } = parsed
    const workflow = engine.nameOf(parsed.workflow)
    const isSame = isSameDefinition(row.definition, definition) && workflow === row.workflow
    if (isSame && paused === row.paused && note === row.note) return undefined
    const next: ScheduleRow = { ...row, definition, workflow, note, paused }
    const patch: SchedulePatch = {
      definition,
      workflow,
      note,
      paused,
      ...(!isSame && { revision: row.revision + 1 }),
    }
    const decisions: DecisionRow[] = []
    const isOther = !isSameTiming(row.definition, definition)
    if (isOther) checkJitter(definition, now)
    if (paused && !row.paused) {
      decisions.push(
        ...(await superseded(engine, row, now, 'paused')),
        decided(row, 'paused', now, { reason: note }),
      )
      const { finished } = await placedFromNow(next, now)
      return { patch: { ...patch, ...placedAt(next, null), finished: finished ?? false }, decisions }
    }
    if (paused) {
      const { finished } = isOther ? await placedFromNow(next, now) : row
      return { patch: { ...patch, finished: finished ?? false }, decisions }
    }
    const resumed = row.paused && { failures: await failuresAtResume(engine, row) }
    if (resumed) decisions.push(decided(row, 'resumed', now, {}))
    else if (isOther) decisions.push(...(await superseded(engine, row, now, 'its timing was changed')))
    const isPlaced = isOther || row.paused
    return { patch: { ...patch, ...resumed, ...(isPlaced && (await placedFromNow(next, now))) }, decisions }
  }

  /** A due window runs under the old timing first, where its run and the schedule are one unit. */
  const fireFirst = async (row: ScheduleRow, parsed: ParsedSchedule, now: number): Promise<boolean> => {
    const isDue = row.nextFireAt !== null && row.nextFireAt <= now && !engine.draining()
    const isHere = engine.objectRuns !== undefined && engine.registered(row.workflow)?.kind === 'handler'
    if (!isDue || !isHere || isSameTiming(row.definition, parsed.definition)) return false
    await fireDue(engine, row, { now, late: new Promise(() => {}) })
    return true
  }

  return {
    async create(definition) {
      const parsed = parse(definition)
      const row = await createRow(parsed, false)
      if (row === undefined) throw new ScheduleAlreadyExistsError(parsed.id)
      return describedSchedule(row)
    },

    async upsert(definition) {
      const parsed = parse(definition)
      const fired = new Set<number | null>()
      for (let attempt = 0; attempt < MAX_WRITE_TRIES; attempt += 1) {
        const row = await store.getSchedule(parsed.id)
        if (row === null) {
          const created = await createRow(parsed, true)
          if (created !== undefined) return describedSchedule(created)
          continue
        }
        if (engine.namespace !== undefined && row.namespace !== engine.namespace) {
          throw new ScheduleAlreadyExistsError(parsed.id)
        }
        if (parsed.namespace !== undefined && parsed.namespace !== row.namespace) {
          throw new InvalidScheduleError('namespace', `cannot be changed, it is ${shown(row.namespace)}`)
        }
        const now = engine.now()
        if (!fired.has(row.nextWindow)) {
          fired.add(row.nextWindow)
          if (await fireFirst(row, parsed, now)) continue
        }
        const change = await changed(row, parsed, now)
        if (change === undefined) return describedSchedule(row)
        const patch = { ...change.patch, updatedAt: now }
        const result = await moveOn(engine, row, {
          patch,
          decisions: change.decisions ?? [],
          absent: absentWith(row, change.decisions),
        })
        if (result === 'moved') return describedSchedule({ ...row, ...patch })
      }
      throw new ScheduleContentionError(parsed.id)
    },

    async pause(id, note) {
      const text = noteOf(note)
      const row = await rewrite(id, async (current, now) => {
        if (current.paused)
          return text === undefined || text === current.note ? undefined : { patch: { note: text } }
        const patch = { ...placedAt(current, null), finished: current.finished, paused: true }
        const decisions = [
          ...(await superseded(engine, current, now, 'paused')),
          decided(current, 'paused', now, { reason: text ?? null }),
        ]
        return { patch: { ...patch, ...(text !== undefined && { note: text }) }, decisions }
      })
      return describedSchedule(row)
    },

    async resume(id) {
      const row = await rewrite(id, async (current, now) => {
        if (!current.paused || current.finished) return undefined
        const failures = await failuresAtResume(engine, current)
        const patch = { ...(await placedFromNow(current, now)), paused: false, failures }
        return { patch, decisions: [decided(current, 'resumed', now, {})] }
      })
      return describedSchedule(row)
    },

    async trigger(id) {
      const row = await found(id)
      const now = engine.now()
      const run = runRowOf(row, 'handler', { window: now, manual: true, now, status: 'queued' })
      const started = await runs.startRow(run, row.definition.concurrency?.limit)
      // Deleted while the run was started: nothing else would remove it.
      if ((await store.getSchedule(row.id)) === null)
        await engine.write(() => store.updateRun(run.id, { expiresAt: now + RUN_AGE_MS }))
      if (engine.registered(row.workflow)?.kind === 'workflow') await oldestRefreshed(engine, row, now, 2)
      await engine.write(() => store.trim(row.id, { runs: engine.keptRuns, decisions: engine.keptDecisions }))
      return started
    },

    async get(id) {
      const row = await find(id)
      return row === null ? null : describedSchedule(row)
    },

    async list(filter = {}) {
      const { limit = DEFAULT_PAGE, offset = 0, cursor, ...rest } = filterOf(filter, PAGED_FILTERS)
      const size = pageSizeOf(limit)
      if (!Number.isSafeInteger(offset) || offset < 0 || offset > MAX_OFFSET) {
        throw new InvalidScheduleError(
          'offset',
          `must be an integer from 0 to ${MAX_OFFSET}, got ${shown(offset)}`,
        )
      }
      const after = cursor === undefined ? undefined : keyOf<Key>(cursor, LIST_KEY)
      const rows = await store.listSchedules({ ...queryOf(engine, rest), offset, after, limit: size + 1 })
      const page = rows.slice(0, size)
      const last = page.at(-1)
      const next = rows.length > size && last !== undefined ? cursorOf(listKey(last)) : null
      return pageOf(page.map(describedSchedule), next)
    },

    async count(filter = {}) {
      return store.countSchedules(queryOf(engine, filterOf(filter, FILTERS)))
    },

    async delete(id) {
      const row = await find(id)
      if (row === null) return false
      return engine.write(() => store.deleteSchedule(row.id, undefined, engine.now() + RUN_AGE_MS))
    },

    async preview(idOrDefinition, options = {}) {
      const { count = DEFAULT_PREVIEW } = objectOf('options', options, new Set(['count'] as const)) as {
        count?: number
      }
      if (!Number.isSafeInteger(count) || count < 1 || count > MAX_PREVIEW) {
        throw new InvalidScheduleError(
          'count',
          `must be an integer from 1 to ${MAX_PREVIEW}, got ${shown(count)}`,
        )
      }
      const now = engine.now()
      const isStored = typeof idOrDefinition === 'string'
      const parsed = isStored ? undefined : parse(idOrDefinition)
      const row = parsed === undefined ? await found(idOrDefinition) : newRow(engine, parsed, now)
      if (parsed !== undefined) checkJitter(parsed.definition, now)
      const isPlaced = row.nextWindow !== null
      const after = isStored && !isPlaced ? await lastDecided(engine, row) : 0
      return windowsOf(row, Math.max(now, after), count)
    },

    async history(id, options = {}) {
      const { limit = DEFAULT_PAGE } = objectOf('options', options, new Set(['limit'] as const)) as {
        limit?: number
      }
      return historyOf(engine, await found(id), pageSizeOf(limit))
    },
  }
}

interface Change {
  readonly patch: SchedulePatch
  readonly decisions?: readonly DecisionRow[]
}
