import {
  LIVE_STATUSES,
  type RunConditions,
  type RunPatch,
  type RunQuery,
  type RunRow,
  type StoredRunStatus,
} from '../store.ts'
import { ALWAYS, all, equal, insert, type Statement, set, when } from './clauses.ts'
import { whileExpected } from './conditions.ts'
import { runColumns, runKey, runPatchColumns } from './rows.ts'

export function insertRun(run: RunRow, { limit, schedule }: RunConditions = {}): Statement {
  const condition = all(
    when(schedule, ({ id, expected }) => whileExpected(id, expected)),
    when(run.concurrencyKey === null ? undefined : limit, (most) => ({
      sql: '(SELECT count(*) FROM durable_runs WHERE concurrency_key = ? AND over = 0) < ?',
      bindings: [run.concurrencyKey, most],
    })),
  )
  return insert('durable_runs', runColumns(run), condition)
}

export function selectRun(id: string): Statement {
  const { sql, bindings } = equal(runKey(id))
  return { sql: `SELECT * FROM durable_runs WHERE ${sql}`, bindings }
}

/** A run that is over leaves the order of those that are not. */
export function updateRun(
  id: string,
  patch: RunPatch,
  from: readonly StoredRunStatus[] | undefined,
): Statement {
  const columns = set(runPatchColumns(patch))
  const key = equal(runKey(id))
  const isOver = patch.status !== undefined && !LIVE_STATUSES.includes(patch.status)
  return {
    sql: `UPDATE durable_runs SET ${columns.sql === '' ? 'status = status' : columns.sql}
      ${isOver ? ', over = 1, order_rank = 0, order_at = created_at' : ''}
      WHERE ${key.sql} ${from === undefined ? '' : 'AND status IN (SELECT value FROM json_each(?))'}`,
    bindings: [...columns.bindings, ...key.bindings, ...(from === undefined ? [] : [JSON.stringify(from)])],
  }
}

/** Marks the window's run as counted, and as started when it was not yet known to be; not when it is counted already. */
export function countRun(id: string, patch: RunPatch, condition: Statement = ALWAYS): Statement {
  const columns = Object.entries(runPatchColumns(patch))
  const key = equal(runKey(id))
  const isOver = patch.status !== undefined && !LIVE_STATUSES.includes(patch.status)
  const order = isOver ? { over: 1, order_rank: 0, order_at: 'created_at' } : {}
  const assignments = [
    ...columns.map(([column]) => `${column} = CASE status WHEN 'starting' THEN ? ELSE ${column} END`),
    ...Object.entries(order).map(
      ([column, value]) => `${column} = CASE status WHEN 'starting' THEN ${value} ELSE ${column} END`,
    ),
    'counted = 1',
  ]
  return {
    sql: `UPDATE durable_runs SET ${assignments.join(', ')} WHERE ${key.sql} AND counted = 0 AND ${condition.sql}`,
    bindings: [...columns.map(([, value]) => value), ...key.bindings, ...condition.bindings],
  }
}

export function deleteRun(id: string): Statement {
  const { sql, bindings } = equal(runKey(id))
  return { sql: `DELETE FROM durable_runs WHERE ${sql} AND status = 'starting'`, bindings }
}

/** Live ones in the order in which they start, or those of a key or schedule, or of one side of the order, newest first. */
export function listRuns(query: RunQuery, over: boolean | undefined): Statement {
  const { scheduleId, workflow, tag, namespace, status, concurrencyKey, kind, order, after, limit } = query
  const where = all(
    when(over, (is) => ({ sql: 'over = ?', bindings: [Number(is)] })),
    when(over === true ? true : undefined, () => ({ sql: 'order_rank = 0', bindings: [] })),
    when(scheduleId, (id) => ({ sql: 'schedule_id = ?', bindings: [id] })),
    when(concurrencyKey, (key) => ({ sql: 'concurrency_key = ?', bindings: [key] })),
    when(namespace, (name) => ({ sql: 'namespace = ?', bindings: [name] })),
    when(workflow, (name) => ({ sql: 'workflow = ?', bindings: [name] })),
    when(kind, (is) => ({ sql: 'kind = ?', bindings: [is] })),
    when(status, (those) => ({
      sql: 'status IN (SELECT value FROM json_each(?))',
      bindings: [JSON.stringify(those)],
    })),
    when(tag, (name) => ({ sql: '? IN (SELECT value FROM json_each(tags))', bindings: [name] })),
    when(after, ({ createdAt, id }) => ({ sql: '(created_at, id) < (?, ?)', bindings: [createdAt, id] })),
    // The same for the index: it knows no `created_at`.
    when(over === true ? after : undefined, ({ createdAt }) => ({
      sql: 'order_at <= ?',
      bindings: [createdAt],
    })),
  )
  const byTime = over === true ? 'order_at DESC, id DESC' : 'created_at DESC, id DESC'
  const by = order === 'queue' ? 'order_rank, order_at, created_at, id' : byTime
  return {
    sql: `SELECT * FROM durable_runs WHERE ${where.sql} ORDER BY ${by} LIMIT ?`,
    bindings: [...where.bindings, limit],
  }
}

/** Which side of the order a query can be answered from; both when it asks for neither in particular. */
export function sidesOf({ status, order, scheduleId }: RunQuery): readonly (boolean | undefined)[] {
  if (scheduleId !== undefined) return [undefined]
  const isLive = status?.every((one) => LIVE_STATUSES.includes(one)) ?? false
  if (isLive || order === 'queue') return [false]
  const isOver = status?.every((one) => !LIVE_STATUSES.includes(one)) ?? false
  return isOver ? [true] : [false, true]
}

export function countRuns(scheduleId: string): Statement {
  return { sql: 'SELECT count(*) AS count FROM durable_runs WHERE schedule_id = ?', bindings: [scheduleId] }
}

export function removeOldestRuns(scheduleId: string, keptId: string | null, count: number): Statement {
  return {
    sql: `DELETE FROM durable_runs WHERE schedule_id = ? AND (scheduled_time, name) IN (
      SELECT scheduled_time, name FROM durable_runs WHERE schedule_id = ? AND over = 1 AND id IS NOT ?
      ORDER BY scheduled_time, name LIMIT ?)`,
    bindings: [scheduleId, scheduleId, keptId, count],
  }
}

/** The same for a store that cannot look in between: as many as are over the bound, at most two. */
export function trimRuns(scheduleId: string, kept: number): Statement {
  return {
    sql: `DELETE FROM durable_runs WHERE schedule_id = ? AND (scheduled_time, name) IN (
      SELECT scheduled_time, name FROM durable_runs WHERE schedule_id = ? AND over = 1
      AND id IS NOT (SELECT last_run_id FROM durable_schedules WHERE id = ?)
      ORDER BY scheduled_time, name
      LIMIT max(0, min(2, (SELECT count(*) FROM durable_runs WHERE schedule_id = ?) - ?)))`,
    bindings: [scheduleId, scheduleId, scheduleId, scheduleId, kept],
  }
}

export function removeExpired(now: number, limit: number): Statement {
  return {
    sql: `DELETE FROM durable_runs WHERE (schedule_id, scheduled_time, name) IN (
      SELECT schedule_id, scheduled_time, name FROM durable_runs
      WHERE expires_at IS NOT NULL AND expires_at <= ? AND over = 1 ORDER BY expires_at LIMIT ?)`,
    bindings: [now, limit],
  }
}

export function lastWindow(scheduleId: string): Statement {
  return {
    sql: `SELECT scheduled_time FROM durable_runs WHERE schedule_id = ? AND name = ''
      ORDER BY scheduled_time DESC LIMIT 1`,
    bindings: [scheduleId],
  }
}

/** Whether anything has expired: one row read of the index. */
export function lastExpired(now: number): Statement {
  return {
    sql: 'SELECT expires_at FROM durable_runs WHERE expires_at IS NOT NULL AND expires_at <= ? LIMIT 1',
    bindings: [now],
  }
}
