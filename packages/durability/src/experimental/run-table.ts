import type { ObjectState } from '../core/state.ts'
import type { RunOutcome } from './outcome.ts'
import { unlessMissing } from './schema.ts'

/** A run as it was recorded: what identifies it, in the terms of its row. */
export interface RecordedRun {
  /** The key of its row. Keys rise by one with each tick, so that their order is the order of starts. */
  readonly id: number
  readonly scheduledTime: number
  readonly dueAt: number
  readonly version: number
}

/** A run that was started and whose row is still there: running, or with an outcome to deliver. */
export interface StartedRun extends RecordedRun {
  readonly outcome: RunOutcome | undefined
  /** Failed deliveries so far. */
  readonly attempts: number
  readonly nextAttemptAt: number | undefined
  /** An inherited outcome was about to be delivered. */
  readonly delivering: boolean
}

const WAITING = 0
const RUNNING = 1
const COMPLETE = 2
const ERRORED = 3

/**
 * A row per run, from its tick to the end of its delivery. Started rows come before all waiting ones, because runs
 * start in the order of their keys: so neither needs an index, and neither is read to find the other.
 */
export class RunTable {
  readonly #ctx: ObjectState

  constructor(ctx: ObjectState) {
    this.#ctx = ctx
  }

  insert(run: RecordedRun, started: boolean): void {
    this.#ctx.storage.sql.exec(
      'INSERT INTO durability_schedule_runs (id, scheduled_time, due_at, version, state) VALUES (?, ?, ?, ?, ?)',
      run.id,
      run.scheduledTime,
      run.dueAt,
      run.version,
      started ? RUNNING : WAITING,
    )
  }

  /** Every started run, and the key of the first that waits. Reads no other waiting row. */
  started(): { readonly runs: StartedRun[]; readonly firstWaiting: number | undefined } {
    const runs: StartedRun[] = []
    const cursor = unlessMissing(() =>
      this.#ctx.storage.sql.exec<RunRow>('SELECT * FROM durability_schedule_runs ORDER BY id'),
    )
    for (const row of cursor ?? []) {
      if (row.state === WAITING) return { runs, firstWaiting: row.id }
      runs.push(startedRun(row))
    }
    return { runs, firstWaiting: undefined }
  }

  find(id: number): StartedRun | undefined {
    const rows = unlessMissing(() =>
      this.#ctx.storage.sql.exec<RunRow>('SELECT * FROM durability_schedule_runs WHERE id = ?', id).toArray(),
    )
    const row = rows?.[0]
    return row === undefined || row.state === WAITING ? undefined : startedRun(row)
  }

  /** The first `limit` runs that wait, from key `firstWaiting` on. */
  waiting(firstWaiting: number, limit: number): RecordedRun[] {
    const rows = unlessMissing(() =>
      this.#ctx.storage.sql
        .exec<RunRow>(
          'SELECT * FROM durability_schedule_runs WHERE id >= ? ORDER BY id LIMIT ?',
          firstWaiting,
          limit,
        )
        .toArray(),
    )
    return (rows ?? []).map(recordedRun)
  }

  start(id: number): void {
    this.#ctx.storage.sql.exec(
      'UPDATE durability_schedule_runs SET state = ? WHERE id = ? AND state = ?',
      RUNNING,
      id,
      WAITING,
    )
  }

  /** Stores the outcome of a run that has none. Answers whether there was such a run: the first outcome wins. */
  settle(run: RecordedRun, outcome: RunOutcome): boolean {
    const error = outcome.status === 'errored' ? outcome.error : undefined
    return this.#changes(
      `UPDATE durability_schedule_runs SET state = ?, error_name = ?, error_message = ?
       WHERE id = ? AND scheduled_time = ? AND state = ?`,
      outcome.status === 'complete' ? COMPLETE : ERRORED,
      error?.name ?? null,
      error?.message ?? null,
      run.id,
      run.scheduledTime,
      RUNNING,
    )
  }

  markDelivering(run: RecordedRun): boolean {
    return this.#changes(
      'UPDATE durability_schedule_runs SET delivering = 1 WHERE id = ? AND scheduled_time = ?',
      run.id,
      run.scheduledTime,
    )
  }

  retry(run: RecordedRun, attempts: number, nextAttemptAt: number): boolean {
    return this.#changes(
      `UPDATE durability_schedule_runs SET attempts = ?, next_attempt_at = ?, delivering = 0
       WHERE id = ? AND scheduled_time = ?`,
      attempts,
      nextAttemptAt,
      run.id,
      run.scheduledTime,
    )
  }

  /** Answers whether the row was still there. */
  delete(run: RecordedRun): boolean {
    return this.#changes(
      'DELETE FROM durability_schedule_runs WHERE id = ? AND scheduled_time = ?',
      run.id,
      run.scheduledTime,
    )
  }

  #changes(query: string, ...bindings: (string | number | null)[]): boolean {
    const cursor = unlessMissing(() => this.#ctx.storage.sql.exec(query, ...bindings))
    return cursor !== undefined && cursor.rowsWritten > 0
  }
}

type RunRow = {
  id: number
  scheduled_time: number
  due_at: number
  version: number
  state: number
  error_name: string | null
  error_message: string | null
  attempts: number
  next_attempt_at: number | null
  delivering: number
}

function recordedRun(row: RunRow): RecordedRun {
  return { id: row.id, scheduledTime: row.scheduled_time, dueAt: row.due_at, version: row.version }
}

function startedRun(row: RunRow): StartedRun {
  return {
    ...recordedRun(row),
    outcome: outcomeOf(row),
    attempts: row.attempts,
    nextAttemptAt: row.next_attempt_at ?? undefined,
    delivering: row.delivering === 1,
  }
}

function outcomeOf(row: RunRow): RunOutcome | undefined {
  if (row.state === RUNNING) return undefined
  if (row.state === COMPLETE) return { status: 'complete' }
  return { status: 'errored', error: { name: row.error_name ?? 'Error', message: row.error_message ?? '' } }
}
