import { parseRunId } from '../run-id.ts'
import {
  type DecisionRow,
  LIVE_STATUSES,
  type RunPatch,
  type RunRow,
  type SchedulePatch,
  type ScheduleRow,
} from '../store.ts'
import { NEVER_AT, PHASES, type Phase } from './schema.ts'

export type SqlValue = string | number | null

/** What a statement writes. */
export type Columns = Record<string, SqlValue>

type ColumnName =
  | 'id'
  | 'namespace'
  | 'workflow'
  | 'definition'
  | 'note'
  | 'paused'
  | 'finished'
  | 'next_window'
  | 'next_fire_at'
  | 'first_attempt_at'
  | 'attempts'
  | 'last_fire_at'
  | 'last_run_id'
  | 'fires'
  | 'last_error'
  | 'failures'
  | 'created_at'
  | 'updated_at'
  | 'revision'
  | 'writes'
  | 'kept_runs'
  | 'schedule_id'
  | 'scheduled_time'
  | 'name'
  | 'kind'
  | 'input'
  | 'tags'
  | 'search_attributes'
  | 'priority'
  | 'concurrency_key'
  | 'status'
  | 'counted'
  | 'started_at'
  | 'finished_at'
  | 'error'
  | 'expires_at'
  | 'n'
  | 'decision'
  | 'from_time'
  | 'to_time'
  | 'decided_at'
  | 'reason'
  | 'count'

/** A row of any of the tables, as a statement answers it. */
export type StoredColumns = { readonly [Name in ColumnName]: SqlValue }

export function scheduleColumns(row: SchedulePatch & Partial<ScheduleRow>): Columns {
  return given({
    id: row.id,
    namespace: row.namespace,
    workflow: row.workflow,
    definition: row.definition && JSON.stringify(row.definition),
    note: row.note,
    paused: row.paused === undefined ? undefined : Number(row.paused),
    finished: row.finished === undefined ? undefined : Number(row.finished),
    next_window: row.nextWindow === null ? NEVER_AT : row.nextWindow,
    next_fire_at: row.nextFireAt === null ? NEVER_AT : row.nextFireAt,
    first_attempt_at: row.firstAttemptAt,
    attempts: row.attempts,
    last_fire_at: row.lastFireAt,
    last_run_id: row.lastRunId,
    fires: row.fires,
    last_error: row.lastError,
    failures: row.failures,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
    revision: row.revision,
    writes: row.writes,
  })
}

export function scheduleRow(columns: StoredColumns): ScheduleRow {
  // What this package wrote: its types are those that it wrote.
  return {
    id: columns.id,
    namespace: columns.namespace,
    workflow: columns.workflow,
    definition: JSON.parse(String(columns.definition)),
    note: columns.note,
    paused: columns.paused === 1,
    finished: columns.finished === 1,
    nextWindow: columns.next_window === NEVER_AT ? null : columns.next_window,
    nextFireAt: columns.next_fire_at === NEVER_AT ? null : columns.next_fire_at,
    firstAttemptAt: columns.first_attempt_at,
    attempts: columns.attempts,
    lastFireAt: columns.last_fire_at,
    lastRunId: columns.last_run_id,
    fires: columns.fires,
    lastError: columns.last_error,
    failures: columns.failures,
    createdAt: columns.created_at,
    updatedAt: columns.updated_at,
    revision: columns.revision,
    writes: columns.writes,
  } as ScheduleRow
}

/** The key of a run, from its id. */
export function runKey(id: string): { schedule_id: string; scheduled_time: number; name: string } {
  const { scheduleId, time, manual } = parseRunId(id)
  if (scheduleId === null || time === null) return { schedule_id: '', scheduled_time: 0, name: id }
  return { schedule_id: scheduleId, scheduled_time: time, name: manual ? 'manual' : '' }
}

export function runColumns(run: RunRow): Columns {
  return {
    ...runKey(run.id),
    id: run.id,
    workflow: run.workflow,
    kind: run.kind,
    input: JSON.stringify(run.input),
    namespace: run.namespace,
    tags: JSON.stringify(run.tags),
    search_attributes: JSON.stringify(run.searchAttributes),
    priority: run.priority,
    revision: run.revision,
    concurrency_key: run.concurrencyKey,
    status: run.status,
    counted: Number(run.counted),
    created_at: run.createdAt,
    started_at: run.startedAt,
    finished_at: run.finishedAt,
    error: run.error,
    expires_at: run.expiresAt,
    ...orderOf(run),
  }
}

function orderOf(run: RunRow): Columns {
  const phase = phaseOf(run)
  if (phase !== PHASES.here) return { phase, order_rank: 0, order_at: run.createdAt }
  return { phase, order_rank: 0 - run.priority, order_at: run.scheduledTime ?? run.createdAt }
}

function phaseOf({ kind, status }: RunRow): Phase {
  if (!LIVE_STATUSES.includes(status)) return PHASES.over
  return kind !== 'handler' && status === 'running' ? PHASES.outside : PHASES.here
}

export function runRow(columns: StoredColumns): RunRow {
  const isScheduled = columns.schedule_id !== ''
  return {
    id: columns.id,
    workflow: columns.workflow,
    kind: columns.kind,
    input: JSON.parse(String(columns.input)),
    namespace: columns.namespace,
    tags: JSON.parse(String(columns.tags)),
    searchAttributes: JSON.parse(String(columns.search_attributes)),
    priority: columns.priority,
    scheduleId: isScheduled ? columns.schedule_id : null,
    scheduledTime: isScheduled ? columns.scheduled_time : null,
    manual: isScheduled && columns.name === 'manual',
    revision: columns.revision,
    concurrencyKey: columns.concurrency_key,
    status: columns.status,
    counted: columns.counted === 1,
    createdAt: columns.created_at,
    startedAt: columns.started_at,
    finishedAt: columns.finished_at,
    error: columns.error,
    expiresAt: columns.expires_at,
  } as RunRow
}

export function runPatchColumns(patch: RunPatch): Columns {
  return given({
    status: patch.status,
    started_at: patch.startedAt,
    finished_at: patch.finishedAt,
    error: patch.error,
    expires_at: patch.expiresAt,
  })
}

export function decisionRow(columns: StoredColumns): DecisionRow {
  return {
    scheduleId: columns.schedule_id,
    decision: columns.decision,
    scheduledTime: columns.scheduled_time,
    from: columns.from_time,
    to: columns.to_time,
    decidedAt: columns.decided_at,
    reason: columns.reason,
  } as DecisionRow
}

function given(columns: Record<string, SqlValue | undefined>): Columns {
  return Object.fromEntries(
    Object.entries(columns).filter((entry): entry is [string, SqlValue] => entry[1] !== undefined),
  )
}
