import { DEFAULT_PAGE } from './limits.ts'
import type { EngineParts } from './parts.ts'
import type { DecisionKind, RunRow, ScheduleRow, ScheduleStore } from './store.ts'

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
  const runs = await countedRuns(store, row.id, limit)
  const told = decisions.map(
    ({ decision, scheduledTime, decidedAt, reason, from, to }): Decision => ({
      decision,
      scheduledTime,
      decidedAt,
      ...(reason !== null && { reason }),
      ...(from !== null && to !== null && { from, to }),
    }),
  )
  return [...told, ...runs.map(firedOf)].sort(newestFirst).slice(0, limit)
}

/** The newest that fired a window: read on past those that did not, such as manual ones. */
async function countedRuns(store: ScheduleStore, scheduleId: string, limit: number): Promise<RunRow[]> {
  const counted: RunRow[] = []
  const size = Math.max(limit, DEFAULT_PAGE)
  let after: RunRow | undefined
  do {
    const runs = await store.listRuns({ scheduleId, order: 'newest', limit: size, after })
    counted.push(...runs.filter((run) => run.counted && run.expiresAt === null))
    after = runs.length < size ? undefined : runs.at(-1)
  } while (after !== undefined && counted.length < limit)
  return counted.slice(0, limit)
}

function firedOf({ id, scheduledTime, startedAt, createdAt }: RunRow): Decision {
  return { decision: 'fired', scheduledTime, decidedAt: createdAt ?? startedAt, runId: id }
}

/** A pause comes after what it was decided with. */
const LAST = Number.MAX_SAFE_INTEGER

function newestFirst(one: Decision, other: Decision): number {
  return other.decidedAt - one.decidedAt || (other.scheduledTime ?? LAST) - (one.scheduledTime ?? LAST)
}
