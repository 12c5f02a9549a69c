import { changesRow, runSql } from '../core/sql.ts'
import type { ObjectState } from '../core/state.ts'

/** The pending occurrence of one name: its row. Instants are epoch ms. */
export type PendingAlarm = {
  readonly name: string
  /** A random id: tells an occurrence from the one that replaces it. */
  readonly occurrence: string
  readonly scheduledTime: number
  /** Attempts that were begun. */
  readonly attempt: number
  readonly nextAttemptAt: number
}

/** One row per name that is set. Created by the first `set`; before that, and after `deleteAll()`, it reads as empty. */
export class AlarmTable {
  readonly #ctx: ObjectState

  constructor(ctx: ObjectState) {
    this.#ctx = ctx
  }

  all(): PendingAlarm[] {
    return runSql<PendingAlarm>(this.#ctx, 'SELECT * FROM durability_alarms')?.toArray() ?? []
  }

  find(name: string): PendingAlarm | undefined {
    return runSql<PendingAlarm>(
      this.#ctx,
      'SELECT * FROM durability_alarms WHERE name = ?',
      name,
    )?.toArray()[0]
  }

  /** Sets a new occurrence in the place of what was pending under that name. */
  set(name: string, at: number): void {
    const { sql } = this.#ctx.storage
    sql.exec(
      'CREATE TABLE IF NOT EXISTS durability_alarms (name TEXT PRIMARY KEY, occurrence TEXT, scheduledTime INTEGER, attempt INTEGER, nextAttemptAt INTEGER) WITHOUT ROWID',
    )
    sql.exec(
      `INSERT INTO durability_alarms (name, occurrence, scheduledTime, attempt, nextAttemptAt) VALUES (?, ?, ?, 0, ?)
ON CONFLICT DO UPDATE SET occurrence = excluded.occurrence, scheduledTime = excluded.scheduledTime, attempt = 0, nextAttemptAt = excluded.nextAttemptAt`,
      name,
      crypto.randomUUID(),
      at,
      at,
    )
  }

  /** Moves this very occurrence on; does nothing to one that replaced it. Answers whether it was still there. */
  update({ name, occurrence }: PendingAlarm, attempt: number, nextAttemptAt: number): boolean {
    const query =
      'UPDATE durability_alarms SET attempt = ?, nextAttemptAt = ? WHERE name = ? AND occurrence = ?'
    return changesRow(this.#ctx, query, attempt, nextAttemptAt, name, occurrence)
  }

  /** Removes this very occurrence. */
  finish({ name, occurrence }: PendingAlarm): boolean {
    return changesRow(
      this.#ctx,
      'DELETE FROM durability_alarms WHERE name = ? AND occurrence = ?',
      name,
      occurrence,
    )
  }
}
