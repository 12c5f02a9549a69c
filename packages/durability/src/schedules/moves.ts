import { exponential } from '../core/retry.ts'
import { MAX_START_RETRY_MS } from './limits.ts'
import type { EngineParts } from './parts.ts'
import type { DecisionRow, FireResult, FireUnit, SchedulePatch, ScheduleRow } from './store.ts'
import { effectiveAt, nextWindow } from './timing.ts'

/** A change of one schedule that applies only while its row is as it was read. */
export type Move = Pick<FireUnit, 'patch' | 'run' | 'decisions' | 'absent'>

/** Makes the change as one unit, or, for a store without units, write by write in an order that a crash may cut. */
export async function moveOn(engine: EngineParts, row: ScheduleRow, move: Move): Promise<FireResult> {
  const { store } = engine
  const unit: FireUnit = {
    ...move,
    scheduleId: row.id,
    expected: { nextFireAt: row.nextFireAt, writes: row.writes },
    retention: { runs: engine.keptRuns, decisions: engine.keptDecisions },
  }
  if (store.fire !== undefined) return engine.write(() => store.fire?.(unit) ?? 'lost')
  return stepByStep(engine, unit)
}

/**
 * The run first: a crash after it repeats an idempotent start. The window is counted by the store's own unit, so that it is
 * counted once whoever else counts it; then its run is called started, which a sweep does when a crash comes before.
 */
async function stepByStep({ store }: EngineParts, unit: FireUnit): Promise<FireResult> {
  const { scheduleId, expected, absent, patch, run, decisions = [], retention } = unit
  if (absent !== undefined && (await store.getRun(absent)) !== null) return 'lost'
  if (run !== undefined && 'insert' in run) {
    const saved = await store.saveRun(run.insert, {
      limit: run.limit,
      schedule: { id: scheduleId, expected },
    })
    if (saved === 'over_limit' || saved === 'lost') return saved
  }
  if (!(await store.updateSchedule(scheduleId, patch, expected))) return 'lost'
  const runId = run === undefined ? undefined : 'insert' in run ? run.insert.id : run.started
  if (runId !== undefined && patch.lastFireAt != null)
    await store.countFire(scheduleId, runId, patch.lastFireAt)
  if (run !== undefined && 'started' in run) await store.updateRun(run.started, run.patch, ['starting'])
  for (const decision of decisions) await store.saveDecision(decision)
  await store.trim(scheduleId, retention)
  return 'moved'
}

/** The row as it is after a move that was made. */
export function moved(row: ScheduleRow, patch: SchedulePatch): ScheduleRow {
  return { ...row, ...patch, writes: row.writes + 1 }
}

/** Where a schedule stands when `window` is next, or nothing is: the attempts at another window are forgotten. */
export function placedAt(row: ScheduleRow, window: number | null): SchedulePatch {
  return {
    nextWindow: window,
    nextFireAt: window === null ? null : effectiveAt(row.id, window, row.definition),
    finished: window === null,
    firstAttemptAt: null,
    attempts: 0,
  }
}

/** On to the window after this one; finished when there is none, or when as many as allowed have fired. */
export function placedAfter(row: ScheduleRow, window: number, fires: number): SchedulePatch {
  const { maxRuns } = row.definition
  const isUsedUp = maxRuns !== null && fires >= maxRuns
  return placedAt(row, isUsedUp ? null : nextWindow(row.definition, window))
}

/** The same window once more, a little later each time. */
export function triedAgain(row: ScheduleRow, attemptedAt: number, now: number): SchedulePatch {
  const attempts = row.attempts + 1
  return {
    attempts,
    firstAttemptAt: row.firstAttemptAt ?? attemptedAt,
    nextFireAt: now + exponential(attempts, 1_000, MAX_START_RETRY_MS),
  }
}

/** What was decided about one window, or about a stretch of them. */
export function decided(
  row: ScheduleRow,
  decision: DecisionRow['decision'],
  decidedAt: number,
  about: {
    readonly window?: number | null
    readonly from?: number
    readonly to?: number
    readonly reason?: string | null
  },
): DecisionRow {
  const { window = null, from, to, reason = null } = about
  const isStretch = from !== undefined && to !== undefined && from < to
  return {
    scheduleId: row.id,
    decision,
    scheduledTime: window ?? to ?? null,
    from: isStretch ? from : null,
    to: isStretch ? to : null,
    decidedAt,
    reason,
  }
}
