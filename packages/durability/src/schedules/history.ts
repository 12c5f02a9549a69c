import type { EngineParts } from './parts.ts'
import type { DecisionKind, RunRow, ScheduleRow } from './store.ts'

/** What became of one window, or of the stretch from `from` to `to`. Instants are epoch ms. */
export interface Decision {
  readonly decision: DecisionKind
  /** The window (of a stretch the last one); `null` for `paused` and `resumed`. */
  readonly scheduledTime: number | null
  readonly decidedAt: number
  readonly runId?: string
  readonly reason?: string
  readonly from?: number
  readonly to?: number
}

/** Newest first. A fired window is its run's own row: kept as long as that is. */
export async function historyOf(
  { store }: EngineParts,
  row: ScheduleRow,
  limit: number,
): Promise<Decision[]> {
  const decisions = await store.listDecisions(row.id, limit)
  const runs = await store.listRuns({ scheduleId: row.id, order: 'newest', limit })
  const told = decisions.map(
    ({ decision, scheduledTime, decidedAt, reason, from, to }): Decision => ({
      decision,
      scheduledTime,
      decidedAt,
      ...(reason !== null && { reason }),
      ...(from !== null && to !== null && { from, to }),
    }),
  )
  const fired = runs.filter((run) => run.counted && run.expiresAt === null).map(firedOf)
  return [...told, ...fired].sort(newestFirst).slice(0, limit)
}

function firedOf({ id, scheduledTime, startedAt, createdAt }: RunRow): Decision {
  return { decision: 'fired', scheduledTime, decidedAt: createdAt ?? startedAt, runId: id }
}

/** A pause comes after what it was decided with. */
const LAST = Number.MAX_SAFE_INTEGER

function newestFirst(one: Decision, other: Decision): number {
  return other.decidedAt - one.decidedAt || (other.scheduledTime ?? LAST) - (one.scheduledTime ?? LAST)
}
