import type { ExpectedSchedule, ScheduleRow } from '../store.ts'
import { equal, type Statement } from './clauses.ts'
import { runKey } from './rows.ts'
import { NEVER_AT } from './schema.ts'

/** The schedule's row is as it was read, and there is no run of the id that must be absent. */
export function asExpected(id: string, expected: ExpectedSchedule | undefined, absent?: string): Statement {
  if (expected === undefined) return equal({ id })
  const row = equal({ id, next_fire_at: expected.nextFireAt ?? NEVER_AT, writes: expected.writes })
  if (absent === undefined) return row
  const key = equal(runKey(absent))
  return {
    sql: `${row.sql} AND NOT EXISTS (SELECT 1 FROM durable_runs WHERE ${key.sql})`,
    bindings: [...row.bindings, ...key.bindings],
  }
}

/** The same, as a condition of a statement on another table. */
export function whileExpected(
  id: string,
  expected: ExpectedSchedule | undefined,
  absent?: string,
): Statement {
  const { sql, bindings } = asExpected(id, expected, absent)
  return { sql: `EXISTS (SELECT 1 FROM durable_schedules WHERE ${sql})`, bindings }
}

/** The run of a window exists and is not counted. */
export function whileUncounted(id: string): Statement {
  const { sql, bindings } = equal(runKey(id))
  return { sql: `EXISTS (SELECT 1 FROM durable_runs WHERE ${sql} AND counted = 0)`, bindings }
}

export function whileThere(scheduleId: string): Statement {
  return { sql: 'EXISTS (SELECT 1 FROM durable_schedules WHERE id = ?)', bindings: [scheduleId] }
}

/** The row that is stored is this one, and not another that had the id before. */
export function whileWritten(row: ScheduleRow): Statement {
  return {
    sql: `EXISTS (SELECT 1 FROM durable_schedules
      WHERE id = ? AND definition = ? AND created_at = ? AND writes = ?)`,
    bindings: [row.id, JSON.stringify(row.definition), row.createdAt, row.writes],
  }
}
