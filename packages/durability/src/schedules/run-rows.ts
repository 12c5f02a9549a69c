import type { JsonValue } from './json.ts'
import { RUN_AGE_MS } from './limits.ts'
import type { RunToStart } from './registered.ts'
import { manualRunId, windowRunId } from './run-id.ts'
import type { RunKind, RunPatch, RunRow, ScheduleRow, StoredRunStatus } from './store.ts'

interface ForWindow {
  /** The window, or the time of the trigger. */
  readonly window: number
  readonly manual: boolean
  readonly now: number
  readonly status: StoredRunStatus
}

/** The run of a schedule: everything it is stamped with comes from the definition as it is now. */
export function runRowOf(
  row: ScheduleRow,
  kind: RunKind,
  { window, manual, now, status }: ForWindow,
): RunRow {
  const { definition } = row
  return {
    id: manual ? manualRunId(row.id, window) : windowRunId(row.id, window),
    workflow: row.workflow,
    kind,
    input: definition.input,
    namespace: row.namespace,
    tags: [...new Set([...definition.tags, `schedule:${row.id}`])],
    searchAttributes: definition.searchAttributes,
    priority: definition.priority,
    scheduleId: row.id,
    scheduledTime: window,
    manual,
    revision: row.revision,
    concurrencyKey: definition.concurrency?.key ?? null,
    status,
    counted: false,
    createdAt: now,
    startedAt: status === 'running' ? now : null,
    finishedAt: null,
    error: null,
    expiresAt: null,
  }
}

/** When a run ended, and, where no schedule keeps it, when it goes. */
export function endedAt(
  { scheduleId }: Pick<RunRow, 'scheduleId'>,
  at: number,
): Pick<RunPatch, 'finishedAt' | 'expiresAt'> {
  return { finishedAt: at, ...(scheduleId === null && { expiresAt: at + RUN_AGE_MS }) }
}

export function toStart(run: RunRow): RunToStart {
  return {
    runId: run.id,
    workflow: run.workflow,
    // Handlers get a value of their own: what one does to it must not reach the row of the next.
    input: structuredClone(run.input) as JsonValue,
    namespace: run.namespace,
    tags: run.tags,
    searchAttributes: run.searchAttributes,
    priority: run.priority,
    scheduleId: run.scheduleId,
    scheduledTime: run.scheduledTime,
    revision: run.revision,
  }
}
