import type { JsonValue } from './json.ts'
import type { Catchup, Overlap, ScheduleRow } from './store.ts'

/** A schedule as it is: its definition, and where it stands. Instants are epoch ms. */
export interface ScheduleDescription {
  readonly id: string
  readonly workflow: string
  readonly input: JsonValue
  readonly namespace: string
  readonly cron: string | null
  /** As given, and in ms. */
  readonly every: string | number | null
  readonly everyMs: number | null
  /** Of the cron; `null` with `every`. */
  readonly timezone: string | null
  /** As given, and in ms. */
  readonly jitter: string | number | null
  readonly jitterMs: number
  readonly overlap: Overlap
  readonly catchup: Catchup
  readonly tags: readonly string[]
  readonly searchAttributes: { readonly [name: string]: JsonValue } | null
  readonly priority: number
  readonly concurrency: { readonly key: string; readonly limit: number } | null
  readonly startAt: number | null
  readonly endAt: number | null
  readonly maxRuns: number | null
  readonly pauseAfterFailures: number | null
  readonly paused: boolean
  /** Its bounds are used up, or it has no later window: kept, never due. */
  readonly finished: boolean
  readonly note: string | null
  /** When it fires next, jitter included, or tries again; `null` when paused or finished. */
  readonly nextFireAt: number | null
  /** The window last fired. */
  readonly lastFireAt: number | null
  readonly lastRunId: string | null
  /** Windows fired; manual runs excluded. */
  readonly fires: number
  /** Why the last start failed, or why it was paused; the next good start clears it. */
  readonly lastError: string | null
  readonly createdAt: number
  readonly updatedAt: number
  /** Counts definitions, from 1; stamped on runs. */
  readonly revision: number
}

export function describedSchedule(row: ScheduleRow): ScheduleDescription {
  const { definition, id, workflow, namespace, paused, finished, note } = row
  const isDue = !paused && !finished
  return {
    id,
    workflow,
    namespace,
    ...definition,
    paused,
    finished,
    note,
    nextFireAt: isDue ? row.nextFireAt : null,
    lastFireAt: row.lastFireAt,
    lastRunId: row.lastRunId,
    fires: row.fires,
    lastError: row.lastError,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    revision: row.revision,
  }
}
