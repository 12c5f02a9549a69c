import { report } from '../core/report.ts'
import { errorText } from './error-text.ts'
import { ConcurrencyLimitError } from './errors.ts'
import type { TickTime } from './fire.ts'
import { absentOf, DONE, fired, type Step } from './fire-moves.ts'
import { decided, moveOn, placedAfter, placedAt, triedAgain } from './moves.ts'
import type { EngineParts } from './parts.ts'
import { windowRunId } from './run-id.ts'
import { statusWithin } from './start-within.ts'
import type { RunRow, ScheduleRow } from './store.ts'
import { failedTooOften, pausing } from './superseded.ts'

/**
 * A start that can never succeed as things are: recorded, and on to the next window. Not while there is a run that
 * another engine made meanwhile (`absent`), unless it is known and given up.
 */
export async function refuse(
  engine: EngineParts,
  row: ScheduleRow,
  window: number,
  now: number,
  error: unknown,
  absent: string | null = absentOf(row, window) ?? null,
): Promise<Step> {
  const lastError = errorText(error)
  const patch = { ...placedAfter(row, window, row.fires), lastError, updatedAt: now }
  const result = await moveOn(engine, row, {
    patch,
    decisions: [decided(row, 'start_failed', now, { window, reason: lastError })],
    absent: absent ?? undefined,
  })
  if (result === 'moved') await giveUpRun(engine, row, window, now, lastError)
  return DONE
}

/** A start that failed and may succeed later: tried again, until it is too late for this window. */
export async function failed(
  engine: EngineParts,
  row: ScheduleRow,
  window: number,
  { now }: TickTime,
  error: unknown,
): Promise<Step> {
  const failedAt = Math.max(engine.now(), now)
  const lastError = errorText(error)
  report('schedules.start_failed', error, { schedule: row.id, window })
  if (failedAt - (row.firstAttemptAt ?? now) >= engine.graceMs) {
    const run = await engine.store.getRun(windowRunId(row.id, window))
    if (run !== null && (await isThereAfterAll(engine, row, run)))
      return fired(engine, row, window, failedAt, run)
    return refuse(engine, row, window, failedAt, error, run === null ? absentOf(row, window) : null)
  }
  await moveOn(engine, row, { patch: { ...triedAgain(row, now, failedAt), lastError, updatedAt: failedAt } })
  return DONE
}

/** A start that was not answered may have happened: whoever can be asked is asked before the window is given up. */
export async function isThereAfterAll(engine: EngineParts, row: ScheduleRow, run: RunRow): Promise<boolean> {
  const registered = engine.registered(row.workflow)
  try {
    const asked = await statusWithin(engine, registered, run.id)
    return asked !== undefined && asked.status !== 'unknown'
  } catch {
    return false
  }
}

/** The row that was written before a hand-over that never succeeded. */
export async function giveUpRun(
  engine: EngineParts,
  row: ScheduleRow,
  window: number,
  now: number,
  error: string,
): Promise<void> {
  const patch = { status: 'errored', finishedAt: now, error } as const
  await engine.write(() => engine.store.updateRun(windowRunId(row.id, window), patch, ['starting']))
}

/** A definition that does not say when any more (a zone was removed): paused, with the reason. */
export async function pauseBroken(
  engine: EngineParts,
  row: ScheduleRow,
  now: number,
  error: unknown,
): Promise<void> {
  await moveOn(engine, row, await pausing(engine, row, now, errorText(error), { finished: false }))
}

export async function pauseFailing(
  engine: EngineParts,
  row: ScheduleRow,
  window: number,
  now: number,
  failures: number,
): Promise<Step> {
  const lastError = failedTooOften(failures)
  const patch = { ...placedAt(row, null), finished: false, paused: true, failures, lastError, updatedAt: now }
  const decisions = [
    decided(row, 'superseded', now, { window, reason: lastError }),
    decided(row, 'paused', now, { reason: lastError }),
  ]
  await moveOn(engine, row, { patch, decisions, absent: absentOf(row, window) })
  return DONE
}

export function limitError({ definition: { concurrency } }: ScheduleRow): ConcurrencyLimitError {
  return new ConcurrencyLimitError(concurrency?.key ?? '', concurrency?.limit ?? 0)
}
