import { report } from '../core/report.ts'
import { jitterOf } from './jitter.ts'
import { ASKED_INSTANCES, ASKED_OLDEST } from './limits.ts'
import type { EngineParts } from './parts.ts'
import { endedAt } from './run-rows.ts'
import { statusWithin } from './start-within.ts'
import { LIVE_STATUSES, type RunPatch, type RunRow, type ScheduleRow } from './store.ts'

export function isLive({ status }: Pick<RunRow, 'status'>): boolean {
  return LIVE_STATUSES.includes(status)
}

/**
 * The run with the status that the Workflow itself gives, which is written back. When it cannot be asked, what is stored
 * counts, or the call rejects.
 */
export async function refreshed(
  engine: EngineParts,
  run: RunRow,
  onFailure: 'stored' | 'rejects' = 'stored',
): Promise<RunRow> {
  if (run.kind !== 'workflow' || run.status !== 'running') return run
  const registered = engine.registered(run.workflow)
  try {
    const asked = await statusWithin(engine, registered, run.id)
    if (asked === undefined) return run
    const { status, error } = asked
    if (status === 'running' || status === 'queued') return run
    const patch: RunPatch = { status, error, ...endedAt(run, engine.now()) }
    await engine.write(() => engine.store.updateRun(run.id, patch, LIVE_STATUSES))
    return { ...run, ...patch }
  } catch (error) {
    if (onFailure === 'rejects') throw error
    report('schedules.status_failed', error, { run: run.id })
    return run
  }
}

/** Some of these, with the status that each Workflow gives. */
export async function someRefreshed(
  engine: EngineParts,
  runs: readonly RunRow[],
): Promise<readonly RunRow[]> {
  let asked = 0
  return Promise.all(
    runs.map((run) => {
      if (run.kind !== 'workflow' || run.status !== 'running' || asked === ASKED_INSTANCES) return run
      asked += 1
      return refreshed(engine, run)
    }),
  )
}

/**
 * A Workflow tells nobody that it is over, and the run of one that is not known to be is never removed. So `count` of the
 * oldest of a schedule that go on are asked, now these, now those. For when as many runs as are kept may be there. Never
 * rejects.
 */
export async function oldestRefreshed(
  engine: EngineParts,
  { id }: ScheduleRow,
  at: number,
  count: number,
): Promise<void> {
  try {
    const oldest = await engine.store.listRuns({
      scheduleId: id,
      kind: 'workflow',
      status: ['running'],
      order: 'queue',
      limit: ASKED_OLDEST,
    })
    const from = jitterOf(id, at, oldest.length)
    const asked = [...oldest.slice(from), ...oldest.slice(0, from)].slice(0, count)
    await Promise.all(asked.map((run) => refreshed(engine, run)))
  } catch (error) {
    report('schedules.status_failed', error, { schedule: id })
  }
}

/** How many runs with this key may be live in the store: those that were cancelled and are still at work count too. */
export function roomFor(
  { objectRuns }: EngineParts,
  concurrencyKey: string | null,
  limit: number | undefined,
): number | undefined {
  if (limit === undefined || concurrencyKey === null || objectRuns === undefined) return limit
  return limit - objectRuns.ending(concurrencyKey)
}

/**
 * A concurrency limit seems to be reached: the newest Workflows that count are asked whether they still run. Answers
 * whether one has ended. When none is known to have, and some could not be asked, what is stored counts, or it rejects.
 */
export async function makeRoom(
  engine: EngineParts,
  concurrencyKey: string | null,
  onFailure: 'stored' | 'rejects' = 'stored',
): Promise<boolean> {
  if (concurrencyKey === null) return false
  const counted = await engine.store.listRuns({
    concurrencyKey,
    kind: 'workflow',
    status: ['running'],
    order: 'newest',
    limit: ASKED_INSTANCES,
  })
  const asked = await Promise.allSettled(counted.map((run) => refreshed(engine, run, onFailure)))
  if (asked.some((answer) => answer.status === 'fulfilled' && !isLive(answer.value))) return true
  const failure = asked.find((answer) => answer.status === 'rejected')
  if (failure !== undefined) throw failure.reason
  return false
}
