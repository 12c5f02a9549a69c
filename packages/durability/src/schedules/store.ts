import type { JsonValue } from './json.ts'

/** A store that answers at once (memory, Durable Object) or later (D1). The engine awaits either. */
export type Awaitable<T> = T | Promise<T>

export type Overlap = 'allow' | 'skip'
export type Catchup = 'latest' | 'skip'

/** What a schedule is, validated and normalised: durations in ms, defaults filled in. Stored as one JSON text. */
export interface StoredDefinition {
  /** A JSON value; `null` when none was given. */
  readonly input: JsonValue
  /** Exactly one of the two is not null. */
  readonly cron: string | null
  readonly everyMs: number | null
  /** As given, for the description. */
  readonly every: string | number | null
  /** Of the cron; `null` with `every`. */
  readonly timezone: string | null
  readonly jitterMs: number
  /** As given, for the description. */
  readonly jitter: string | number | null
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
}

/** One schedule as stored. Instants are epoch ms. */
export interface ScheduleRow {
  readonly id: string
  readonly namespace: string
  readonly workflow: string
  readonly definition: StoredDefinition
  readonly note: string | null
  readonly paused: boolean
  /** Bounds are used up, or no occurrence is left: kept, never due. */
  readonly finished: boolean
  /** The window (nominal time) that is next; `null` when paused or finished. */
  readonly nextWindow: number | null
  /** When it is due: the window plus its jitter, or the time of the next attempt at it. `null` when paused or finished. */
  readonly nextFireAt: number | null
  /** When the first attempt at `nextWindow` was made, if it failed; `null` when none did. */
  readonly firstAttemptAt: number | null
  /** Failed attempts at `nextWindow`. */
  readonly attempts: number
  /** The window last fired. */
  readonly lastFireAt: number | null
  readonly lastRunId: string | null
  /** Windows whose run exists; manual ones excluded. Only ever changed by a store's own increment. */
  readonly fires: number
  readonly lastError: string | null
  /** Window runs in a row that ended badly. */
  readonly failures: number
  readonly createdAt: number
  readonly updatedAt: number
  /** Counts definitions: stamped on runs. */
  readonly revision: number
  /** Raised by every write of the row: with `nextFireAt` what a compare-and-set compares. */
  readonly writes: number
}

/** What may be changed of a schedule's row. `writes` is raised by the store; `fires` only by `fire` and `countFire`. */
export type SchedulePatch = Partial<Omit<ScheduleRow, 'id' | 'namespace' | 'createdAt' | 'writes' | 'fires'>>

/** A write applies only while the row is as it was read. */
export interface ExpectedSchedule {
  readonly nextFireAt: number | null
  readonly writes: number
}

/** `starting` is stored before a hand-over to something outside; it is shown as `queued` and is not success. */
export type StoredRunStatus =
  | 'starting'
  | 'queued'
  | 'running'
  | 'complete'
  | 'errored'
  | 'interrupted'
  | 'cancelled'
  | 'unknown'

export const LIVE_STATUSES: readonly StoredRunStatus[] = ['starting', 'queued', 'running']

export type RunKind = 'handler' | 'workflow' | 'dispatch'

/** One run of any kind. Its key is `id`; `scheduleId`, `scheduledTime` and `manual` follow from the id when it is a schedule's. */
export interface RunRow {
  readonly id: string
  readonly workflow: string
  readonly kind: RunKind
  readonly input: JsonValue
  readonly namespace: string
  readonly tags: readonly string[]
  readonly searchAttributes: { readonly [name: string]: JsonValue } | null
  readonly priority: number
  /** `null` for a run that `engine.start` was given an id of its own for. */
  readonly scheduleId: string | null
  /** The window; for a manual run the time of the trigger; `null` for others. */
  readonly scheduledTime: number | null
  readonly manual: boolean
  /** The schedule's, when it was started. */
  readonly revision: number | null
  readonly concurrencyKey: string | null
  readonly status: StoredRunStatus
  /** Whether its window is in `fires`. */
  readonly counted: boolean
  readonly createdAt: number
  readonly startedAt: number | null
  readonly finishedAt: number | null
  /** `name: message`, cut. */
  readonly error: string | null
  /** Epoch ms after which it may be removed: set when its schedule is deleted, and for runs without a schedule when they finish. */
  readonly expiresAt: number | null
}

export type RunPatch = Partial<Pick<RunRow, 'status' | 'startedAt' | 'finishedAt' | 'error' | 'expiresAt'>>

/** What has to hold for a run to be inserted, in the inserting statement itself. */
export interface RunConditions {
  /** Fewer live runs than this have the same `concurrencyKey`. */
  readonly limit?: number | undefined
  /** The schedule is still as it was read: only a stored window is ever started. */
  readonly schedule?: { readonly id: string; readonly expected: ExpectedSchedule } | undefined
}

export type DecisionKind =
  | 'fired'
  | 'skipped_overlap'
  | 'skipped_catchup'
  | 'start_failed'
  | 'superseded'
  | 'paused'
  | 'resumed'

/** What was decided about a window, or about the stretch from `from` to `to`. `fired` ones are the runs' own rows. */
export interface DecisionRow {
  readonly scheduleId: string
  readonly decision: Exclude<DecisionKind, 'fired'>
  /** `null` for `paused` and `resumed`. */
  readonly scheduledTime: number | null
  /** Of a stretch: its first and last window. Both `null` otherwise. */
  readonly from: number | null
  readonly to: number | null
  readonly decidedAt: number
  readonly reason: string | null
}

export interface ScheduleQuery {
  readonly namespace?: string | undefined
  readonly workflow?: string | undefined
  readonly tag?: string | undefined
  /** Neither value leaves out finished ones. */
  readonly paused?: boolean | undefined
  /** Only those with `paused = 0 AND next_fire_at <= dueBy`. */
  readonly dueBy?: number | undefined
  /** Only what comes after this row in the order of the list. */
  readonly after?: ScheduleKey | undefined
  readonly offset?: number | undefined
  readonly limit: number
}

/** Place in the order of the list: soonest due first, then live ones that are finished, then paused ones; then by id. */
export interface ScheduleKey {
  readonly paused: boolean
  /** `null` sorts after every time. */
  readonly nextFireAt: number | null
  readonly id: string
}

export interface RunQuery {
  readonly scheduleId?: string | undefined
  readonly workflow?: string | undefined
  readonly tag?: string | undefined
  readonly namespace?: string | undefined
  readonly status?: readonly StoredRunStatus[] | undefined
  readonly concurrencyKey?: string | undefined
  readonly kind?: RunKind | undefined
  /** Newest first by (createdAt, id), or the order in which queued runs start: highest priority, then window, then creation. */
  readonly order: 'newest' | 'queue'
  readonly after?: { readonly createdAt: number; readonly id: string } | undefined
  readonly limit: number
}

/** The end of one window: everything in it is written, or nothing. */
export interface FireUnit {
  readonly scheduleId: string
  readonly expected: ExpectedSchedule
  /** Only while there is no run of this id: a window that is passed over must not have been started meanwhile. */
  readonly absent?: string | undefined
  /** Moves the schedule on. `lastFireAt` and `lastRunId` are in it when a run is. */
  readonly patch: SchedulePatch
  /** A run of this object, inserted now; or one that was started outside, which has a row. */
  readonly run?:
    | { readonly insert: RunRow; readonly limit?: number | undefined }
    | { readonly started: string; readonly patch: RunPatch }
    | undefined
  readonly decisions?: readonly DecisionRow[] | undefined
  /** What is over these bounds after the unit is removed with it, oldest first, at most two of each. */
  readonly retention: Retention
}

/**
 * `moved`: all is written; a run that was there already counts as started. `lost`: the row was not as expected, or
 * the run that must be absent is there; nothing is written. `over_limit`: nothing is written.
 */
export type FireResult = 'moved' | 'lost' | 'over_limit'

export interface Retention {
  /** Finished runs kept for each schedule; the run named by `lastRunId` is kept above it. */
  readonly runs: number
  readonly decisions: number
}

/**
 * Where schedules, their runs and decisions are kept. Writes take conditions and say whether they wrote: no locks, no
 * callbacks inside transactions. `describeScheduleStore` of `durability/testing` is the suite that an own store passes.
 */
export interface ScheduleStore {
  /** Named in errors. */
  readonly name: string
  /**
   * Set for a store that belongs to one object (or process) and answers synchronously: runs of handlers may live in it,
   * and a scheduler can be driven by it. The value identifies the storage: engines over the same one share what is in flight.
   */
  readonly boundTo?: object | undefined

  /** Inserts; `false` when the id is taken. */
  saveSchedule(row: ScheduleRow): Awaitable<boolean>
  getSchedule(id: string): Awaitable<ScheduleRow | null>
  /** Writes the patch and raises `writes`; `false` when there is no row, or not as expected. */
  updateSchedule(id: string, patch: SchedulePatch, expected?: ExpectedSchedule): Awaitable<boolean>
  /** Removes the row with its decisions; its runs stay, and get this `expiresAt`. */
  deleteSchedule(id: string, expected: ExpectedSchedule | undefined, runsExpireAt: number): Awaitable<boolean>
  listSchedules(query: ScheduleQuery): Awaitable<readonly ScheduleRow[]>
  countSchedules(query: Omit<ScheduleQuery, 'limit' | 'offset' | 'after'>): Awaitable<number>
  /** The soonest `next_fire_at` of what is not paused, in a namespace or in all. */
  nextDueAt(namespace: string | undefined): Awaitable<number | undefined>

  /** Inserts when the id is free and the conditions hold, all in one statement. */
  saveRun(row: RunRow, conditions?: RunConditions): Awaitable<'saved' | 'exists' | 'over_limit' | 'lost'>
  getRun(id: string): Awaitable<RunRow | null>
  /** `false` when there is no such run, or its status is none of `from`. */
  updateRun(id: string, patch: RunPatch, from?: readonly StoredRunStatus[]): Awaitable<boolean>
  /** Removes a run whose start failed: one that is still `starting`. */
  deleteRun(id: string): Awaitable<boolean>
  listRuns(query: RunQuery): Awaitable<readonly RunRow[]>

  saveDecision(row: DecisionRow): Awaitable<void>
  /** Newest first. */
  listDecisions(scheduleId: string, limit: number): Awaitable<readonly DecisionRow[]>

  /**
   * Removes what is over the bounds for one schedule, oldest first: finished runs except the schedule's `lastRunId`, and
   * decisions. At most a few of each, so that it costs the same every time. Called after a manual run or a decision.
   */
  trim(scheduleId: string, retention: Retention): Awaitable<void>
  /** Removes finished runs whose `expiresAt` has come; at most `limit`. Answers how many. */
  removeExpiredRuns(now: number, limit: number): Awaitable<number>

  /** The last window that a kept run of this schedule stands for; a re-created schedule goes on after it. */
  lastWindow(scheduleId: string): Awaitable<number | null>

  /** Resolves when everything written so far is durable. Left out: a write that was answered is durable. */
  sync?(): Promise<void>

  /** Optional: one atomic unit. Without it the engine makes the same writes one by one. */
  fire?(unit: FireUnit): Awaitable<FireResult>
  /**
   * Counts a window whose run exists but whose advance was lost: once, whoever asks. Marks the run as counted and raises
   * `fires` and `writes` together; `lastFireAt` and `lastRunId` follow when the window is later.
   */
  countFire(scheduleId: string, runId: string, window: number): Awaitable<boolean>
}

/** What a store that is bound to an object answers: at once. */
export function atOnce<T>(answer: Awaitable<T>): T {
  if (answer instanceof Promise) throw new TypeError('A store that is bound to an object must answer at once')
  return answer
}
