import { check } from '../core/checks.ts'
import { newestFirst, type SqlStoreOptions } from './durable-object-store.ts'
import { decisionRow, runRow, type SqlValue, type StoredColumns, scheduleRow } from './sql/rows.ts'
import { isTableMissing, NEVER_AT, SCHEMA } from './sql/schema.ts'
import * as sql from './sql/statements.ts'
import type { FireResult, FireUnit, RunRow, ScheduleStore } from './store.ts'

interface D1ResultLike {
  readonly results: readonly unknown[]
  readonly meta: { readonly changes: number }
}

export interface D1StatementLike {
  bind(...values: SqlValue[]): D1StatementLike
  all(): Promise<D1ResultLike>
}

/** The part of a D1 binding that is used; `D1Database` has this shape. */
export interface D1Like {
  prepare(query: string): D1StatementLike
  batch(statements: D1StatementLike[]): Promise<D1ResultLike[]>
}

/**
 * Keeps schedules, runs and decisions in D1, for any number of Workers that tick it. Each unit is one batch, which D1
 * runs as a transaction. Workflows and `dispatch` only: no Worker could say of another whether its handlers are alive.
 *
 * @throws TypeError for what is no D1 binding.
 */
export function d1Store(database: D1Like, options: SqlStoreOptions = {}): ScheduleStore {
  check('database', database, 'object')
  check('database.prepare', database.prepare, 'function')
  const { autoSchema = true } = options
  check('options.autoSchema', autoSchema, 'boolean')

  const prepared = ({ sql: text, bindings }: sql.Statement) => database.prepare(text).bind(...bindings)

  const rows = async (statement: sql.Statement): Promise<StoredColumns[]> => {
    try {
      const { results } = await prepared(statement).all()
      return results as StoredColumns[] // rows of columns are what D1 answers
    } catch (error) {
      // Without a migration every tick would find nothing due, and nobody would know.
      if (autoSchema && isTableMissing(error)) return []
      throw error
    }
  }

  /** One transaction: rows changed by each statement. */
  const batch = async (...statements: sql.Statement[]): Promise<number[]> => {
    const run = async () => {
      const results = await database.batch(statements.map(prepared))
      return results.map(({ meta }) => meta.changes)
    }
    try {
      return await run()
    } catch (error) {
      if (!autoSchema || !isTableMissing(error)) throw error
      await database.batch(SCHEMA.map((statement) => database.prepare(statement)))
      return run()
    }
  }

  const wrote = async (...statements: sql.Statement[]) => ((await batch(...statements)).at(-1) ?? 0) > 0
  const countOf = async (statement: sql.Statement) => Number((await rows(statement))[0]?.count ?? 0)

  const trims = (scheduleId: string, retention: FireUnit['retention']) => [
    sql.trimRuns(scheduleId, retention.runs),
    sql.trimDecisions(scheduleId, retention.decisions),
  ]

  /** Every statement is on the condition that the row is as it was read; the one that changes that comes after the others. */
  const fire = async (unit: FireUnit): Promise<FireResult> => {
    const { scheduleId, expected, absent, patch, run, decisions = [], retention } = unit
    const condition = sql.whileExpected(scheduleId, expected, absent)
    const statements: sql.Statement[] = []
    if (run !== undefined && 'insert' in run) {
      throw new TypeError('A D1 store holds no runs of handlers')
    }
    if (run !== undefined) {
      statements.push(
        sql.addFire(scheduleId, expected, run.started),
        sql.countRun(run.started, run.patch, condition),
      )
    }
    for (const decision of decisions) statements.push(sql.insertDecision(decision, condition))
    if (patch.definition !== undefined)
      statements.push(...sql.writeTags(scheduleId, patch.definition.tags, condition))
    statements.push(sql.updateSchedule(patch, sql.asExpected(scheduleId, expected, absent)))
    const moves = statements.length - 1
    // In the same batch, so that a failure is one of all of it. Where the move is lost, what is over the bounds goes too.
    if (run !== undefined || decisions.length > 0) statements.push(...trims(scheduleId, retention))
    return ((await batch(...statements))[moves] ?? 0) > 0 ? 'moved' : 'lost'
  }

  return {
    name: 'D1',

    async saveSchedule(row) {
      const [written = 0] = await batch(
        sql.insertSchedule(row),
        // Of the row that is there: it has the tags that it should have, whoever wrote it.
        ...sql.writeTags(row.id, row.definition.tags, sql.whileWritten(row)),
      )
      return written > 0
    },
    async getSchedule(id) {
      return (await rows(sql.selectSchedule(id))).map(scheduleRow)[0] ?? null
    },
    async updateSchedule(id, patch, expected) {
      const condition = sql.whileExpected(id, expected)
      const tags = patch.definition === undefined ? [] : sql.writeTags(id, patch.definition.tags, condition)
      return wrote(...tags, sql.updateSchedule(patch, sql.asExpected(id, expected)))
    },
    async deleteSchedule(id, expected, runsExpireAt) {
      return wrote(...sql.deleteSchedule(id, expected, runsExpireAt))
    },
    async listSchedules(query) {
      return (await rows(sql.listSchedules(query))).map(scheduleRow)
    },
    countSchedules: (query) => countOf(sql.countSchedules(query)),
    async nextDueAt(namespace) {
      const at = (await rows(sql.nextDueAt(namespace)))[0]?.next_fire_at
      return typeof at === 'number' && at < NEVER_AT ? at : undefined
    },

    async saveRun(row, conditions = {}) {
      if (await wrote(sql.insertRun(row, conditions))) return 'saved'
      if ((await rows(sql.selectRun(row.id))).length > 0) return 'exists'
      const { schedule } = conditions
      if (schedule === undefined) return 'over_limit'
      const { sql: text, bindings } = sql.whileExpected(schedule.id, schedule.expected)
      const there = await countOf({ sql: `SELECT count(*) AS count WHERE ${text}`, bindings })
      return there === 0 ? 'lost' : 'over_limit'
    },
    async getRun(id) {
      return (await rows(sql.selectRun(id))).map(runRow)[0] ?? null
    },
    updateRun: (id, patch, from) => wrote(sql.updateRun(id, patch, from)),
    deleteRun: (id) => wrote(sql.deleteRun(id)),
    async listRuns(query) {
      const phases = sql.phasesOf(query)
      const lists = await Promise.all(phases.map((phase) => rows(sql.listRuns(query, phase))))
      const runs: RunRow[] = lists.flat().map(runRow)
      return phases.length === 1 ? runs : runs.sort(newestFirst).slice(0, query.limit)
    },

    async saveDecision(row) {
      await batch(sql.insertDecision(row))
    },
    async listDecisions(scheduleId, limit) {
      return (await rows(sql.listDecisions(scheduleId, limit))).map(decisionRow)
    },
    async trim(scheduleId, retention) {
      await batch(...trims(scheduleId, retention))
    },
    async removeExpiredRuns(now, limit) {
      if ((await rows(sql.lastExpired(now))).length === 0) return 0
      return (await batch(sql.removeExpired(now, limit)))[0] ?? 0
    },
    async lastWindow(scheduleId) {
      const window = (await rows(sql.lastWindow(scheduleId)))[0]?.scheduled_time
      return typeof window === 'number' ? window : null
    },

    fire,
    countFire: (scheduleId, runId, window) =>
      wrote(sql.countWindow(scheduleId, runId, window), sql.countRun(runId, {}, sql.whileThere(scheduleId))),
  }
}
