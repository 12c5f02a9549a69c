import type { DecisionRow } from '../store.ts'
import { ALWAYS, type Statement } from './clauses.ts'

export function insertDecision(row: DecisionRow, condition: Statement = ALWAYS): Statement {
  const { scheduleId, decision, scheduledTime, from, to, decidedAt, reason } = row
  return {
    sql: `INSERT INTO durable_decisions (schedule_id, n, decision, scheduled_time, from_time, to_time, decided_at, reason)
      SELECT ?, coalesce((SELECT max(n) FROM durable_decisions WHERE schedule_id = ?), 0) + 1, ?, ?, ?, ?, ?, ?
      WHERE ${condition.sql}`,
    bindings: [
      scheduleId,
      scheduleId,
      decision,
      scheduledTime,
      from,
      to,
      decidedAt,
      reason,
      ...condition.bindings,
    ],
  }
}

export function listDecisions(scheduleId: string, limit: number): Statement {
  return {
    sql: 'SELECT * FROM durable_decisions WHERE schedule_id = ? ORDER BY n DESC LIMIT ?',
    bindings: [scheduleId, limit],
  }
}

/** Numbers are dense, so those over the bound are known from the last one. */
export function trimDecisions(scheduleId: string, kept: number): Statement {
  return {
    sql: `DELETE FROM durable_decisions WHERE schedule_id = ?
      AND n <= (SELECT max(n) FROM durable_decisions WHERE schedule_id = ?) - ?`,
    bindings: [scheduleId, scheduleId, kept],
  }
}
