import type { ObjectState } from '../core/state.ts'

/** The pending occurrence of one name. Instants are epoch ms. */
export interface PendingAlarm {
  readonly name: string
  /** A random id: tells an occurrence from the one that replaces it. */
  readonly occurrence: string
  readonly scheduledTime: number
  /** Attempts that were begun. */
  readonly attempt: number
  readonly nextAttemptAt: number
}

const CREATE = `
  CREATE TABLE IF NOT EXISTS durability_alarms (
    name TEXT PRIMARY KEY,
    occurrence TEXT NOT NULL,
    scheduled_time INTEGER NOT NULL,
    attempt INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER NOT NULL
  ) WITHOUT ROWID
`

/** One row per name that is set. Created by the first `set`; before that, and after `deleteAll()`, it reads as empty. */
export class AlarmTable {
  readonly #ctx: ObjectState

  constructor(ctx: ObjectState) {
    this.#ctx = ctx
  }

  all(): PendingAlarm[] {
    return this.#select('SELECT * FROM durability_alarms')
  }

  find(name: string): PendingAlarm | undefined {
    return this.#select('SELECT * FROM durability_alarms WHERE name = ?', name)[0]
  }

  /** Replaces what was pending under that name. */
  set(alarm: PendingAlarm): void {
    this.#ctx.storage.sql.exec(CREATE)
    this.#ctx.storage.sql.exec(
      `INSERT INTO durability_alarms (name, occurrence, scheduled_time, attempt, next_attempt_at) VALUES (?, ?, ?, ?, ?)
       ON CONFLICT (name) DO UPDATE SET occurrence = excluded.occurrence, scheduled_time = excluded.scheduled_time,
         attempt = excluded.attempt, next_attempt_at = excluded.next_attempt_at`,
      alarm.name,
      alarm.occurrence,
      alarm.scheduledTime,
      alarm.attempt,
      alarm.nextAttemptAt,
    )
  }

  /** Moves this very occurrence on; does nothing to one that replaced it. Answers whether it was still there. */
  update({ name, occurrence }: PendingAlarm, attempt: number, nextAttemptAt: number): boolean {
    return this.#changes(
      'UPDATE durability_alarms SET attempt = ?, next_attempt_at = ? WHERE name = ? AND occurrence = ?',
      attempt,
      nextAttemptAt,
      name,
      occurrence,
    )
  }

  /** Removes this very occurrence. */
  finish({ name, occurrence }: PendingAlarm): boolean {
    return this.#changes('DELETE FROM durability_alarms WHERE name = ? AND occurrence = ?', name, occurrence)
  }

  #select(query: string, ...bindings: string[]): PendingAlarm[] {
    const rows = this.#unlessMissing(() => this.#ctx.storage.sql.exec<AlarmRow>(query, ...bindings).toArray())
    return (rows ?? []).map((row) => ({
      name: row.name,
      occurrence: row.occurrence,
      scheduledTime: row.scheduled_time,
      attempt: row.attempt,
      nextAttemptAt: row.next_attempt_at,
    }))
  }

  #changes(query: string, ...bindings: (string | number)[]): boolean {
    const cursor = this.#unlessMissing(() => this.#ctx.storage.sql.exec(query, ...bindings))
    return cursor !== undefined && cursor.rowsWritten > 0
  }

  #unlessMissing<T>(query: () => T): T | undefined {
    try {
      return query()
    } catch (error) {
      if (error instanceof Error && /no such table: durability_alarms/.test(error.message)) return undefined
      throw error
    }
  }
}

type AlarmRow = {
  name: string
  occurrence: string
  scheduled_time: number
  attempt: number
  next_attempt_at: number
}
