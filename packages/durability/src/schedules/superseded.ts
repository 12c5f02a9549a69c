import { decided, type Move, placedAt } from './moves.ts'
import type { EngineParts } from './parts.ts'
import { windowRunId } from './run-id.ts'
import type { DecisionRow, ScheduleRow } from './store.ts'
import { nextWindow, previousWindow } from './timing.ts'

/**
 * The windows that have come and will not run, also those that still wait for their jitter, as one entry; none of a
 * window whose run exists or is being started.
 */
export async function superseded(
  engine: EngineParts,
  row: ScheduleRow,
  now: number,
  reason: string,
): Promise<DecisionRow[]> {
  const { nextWindow: window } = row
  if (window === null || window > now) return []
  const hasRun = (await engine.store.getRun(windowRunId(row.id, window))) !== null
  let from: number | null = window
  let to = window
  try {
    if (hasRun) from = nextWindow(row.definition, window)
    to = previousWindow(row.definition, now + 1) ?? window
  } catch {
    // A definition that does not evaluate: the stored window is all that is known.
    if (hasRun) return []
  }
  if (from === null || to < from) return []
  return [decided(row, 'superseded', now, { window: to, from, to, reason })]
}

/** A window that is superseded must not be started by another engine meanwhile. */
export function absentWith(row: ScheduleRow, decisions: readonly DecisionRow[] = []): string | undefined {
  const { nextWindow: window } = row
  const isSuperseded = decisions.some(
    ({ decision, scheduledTime, from }) => decision === 'superseded' && (from ?? scheduledTime) === window,
  )
  return isSuperseded && window !== null ? windowRunId(row.id, window) : undefined
}

/** Pauses the schedule of itself, for a reason: what is due is superseded. */
export async function pausing(
  engine: EngineParts,
  row: ScheduleRow,
  now: number,
  reason: string,
  more: Pick<ScheduleRow, 'finished'> & Partial<Pick<ScheduleRow, 'failures'>>,
): Promise<Move> {
  const decisions = [...(await superseded(engine, row, now, reason)), decided(row, 'paused', now, { reason })]
  const patch = { ...placedAt(row, null), paused: true, lastError: reason, updatedAt: now, ...more }
  return { patch, decisions, absent: absentWith(row, decisions) }
}

/** Why a schedule is paused by `pauseAfterFailures`. */
export function failedTooOften(failures: number): string {
  return `Paused after ${failures} failed runs in a row`
}

/**
 * The last window that has a run or an entry in the history, also from before the schedule was deleted and made again: none
 * up to it is fired any more, wherever the clock went.
 */
export async function lastDecided({ store, keptDecisions }: EngineParts, row: ScheduleRow): Promise<number> {
  const last = await store.lastWindow(row.id)
  const decisions = await store.listDecisions(row.id, keptDecisions)
  return Math.max(row.lastFireAt ?? 0, last ?? 0, ...decisions.map(({ scheduledTime }) => scheduledTime ?? 0))
}
