import { check } from '../core/checks.ts'
import type { ObjectStorage } from '../core/state.ts'
import { decisionRow, runRow, type SqlValue, type StoredColumns, scheduleRow } from './sql/rows.ts'
import { isTableMissing, NEVER_AT, SCHEMA } from './sql/schema.ts'
import * as sql from './sql/statements.ts'
import type { FireResult, FireUnit, RunQuery, RunRow, ScheduleStore } from './store.ts'
import { comparedText } from './text-order.ts'

export interface SqlStoreOptions {
  /** Creates the tables on the first use. Without it the migration file of the package does. Default true. */
  readonly autoSchema?: boolean
}

/**
 * Keeps schedules, runs and decisions in a Durable Object's SQLite: handlers run in the object, and a scheduler can drive
 * the engine. One object holds 100,000 schedules.
 *
 * @throws TypeError for what is no storage of an object with SQLite.
 */
export function durableObjectStore(storage: ObjectStorage, options: SqlStoreOptions = {}): ScheduleStore {
  check('storage', storage, 'object')
  check('storage.sql', storage.sql, 'object')
  const { autoSchema = true } = options
  check('options.autoSchema', autoSchema, 'boolean')

  const exec = ({ sql: text, bindings }: sql.Statement) =>
    storage.sql.exec<Record<string, SqlValue>>(text, ...bindings)

  const createSchema = () => {
    for (const statement of SCHEMA) storage.sql.exec(statement)
  }

  /** Reads to the end; nothing when the tables are not there. */
  const rows = (statement: sql.Statement): StoredColumns[] => {
    try {
      // Rows of these tables.
      return exec(statement).toArray() as unknown as StoredColumns[]
    } catch (error) {
      if (isTableMissing(error)) return []
      throw error
    }
  }

  /** Rows that were changed, or index rows: more than none when the statement changed anything. */
  const write = (statement: sql.Statement): number => exec(statement).rowsWritten

  /** All of it or nothing; in tables that are made when they are not there. */
  const unit = <T>(work: () => T): T => {
    try {
      return storage.transactionSync(work)
    } catch (error) {
      if (!autoSchema || !isTableMissing(error)) throw error
      return storage.transactionSync(() => {
        createSchema()
        return work()
      })
    }
  }

  const countOf = (statement: sql.Statement) => Number(rows(statement)[0]?.count ?? 0)

  const listRuns = (query: RunQuery): RunRow[] => {
    const phases = sql.phasesOf(query)
    const lists = phases.map((phase) => rows(sql.listRuns(query, phase)).map(runRow))
    return lists.length === 1 ? (lists[0] ?? []) : lists.flat().sort(newestFirst).slice(0, query.limit)
  }

  const writeDecisions = ({
    scheduleId,
    decisions = [],
    retention,
  }: Omit<FireUnit, 'expected' | 'patch'>) => {
    for (const decision of decisions) write(sql.insertDecision(decision))
    if (decisions.length > 0) write(sql.trimDecisions(scheduleId, retention.decisions))
  }

  /** At most two, so that it costs the same every time. Answers how many. */
  const removeOldestRuns = (scheduleId: string, keptId: SqlValue, count: number): number => {
    let removed = 0
    while (removed < Math.min(count, 2) && write(sql.removeOldestRun(scheduleId, keptId)) > 0) removed += 1
    return removed
  }

  /** Whether the run is there now and was not counted before. */
  const writeRun = (run: NonNullable<FireUnit['run']>): 'counted' | 'known' | 'over_limit' => {
    if ('insert' in run) {
      if (write(sql.insertRun({ ...run.insert, counted: true }, { limit: run.limit })) > 0) return 'counted'
      if (rows(sql.selectRun(run.insert.id)).length === 0) return 'over_limit'
      return write(sql.countRun(run.insert.id, {})) > 0 ? 'counted' : 'known'
    }
    return write(sql.countRun(run.started, run.patch)) > 0 ? 'counted' : 'known'
  }

  const fire = (unitOf: FireUnit): FireResult => {
    const { scheduleId, expected, absent, patch, run, retention } = unitOf
    const [stored] = rows(sql.selectSchedule(scheduleId))
    const isExpected =
      stored?.writes === expected.writes && stored.next_fire_at === (expected.nextFireAt ?? NEVER_AT)
    if (stored === undefined || !isExpected) return 'lost'
    if (absent !== undefined && rows(sql.selectRun(absent)).length > 0) return 'lost'
    const written = run === undefined ? 'known' : writeRun(run)
    if (written === 'over_limit') return 'over_limit'
    const fires = written === 'counted' ? 1 : 0
    let kept = Number(stored.kept_runs) + fires
    if (fires > 0) kept -= removeOldestRuns(scheduleId, patch.lastRunId ?? null, kept - retention.runs)
    if (patch.definition !== undefined) sql.writeTags(scheduleId, patch.definition.tags).forEach(write)
    writeDecisions(unitOf)
    write(sql.updateSchedule(patch, sql.asExpected(scheduleId, undefined), { kept_runs: kept }, fires))
    return 'moved'
  }

  return {
    name: 'durable object',
    boundTo: storage,

    saveSchedule: (row) =>
      unit(() => {
        if (write(sql.insertSchedule(row)) === 0) return false
        sql.writeTags(row.id, row.definition.tags).forEach(write)
        return true
      }),
    getSchedule: (id) => rows(sql.selectSchedule(id)).map(scheduleRow)[0] ?? null,
    updateSchedule: (id, patch, expected) =>
      unit(() => {
        if (write(sql.updateSchedule(patch, sql.asExpected(id, expected))) === 0) return false
        if (patch.definition !== undefined) sql.writeTags(id, patch.definition.tags).forEach(write)
        return true
      }),
    deleteSchedule: (id, expected, runsExpireAt) =>
      unit(() => {
        const written = sql.deleteSchedule(id, expected, runsExpireAt).map(write)
        return (written.at(-1) ?? 0) > 0
      }),
    listSchedules: (query) => rows(sql.listSchedules(query)).map(scheduleRow),
    countSchedules: (query) => countOf(sql.countSchedules(query)),
    nextDueAt(namespace) {
      const at = rows(sql.nextDueAt(namespace))[0]?.next_fire_at
      return typeof at === 'number' && at < NEVER_AT ? at : undefined
    },

    saveRun: (row, conditions = {}) =>
      unit(() => {
        if (write(sql.insertRun(row, conditions)) > 0) return 'saved'
        if (rows(sql.selectRun(row.id)).length > 0) return 'exists'
        const { schedule } = conditions
        const isLost =
          schedule !== undefined && countOf(isThere(sql.whileExpected(schedule.id, schedule.expected))) === 0
        return isLost ? 'lost' : 'over_limit'
      }),
    getRun: (id) => rows(sql.selectRun(id)).map(runRow)[0] ?? null,
    updateRun: (id, patch, from) => unit(() => write(sql.updateRun(id, patch, from)) > 0),
    deleteRun: (id) => unit(() => write(sql.deleteRun(id)) > 0),
    listRuns,

    saveDecision: (row) => unit(() => void write(sql.insertDecision(row))),
    listDecisions: (scheduleId, limit) => rows(sql.listDecisions(scheduleId, limit)).map(decisionRow),
    trim: (scheduleId, retention) =>
      unit(() => {
        const [stored] = rows(sql.selectSchedule(scheduleId))
        if (stored === undefined) return
        const count = countOf(sql.countRuns(scheduleId))
        const kept = count - removeOldestRuns(scheduleId, stored.last_run_id, count - retention.runs)
        if (stored.kept_runs !== kept)
          write(sql.updateSchedule({}, sql.asExpected(scheduleId, undefined), { kept_runs: kept }))
        write(sql.trimDecisions(scheduleId, retention.decisions))
      }),
    removeExpiredRuns: (now, limit) =>
      rows(sql.lastExpired(now)).length === 0 ? 0 : unit(() => write(sql.removeExpired(now, limit))),
    lastWindow(scheduleId) {
      const window = rows(sql.lastWindow(scheduleId))[0]?.scheduled_time
      return typeof window === 'number' ? window : null
    },

    sync: () => storage.sync(),
    fire: (unitOf) => unit(() => fire(unitOf)),
    countFire: (scheduleId, runId, window) =>
      unit(() => {
        if (write(sql.countWindow(scheduleId, runId, window)) === 0) return false
        return write(sql.countRun(runId, {})) > 0
      }),
  }
}

function isThere({ sql: text, bindings }: sql.Statement): sql.Statement {
  return { sql: `SELECT count(*) AS count WHERE ${text}`, bindings }
}

/** The order of all phases put together. */
export function newestFirst(one: RunRow, other: RunRow): number {
  return other.createdAt - one.createdAt || comparedText(other.id, one.id)
}
