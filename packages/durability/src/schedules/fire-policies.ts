import { describeThrown } from '../core/thrown.ts'
import { InvalidInputError, StartTimeoutError } from './errors.ts'
import type { EngineParts } from './parts.ts'
import type { Registered } from './registered.ts'
import { isLive, refreshed } from './run-status.ts'
import { startWithin } from './start-within.ts'
import type { RunRow, ScheduleRow } from './store.ts'

/** The run of the last fired window, where a policy asks about it; a Workflow's own status is asked for. */
export async function lastRunOf(
  engine: EngineParts,
  row: ScheduleRow,
  onFailure: 'stored' | 'rejects' = 'rejects',
): Promise<RunRow | null> {
  const { overlap, pauseAfterFailures } = row.definition
  if (row.lastRunId === null || (overlap !== 'skip' && pauseAfterFailures === null)) return null
  const run = await engine.store.getRun(row.lastRunId)
  if (run === null) return null
  // Nobody can say any more whether it goes on, and what waited for its end would wait for ever.
  const isLost = isLive(run) && run.kind !== 'handler' && engine.registered(run.workflow)?.kind !== run.kind
  return isLost ? { ...run, status: 'unknown' } : refreshed(engine, run, onFailure)
}

/**
 * Runs of this object are counted as they end; a Workflow's when the next window comes due. One that was cancelled, or of
 * which nothing is known any more, was neither bad nor good.
 */
export function failuresAfter(row: ScheduleRow, last: RunRow | null): number {
  if (
    row.definition.pauseAfterFailures === null ||
    last === null ||
    last.kind === 'handler' ||
    isLive(last)
  ) {
    return row.failures
  }
  if (last.status === 'errored' || last.status === 'interrupted') return row.failures + 1
  return last.status === 'complete' ? 0 : row.failures
}

/**
 * The count that `resume` starts from: below 0 when the last run has failed already, which the next window would count
 * once more.
 */
export async function failuresAtResume(engine: EngineParts, row: ScheduleRow): Promise<number> {
  const last = await lastRunOf(engine, row, 'stored')
  return 0 - failuresAfter({ ...row, failures: 0 }, last)
}

export async function validated(
  engine: EngineParts,
  row: ScheduleRow,
  { validate }: Registered,
  late: Promise<unknown>,
): Promise<InvalidInputError | undefined> {
  try {
    if (validate !== undefined)
      await startWithin(engine, late, () => validate(structuredClone(row.definition.input)))
    return undefined
  } catch (error) {
    if (error instanceof StartTimeoutError) throw error
    return new InvalidInputError(row.workflow, describeThrown(error).message)
  }
}
