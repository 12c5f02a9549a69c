import {
  LIVE_STATUSES,
  type RunConditions,
  type RunPatch,
  type RunQuery,
  type RunRow,
  type StoredRunStatus,
} from '../store.ts'
import { ALWAYS, all, equal, insert, type Statement, when } from './clauses.ts'
import { whileExpected } from './conditions.ts'
import { runColumns, runKey, runPatchColumns, type SqlValue } from './rows.ts'
import { PHASES, type Phase } from './schema.ts'

export function insertRun(run: RunRow, { limit, schedule }: RunConditions = {}): Statement {
  const condition = all(
    when(schedule, ({ id, expected }) => whileExpected(id, expected)),
    when(run.concurrencyKey === null ? undefined : limit, (most) => ({
      sql: '(SELECT count(*) FROM durable_runs WHERE concurrency_key = ? AND phase < 2) < ?',
      bindings: [run.concurrencyKey, most],
    })),
  )
  return insert('durable_runs', runColumns(run), condition)
}

export function selectRun(id: string): Statement {
  const { sql, bindings } = equal(runKey(id))
  return { sql: `SELECT * FROM durable_runs WHERE ${sql}`, bindings }
}

/** A status that belongs to another phase moves the run there. */
export function updateRun(
  id: string,
  patch: RunPatch,
  from: readonly StoredRunStatus[] | undefined,
): Statement {
  const columns = Object.entries(runPatchColumns(patch))
  const key = equal(runKey(id))
  const assignments = [...columns.map(([column]) => `${column} = ?`), ...phaseAfter(patch.status, from)]
  return {
    sql: `UPDATE durable_runs SET ${assignments.join(', ') || 'status = status'}
      WHERE ${key.sql} ${from === undefined ? '' : `AND status IN (${from.map(() => '?').join()})`}`,
    bindings: [...columns.map(([, value]) => value), ...key.bindings, ...(from ?? [])],
  }
}

/** Assignments; none where the phase stays, for the index would be written for nothing. */
function phaseAfter(status: StoredRunStatus | undefined, from?: readonly StoredRunStatus[]): string[] {
  if (status === undefined || status === 'queued' || status === 'starting') return []
  if (status !== 'running') return [`phase = ${PHASES.over}`, 'order_rank = 0', 'order_at = created_at']
  // A run that waits is a handler's: it starts here.
  if (from?.every((one) => one === 'queued')) return []
  return [
    `phase = CASE kind WHEN 'handler' THEN phase ELSE ${PHASES.outside} END`,
    "order_rank = CASE kind WHEN 'handler' THEN order_rank ELSE 0 END",
    "order_at = CASE kind WHEN 'handler' THEN order_at ELSE created_at END",
  ]
}

/** Marks the window's run as counted, and as started when it was not yet known to be; not when it is counted already. */
export function countRun(id: string, patch: RunPatch, condition: Statement = ALWAYS): Statement {
  const columns = Object.entries(runPatchColumns(patch))
  const key = equal(runKey(id))
  const whileStarting = (assignment: string) => {
    const [column = '', value = ''] = assignment.split(' = ')
    return `${column} = CASE status WHEN 'starting' THEN ${value} ELSE ${column} END`
  }
  const assignments = [
    ...columns.map(([column]) => whileStarting(`${column} = ?`)),
    ...phaseAfter(patch.status).map(whileStarting),
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

/** Runs of one phase in the order of the index, or those of a schedule or of a concurrency key, which are few. */
export function listRuns(query: RunQuery, phase: Phase | undefined): Statement {
  const { scheduleId, workflow, tag, namespace, status, concurrencyKey, kind, order, after, limit } = query
  const isByCreation = phase === PHASES.outside || phase === PHASES.over
  const where = all(
    when(phase, (is) => ({ sql: `phase = ${is}${isByCreation ? ' AND order_rank = 0' : ''}`, bindings: [] })),
    when(scheduleId, (id) => ({ sql: 'schedule_id = ?', bindings: [id] })),
    when(concurrencyKey, (key) => ({
      sql: `concurrency_key = ?${isLiveOnly(query) ? ' AND phase < 2' : ''}`,
      bindings: [key],
    })),
    when(namespace, (name) => ({ sql: 'namespace = ?', bindings: [name] })),
    when(workflow, (name) => ({ sql: 'workflow = ?', bindings: [name] })),
    when(kind, (is) => ({ sql: 'kind = ?', bindings: [is] })),
    when(status, (those) => ({ sql: `status IN (${those.map(() => '?').join()})`, bindings: those })),
    when(tag, (name) => ({ sql: '? IN (SELECT value FROM json_each(tags))', bindings: [name] })),
    when(after, ({ createdAt, id }) => ({ sql: '(created_at, id) < (?, ?)', bindings: [createdAt, id] })),
    // The same for the index to begin at.
    when(isByCreation ? after : undefined, ({ createdAt }) => ({
      sql: 'order_at <= ?',
      bindings: [createdAt],
    })),
  )
  const byTime = isByCreation ? 'order_at DESC, id DESC' : 'created_at DESC, id DESC'
  const by =
    order === 'queue' ? 'order_rank, order_at, created_at, schedule_id, scheduled_time, name' : byTime
  return {
    sql: `SELECT * FROM durable_runs WHERE ${where.sql} ORDER BY ${by} LIMIT ?`,
    bindings: [...where.bindings, limit],
  }
}

/** The phases that a query is about; `undefined` where another key leads to few runs. */
export function phasesOf(query: RunQuery): readonly (Phase | undefined)[] {
  const { status, order, scheduleId, concurrencyKey, kind } = query
  const isLive = isLiveOnly(query)
  if (scheduleId !== undefined || (concurrencyKey !== undefined && isLive)) return [undefined]
  if (order === 'queue') return [PHASES.here]
  const isAsked = (those: readonly StoredRunStatus[]) => status?.some((one) => those.includes(one)) ?? true
  return [
    ...(isAsked(LIVE_STATUSES) ? [PHASES.here] : []),
    ...(isAsked(['running']) && kind !== 'handler' ? [PHASES.outside] : []),
    ...(isLive ? [] : [PHASES.over]),
  ]
}

function isLiveOnly({ status }: RunQuery): boolean {
  return status?.every((one) => LIVE_STATUSES.includes(one)) ?? false
}

export function countRuns(scheduleId: string): Statement {
  return { sql: 'SELECT count(*) AS count FROM durable_runs WHERE schedule_id = ?', bindings: [scheduleId] }
}

/** One, for a key is found in one row; a list of keys would be a table of its own first. */
export function removeOldestRun(scheduleId: string, keptId: SqlValue): Statement {
  return {
    sql: `DELETE FROM durable_runs WHERE schedule_id = ? AND (scheduled_time, name) = (
      SELECT scheduled_time, name FROM durable_runs WHERE schedule_id = ? AND phase = 2 AND id IS NOT ?
      ORDER BY scheduled_time, name LIMIT 1)`,
    bindings: [scheduleId, scheduleId, keptId],
  }
}

/** The same for a store that cannot look in between: as many as are over the bound, at most two. */
export function trimRuns(scheduleId: string, kept: number): Statement {
  return {
    sql: `DELETE FROM durable_runs WHERE schedule_id = ? AND (scheduled_time, name) IN (
      SELECT scheduled_time, name FROM durable_runs WHERE schedule_id = ? AND phase = 2
      AND id IS NOT (SELECT last_run_id FROM durable_schedules WHERE id = ?)
      ORDER BY scheduled_time, name
      LIMIT max(0, min(2, (SELECT count(*) FROM durable_runs WHERE schedule_id = ?) - ?)))`,
    bindings: [scheduleId, scheduleId, scheduleId, scheduleId, kept],
  }
}

/** `+` keeps to the index of what expires: that of the phases would lead through all that is over. */
export function removeExpired(now: number, limit: number): Statement {
  return {
    sql: `DELETE FROM durable_runs WHERE (schedule_id, scheduled_time, name) IN (
      SELECT schedule_id, scheduled_time, name FROM durable_runs
      WHERE expires_at IS NOT NULL AND expires_at <= ? AND +phase = 2 ORDER BY expires_at LIMIT ?)`,
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
