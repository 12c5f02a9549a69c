import type {
  DecisionRow,
  ExpectedSchedule,
  FireUnit,
  Retention,
  RunConditions,
  RunQuery,
  RunRow,
  ScheduleKey,
  SchedulePatch,
  ScheduleQuery,
  ScheduleRow,
  ScheduleStore,
} from './store.ts'
import { LIVE_STATUSES } from './store.ts'
import { comparedText } from './text-order.ts'

/**
 * Keeps everything in memory: for tests, and for schedules that may be forgotten with the process. Its answers are
 * copies, as a database's are.
 */
export function memoryStore(): ScheduleStore {
  const schedules = new Map<string, ScheduleRow>()
  const runs = new Map<string, RunRow>()
  /** Of each schedule, oldest first. */
  const decisions = new Map<string, DecisionRow[]>()

  const isAsExpected = (row: ScheduleRow | undefined, expected: ExpectedSchedule | undefined) =>
    row !== undefined &&
    (expected === undefined || (row.nextFireAt === expected.nextFireAt && row.writes === expected.writes))

  const write = (id: string, patch: SchedulePatch, fires = 0) => {
    const row = schedules.get(id)
    if (row === undefined) return
    schedules.set(id, copy({ ...row, ...patch, fires: row.fires + fires, writes: row.writes + 1 }))
  }

  const isOverLimit = (row: RunRow, limit: number | undefined) => {
    if (limit === undefined || row.concurrencyKey === null) return false
    const live = [...runs.values()].filter((run) => run.concurrencyKey === row.concurrencyKey && isLive(run))
    return live.length >= limit
  }

  const runsOf = (scheduleId: string) =>
    [...runs.values()].filter((run) => run.scheduleId === scheduleId).sort(newestFirst)

  const trim = (scheduleId: string, retention: Retention) => {
    const keptId = schedules.get(scheduleId)?.lastRunId
    const finished = runsOf(scheduleId).filter((run) => !isLive(run) && run.id !== keptId)
    const others = runsOf(scheduleId).length - finished.length
    const room = Math.max(retention.runs - others, 0)
    for (const run of finished.slice(room).reverse().slice(0, 2)) runs.delete(run.id)
    const list = decisions.get(scheduleId) ?? []
    list.splice(0, Math.min(Math.max(list.length - retention.decisions, 0), 2))
  }

  const saveDecision = (row: DecisionRow) => {
    const list = decisions.get(row.scheduleId) ?? []
    list.push(copy(row))
    decisions.set(row.scheduleId, list)
  }

  const saveRun = (row: RunRow, { limit, schedule }: RunConditions = {}) => {
    if (runs.has(row.id)) return 'exists'
    if (schedule !== undefined && !isAsExpected(schedules.get(schedule.id), schedule.expected)) return 'lost'
    if (isOverLimit(row, limit)) return 'over_limit'
    runs.set(row.id, copy(row))
    return 'saved'
  }

  const store: ScheduleStore = {
    name: 'memory',
    boundTo: schedules,

    saveSchedule(row) {
      if (schedules.has(row.id)) return false
      schedules.set(row.id, copy(row))
      return true
    },
    getSchedule: (id) => copy(schedules.get(id) ?? null),
    updateSchedule(id, patch, expected) {
      if (!isAsExpected(schedules.get(id), expected)) return false
      write(id, patch)
      return true
    },
    deleteSchedule(id, expected, runsExpireAt) {
      if (!isAsExpected(schedules.get(id), expected)) return false
      schedules.delete(id)
      decisions.delete(id)
      for (const run of runsOf(id)) runs.set(run.id, { ...run, expiresAt: runsExpireAt })
      return true
    },
    listSchedules(query) {
      const { after, offset = 0, limit } = query
      const rows = [...schedules.values()].filter((row) => matches(row, query)).sort(inListOrder)
      const rest = after === undefined ? rows : rows.filter((row) => inListOrder(row, after) > 0)
      return copy(rest.slice(offset, offset + limit))
    },
    countSchedules: (query) => [...schedules.values()].filter((row) => matches(row, query)).length,
    nextDueAt(namespace) {
      let at: number | undefined
      for (const row of schedules.values()) {
        if (row.paused || row.nextFireAt === null) continue
        if (namespace !== undefined && row.namespace !== namespace) continue
        at = Math.min(at ?? row.nextFireAt, row.nextFireAt)
      }
      return at
    },

    saveRun,
    getRun: (id) => copy(runs.get(id) ?? null),
    updateRun(id, patch, from) {
      const run = runs.get(id)
      if (run === undefined || (from !== undefined && !from.includes(run.status))) return false
      runs.set(id, copy({ ...run, ...patch }))
      return true
    },
    deleteRun: (id) => runs.get(id)?.status === 'starting' && runs.delete(id),
    listRuns(query) {
      const order = query.order === 'queue' ? inQueueOrder : newestFirst
      const rows = [...runs.values()].filter((run) => matchesRun(run, query)).sort(order)
      const { after } = query
      const rest = after === undefined ? rows : rows.filter((run) => newestFirst(run, after) > 0)
      return copy(rest.slice(0, query.limit))
    },

    saveDecision,
    listDecisions: (scheduleId, limit) => copy((decisions.get(scheduleId) ?? []).slice(-limit).reverse()),
    trim,
    removeExpiredRuns(now, limit) {
      const expired = [...runs.values()].filter(
        (run) => !isLive(run) && run.expiresAt !== null && run.expiresAt <= now,
      )
      for (const run of expired.slice(0, limit)) runs.delete(run.id)
      return Math.min(expired.length, limit)
    },
    lastWindow(scheduleId) {
      const windows = runsOf(scheduleId).filter((run) => !run.manual)
      return windows.reduce<number | null>((last, run) => Math.max(last ?? 0, run.scheduledTime ?? 0), null)
    },

    fire({ scheduleId, expected, absent, patch, run, decisions: told = [], retention }: FireUnit) {
      if (!isAsExpected(schedules.get(scheduleId), expected)) return 'lost'
      if (absent !== undefined && runs.has(absent)) return 'lost'
      let fires = 0
      if (run !== undefined && 'insert' in run) {
        const saved = saveRun(run.insert, { limit: run.limit })
        if (saved === 'over_limit') return 'over_limit'
      }
      const runId = run === undefined ? undefined : 'insert' in run ? run.insert.id : run.started
      const stored = runId === undefined ? undefined : runs.get(runId)
      if (run !== undefined && stored !== undefined) {
        if (!stored.counted) fires = 1
        const isStarting = 'started' in run && stored.status === 'starting'
        runs.set(stored.id, { ...stored, ...(isStarting && run.patch), counted: true })
      }
      write(scheduleId, patch, fires)
      for (const decision of told) saveDecision(decision)
      trim(scheduleId, retention)
      return 'moved'
    },
    countFire(scheduleId, runId, window) {
      const run = runs.get(runId)
      const row = schedules.get(scheduleId)
      if (run === undefined || row === undefined || run.counted) return false
      runs.set(runId, { ...run, counted: true })
      const isLater = window > (row.lastFireAt ?? -1)
      write(scheduleId, isLater ? { lastFireAt: window, lastRunId: runId } : {}, 1)
      return true
    },
  }
  return store
}

function copy<T>(value: T): T {
  return structuredClone(value)
}

function isLive({ status }: RunRow): boolean {
  return LIVE_STATUSES.includes(status)
}

function matches(row: ScheduleRow, query: Omit<ScheduleQuery, 'limit'>): boolean {
  const { namespace, workflow, tag, paused, dueBy } = query
  if (namespace !== undefined && row.namespace !== namespace) return false
  if (workflow !== undefined && row.workflow !== workflow) return false
  if (tag !== undefined && !row.definition.tags.includes(tag)) return false
  if (paused !== undefined && row.paused !== paused) return false
  if (dueBy === undefined) return true
  return !row.paused && row.nextFireAt !== null && row.nextFireAt <= dueBy
}

function matchesRun(run: RunRow, query: RunQuery): boolean {
  const { scheduleId, workflow, tag, namespace, status, concurrencyKey, kind } = query
  if (scheduleId !== undefined && run.scheduleId !== scheduleId) return false
  if (workflow !== undefined && run.workflow !== workflow) return false
  if (tag !== undefined && !run.tags.includes(tag)) return false
  if (namespace !== undefined && run.namespace !== namespace) return false
  if (status !== undefined && !status.includes(run.status)) return false
  if (concurrencyKey !== undefined && run.concurrencyKey !== concurrencyKey) return false
  return kind === undefined || run.kind === kind
}

function inListOrder(one: ScheduleKey, other: ScheduleKey): number {
  return (
    Number(one.paused) - Number(other.paused) ||
    compared(one.nextFireAt ?? Number.MAX_SAFE_INTEGER, other.nextFireAt ?? Number.MAX_SAFE_INTEGER) ||
    comparedText(one.id, other.id)
  )
}

type CreatedKey = { readonly createdAt: number; readonly id: string }

function newestFirst(one: CreatedKey, other: CreatedKey): number {
  return compared(other.createdAt, one.createdAt) || comparedText(other.id, one.id)
}

function inQueueOrder(one: RunRow, other: RunRow): number {
  return (
    compared(other.priority, one.priority) ||
    compared(one.scheduledTime ?? one.createdAt, other.scheduledTime ?? other.createdAt) ||
    compared(one.createdAt, other.createdAt) ||
    comparedText(one.id, other.id)
  )
}

function compared(one: number, other: number): number {
  return one - other
}
