import type { ExpectedSchedule, ScheduleKey, SchedulePatch, ScheduleQuery, ScheduleRow } from '../store.ts'
import { ALWAYS, all, insert, type Statement, set, when } from './clauses.ts'
import { asExpected, whileExpected, whileUncounted } from './conditions.ts'
import { type Columns, scheduleColumns } from './rows.ts'
import { NEVER_AT } from './schema.ts'

export function insertSchedule(row: ScheduleRow): Statement {
  return insert('durable_schedules', { ...scheduleColumns(row), kept_runs: 0 })
}

export function selectSchedule(id: string): Statement {
  return { sql: 'SELECT * FROM durable_schedules WHERE id = ?', bindings: [id] }
}

/** `also` is SQL for columns that are computed, such as `fires = fires + 1`. */
export function updateSchedule(
  patch: SchedulePatch,
  where: Statement,
  also: Columns = {},
  fires = 0,
): Statement {
  const columns = set({ ...scheduleColumns(patch), ...also })
  const assignments = [
    ...(columns.sql === '' ? [] : [columns.sql]),
    'writes = writes + 1',
    ...(fires === 0 ? [] : ['fires = fires + 1']),
  ]
  return {
    sql: `UPDATE durable_schedules SET ${assignments.join(', ')} WHERE ${where.sql}`,
    bindings: [...columns.bindings, ...where.bindings],
  }
}

/** Makes the tag table say the same as the definition; writes only what differs. */
export function writeTags(id: string, tags: readonly string[], condition: Statement = ALWAYS): Statement[] {
  const list = JSON.stringify(tags)
  return [
    {
      sql: `DELETE FROM durable_schedule_tags WHERE schedule_id = ?
        AND tag NOT IN (SELECT value FROM json_each(?)) AND ${condition.sql}`,
      bindings: [id, list, ...condition.bindings],
    },
    {
      sql: `INSERT OR IGNORE INTO durable_schedule_tags (tag, schedule_id)
        SELECT value, ? FROM json_each(?) WHERE ${condition.sql}`,
      bindings: [id, list, ...condition.bindings],
    },
  ]
}

/** What goes with a schedule, and last the schedule itself. */
export function deleteSchedule(
  id: string,
  expected: ExpectedSchedule | undefined,
  runsExpireAt: number,
): Statement[] {
  const condition = whileExpected(id, expected)
  const row = asExpected(id, expected)
  return [
    {
      sql: `DELETE FROM durable_schedule_tags WHERE schedule_id = ? AND ${condition.sql}`,
      bindings: [id, ...condition.bindings],
    },
    {
      sql: `DELETE FROM durable_decisions WHERE schedule_id = ? AND ${condition.sql}`,
      bindings: [id, ...condition.bindings],
    },
    {
      sql: `UPDATE durable_runs SET expires_at = ? WHERE schedule_id = ? AND ${condition.sql}`,
      bindings: [runsExpireAt, id, ...condition.bindings],
    },
    { sql: `DELETE FROM durable_schedules WHERE ${row.sql}`, bindings: row.bindings },
  ]
}

export function listSchedules(query: ScheduleQuery): Statement {
  const { after, offset = 0, limit } = query
  const { from, condition } = matching(query)
  const where = all(
    condition,
    when(after, (key) => laterThan(key, query)),
  )
  return {
    sql: `SELECT s.* FROM ${from} WHERE ${where.sql} ORDER BY s.paused, s.next_fire_at, s.id LIMIT ? OFFSET ?`,
    bindings: [...where.bindings, limit, offset],
  }
}

/** Where one value of `paused` is asked for, the rest of the key is compared: else the index would begin at its first row. */
function laterThan({ paused, nextFireAt, id }: ScheduleKey, query: ScheduleQuery): Statement {
  const asked = query.dueBy === undefined ? query.paused : false
  const at = nextFireAt ?? NEVER_AT
  if (asked === undefined)
    return { sql: '(s.paused, s.next_fire_at, s.id) > (?, ?, ?)', bindings: [Number(paused), at, id] }
  if (asked !== paused) return { sql: asked ? '1' : '0', bindings: [] }
  return { sql: '(s.next_fire_at, s.id) > (?, ?)', bindings: [at, id] }
}

export function countSchedules(query: Omit<ScheduleQuery, 'limit' | 'offset' | 'after'>): Statement {
  const { from, condition } = matching(query)
  return { sql: `SELECT count(*) AS count FROM ${from} WHERE ${condition.sql}`, bindings: condition.bindings }
}

function matching(query: Omit<ScheduleQuery, 'limit'>): { from: string; condition: Statement } {
  const { namespace, workflow, tag, paused, dueBy } = query
  const isTagged = tag !== undefined
  const condition = all(
    when(dueBy, (at) => ({
      sql: 's.paused = 0 AND s.next_fire_at <= ?',
      bindings: [Math.min(at, NEVER_AT - 1)],
    })),
    when(paused, (is) => ({ sql: 's.paused = ?', bindings: [Number(is)] })),
    when(namespace, (name) => ({ sql: 's.namespace = ?', bindings: [name] })),
    when(workflow, (name) => ({ sql: 's.workflow = ?', bindings: [name] })),
    when(tag, (name) => ({ sql: 't.tag = ?', bindings: [name] })),
  )
  // CROSS: from the tag to its schedules, never through all schedules to those that have it.
  const tagged = 'durable_schedule_tags t CROSS JOIN durable_schedules s ON s.id = t.schedule_id'
  return { from: isTagged ? tagged : 'durable_schedules s', condition }
}

export function nextDueAt(namespace: string | undefined): Statement {
  const condition = all(
    { sql: 'paused = 0', bindings: [] },
    when(namespace, (name) => ({ sql: 'namespace = ?', bindings: [name] })),
  )
  return {
    sql: `SELECT next_fire_at FROM durable_schedules WHERE ${condition.sql} ORDER BY next_fire_at LIMIT 1`,
    bindings: condition.bindings,
  }
}

/** The window is counted; the last fire follows when it is later. */
export function countWindow(scheduleId: string, runId: string, window: number): Statement {
  const uncounted = whileUncounted(runId)
  return {
    sql: `UPDATE durable_schedules SET fires = fires + 1, writes = writes + 1, kept_runs = kept_runs + 1,
      last_run_id = CASE WHEN coalesce(last_fire_at, -1) < ? THEN ? ELSE last_run_id END,
      last_fire_at = max(coalesce(last_fire_at, -1), ?) WHERE id = ? AND ${uncounted.sql}`,
    bindings: [window, runId, window, scheduleId, ...uncounted.bindings],
  }
}

/** Counts a window whose run is not counted yet, without a change of what others compare: that is another statement's. */
export function addFire(scheduleId: string, expected: ExpectedSchedule, runId: string): Statement {
  const row = asExpected(scheduleId, expected)
  const uncounted = whileUncounted(runId)
  return {
    sql: `UPDATE durable_schedules SET fires = fires + 1, kept_runs = kept_runs + 1
      WHERE ${row.sql} AND ${uncounted.sql}`,
    bindings: [...row.bindings, ...uncounted.bindings],
  }
}
