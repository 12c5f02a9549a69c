import { moved, moveOn, placedAfter } from './moves.ts'
import type { EngineParts } from './parts.ts'
import { windowRunId } from './run-id.ts'
import type { RunRow, SchedulePatch, ScheduleRow } from './store.ts'

/** What became of one window, and the row when there is more to do for it at once. */
export interface Step {
  readonly runId?: string
  readonly next?: ScheduleRow | undefined
}

export const DONE: Step = {}

/** A window that is passed over must not be started by another engine meanwhile, unless it was tried and given up. */
export function absentOf(row: ScheduleRow, window: number): string | undefined {
  return row.firstAttemptAt === null ? windowRunId(row.id, window) : undefined
}

/** The run of this window exists: whoever started it, the schedule moves on. */
export async function fired(
  engine: EngineParts,
  row: ScheduleRow,
  window: number,
  now: number,
  run: RunRow,
): Promise<Step> {
  const patch = firedPatch(row, window, now, run.counted)
  const runPatch = run.status === 'starting' ? ({ status: 'running', startedAt: now } as const) : {}
  const result = await moveOn(engine, row, { patch, run: { started: run.id, patch: runPatch } })
  return result === 'moved' ? { runId: run.id, next: moved(row, patch) } : DONE
}

/** `isCounted`: the window is in `fires` already, for its run was there before the schedule moved on. */
export function firedPatch(row: ScheduleRow, window: number, now: number, isCounted = false): SchedulePatch {
  return {
    ...placedAfter(row, window, row.fires + (isCounted ? 0 : 1)),
    lastFireAt: window,
    lastRunId: windowRunId(row.id, window),
    lastError: null,
    failures: row.failures,
    updatedAt: now,
  }
}
