import { changesRow, runSql } from '../core/sql.ts'
import type { ObjectState, SqlValue } from '../core/state.ts'
import type { RunOutcome } from './outcome.ts'

/** What a run's row says of it. */
export const WAITING = 0
export const RUNNING = 1
const COMPLETE = 2
const ERRORED = 3

/** A run, from its tick to the end of its delivery: its row, and what this instance makes of it. */
export type Run = {
  /** Keys rise by one with each tick, so that their order is the order of starts. */
  readonly id: number
  readonly scheduledTime: number
  readonly dueAt: number
  readonly version: number
  state: number
  errorName: string | null
  errorMessage: string | null
  /** Failed deliveries so far. */
  attempts: number
  /** Epoch ms; null before the first delivery failed. */
  nextAttemptAt: number | null
  /** 1 while an inherited outcome is being delivered. */
  delivering: number
}

/**
 * A row per run. Started rows come before all waiting ones, because runs start in the order of their keys: so neither
 * needs an index, and neither is read to find the other.
 */
export class RunTable {
  readonly #ctx: ObjectState
  /** Started runs, by key: those that this instance started, and those it found. */
  readonly started: Map<number, Run> = new Map()
  /** Started runs that this instance holds: running, delivering, or waiting for a near retry. */
  readonly busy: Set<Run> = new Set()

  constructor(ctx: ObjectState) {
    this.#ctx = ctx
  }

  insert(run: Run): void {
    this.#ctx.storage.sql.exec(
      'INSERT INTO durability_schedule_runs (id, scheduledTime, dueAt, version, state, attempts, delivering) VALUES (?, ?, ?, ?, ?, 0, 0)',
      run.id,
      run.scheduledTime,
      run.dueAt,
      run.version,
      run.state,
    )
  }

  /** The first `limit` runs from key `id` on, in order. Read to the end: a cursor left open would lock the table. */
  from(id: number, limit: number): Run[] {
    const query = 'SELECT * FROM durability_schedule_runs WHERE id >= ? ORDER BY id LIMIT ?'
    return runSql<Run>(this.#ctx, query, id, limit)?.toArray() ?? []
  }

  /** Changes the row of a run if it still is as this instance knows it. Answers whether it was. */
  update(run: Run, change: Partial<Run>): boolean {
    const columns = Object.keys(change) as (keyof Run)[]
    const assignments = columns.map((column) => `${column} = ?`)
    const written = this.#change(
      run,
      `UPDATE durability_schedule_runs SET ${assignments.join()}`,
      ...columns.map((column) => change[column] ?? null),
    )
    Object.assign(run, change)
    return written
  }

  /** Removes a run for good. Answers whether its row was still there. */
  delete(run: Run): boolean {
    const deleted = this.#change(run, 'DELETE FROM durability_schedule_runs')
    if (this.started.get(run.id) === run) this.started.delete(run.id)
    return deleted
  }

  /** Leaves a run to the alarm that `write` arms; takes it back when that fails. */
  leaving<T>(run: Run, write: () => T): T {
    this.busy.delete(run)
    try {
      return write()
    } catch (error) {
      this.busy.add(run)
      throw error
    }
  }

  #change(run: Run, query: string, ...bindings: SqlValue[]): boolean {
    const { id, scheduledTime, state } = run
    return changesRow(
      this.#ctx,
      `${query} WHERE id = ? AND scheduledTime = ? AND state = ?`,
      ...bindings,
      id,
      scheduledTime,
      state,
    )
  }
}

/** The columns that store an outcome. */
export function outcomeColumns(outcome: RunOutcome): Pick<Run, 'state' | 'errorName' | 'errorMessage'> {
  if (outcome.status === 'complete') return { state: COMPLETE, errorName: null, errorMessage: null }
  return { state: ERRORED, errorName: outcome.error.name, errorMessage: outcome.error.message }
}

/** The outcome that a row stores. */
export function outcomeOf({ state, errorName, errorMessage }: Run): RunOutcome {
  if (state === COMPLETE) return { status: 'complete' }
  return { status: 'errored', error: { name: errorName ?? '', message: errorMessage ?? '' } }
}
