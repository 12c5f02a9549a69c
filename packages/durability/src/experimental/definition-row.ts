import type { ObjectState } from '../core/state.ts'
import { checkReadable, createSchema, OLDEST_READER, SCHEMA_VERSION, unlessMissing } from './schema.ts'

/**
 * The schedule's one row. `expression` is null after a cancel, `version` null after a cancel without one, `nextTime`
 * null when no tick is to come. Instants are epoch ms.
 */
export interface DefinitionRow {
  readonly version: number | null
  readonly expression: string | null
  readonly cancelled: boolean
  readonly jitterMs: number
  readonly jitterMaxMs: number | null
  /** The next nominal time: the cursor. */
  readonly nextTime: number | null
  /** The last nominal time that was recorded, over all versions: none at or before it is recorded again. */
  readonly lastTime: number | null
  /** The key of the last recorded run. Keys rise by one and are never used again. */
  readonly lastRunId: number
}

/** What the row says before anything was stored. */
export const NO_DEFINITION: DefinitionRow = {
  version: null,
  expression: null,
  cancelled: false,
  jitterMs: 0,
  jitterMaxMs: null,
  nextTime: null,
  lastTime: null,
  lastRunId: 0,
}

/**
 * Reads and writes the schedule's row. What was read is kept for the rest of the synchronous section only: any later
 * one could find it rolled back, deleted or migrated away.
 */
export class DefinitionStore {
  readonly #ctx: ObjectState
  #read: { readonly row: DefinitionRow | undefined } | undefined

  constructor(ctx: ObjectState) {
    this.#ctx = ctx
  }

  /** `undefined` before the first use. @throws ScheduleSchemaError when the schema is too new for this code. */
  read(): DefinitionRow | undefined {
    if (this.#read === undefined) this.#remember(this.#select())
    return this.#read?.row
  }

  /** Writes the whole row (one row written), creating the tables on first use. Answers whether it created them. */
  write(row: DefinitionRow): boolean {
    const created = this.read() === undefined
    if (created) this.#createIfMissing()
    this.#ctx.storage.sql.exec(
      `INSERT INTO durability_schedule
         (id, schema_version, oldest_reader, version, expression, cancelled, jitter_ms, jitter_max_ms, next_time, last_time, last_run_id)
       VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET
         version = excluded.version, expression = excluded.expression, cancelled = excluded.cancelled,
         jitter_ms = excluded.jitter_ms, jitter_max_ms = excluded.jitter_max_ms, next_time = excluded.next_time,
         last_time = excluded.last_time, last_run_id = excluded.last_run_id`,
      SCHEMA_VERSION,
      OLDEST_READER,
      row.version,
      row.expression,
      row.cancelled ? 1 : 0,
      row.jitterMs,
      row.jitterMaxMs,
      row.nextTime,
      row.lastTime,
      row.lastRunId,
    )
    this.#remember(row)
    return created
  }

  /** Moves the cursor on past a recorded tick (one row written). */
  advance(row: DefinitionRow, next: { nextTime: number | null; lastTime: number; lastRunId: number }): void {
    this.#ctx.storage.sql.exec(
      'UPDATE durability_schedule SET next_time = ?, last_time = ?, last_run_id = ? WHERE id = 1',
      next.nextTime,
      next.lastTime,
      next.lastRunId,
    )
    this.#remember({ ...row, ...next })
  }

  /** What was read may have been rolled back. */
  forget(): void {
    this.#read = undefined
  }

  #remember(row: DefinitionRow | undefined): void {
    const read = { row }
    this.#read = read
    queueMicrotask(() => {
      if (this.#read === read) this.#read = undefined
    })
  }

  #createIfMissing(): void {
    const missing =
      unlessMissing(() => this.#ctx.storage.sql.exec('SELECT 1 FROM durability_schedule').toArray()) ===
      undefined
    if (missing) createSchema(this.#ctx)
  }

  #select(): DefinitionRow | undefined {
    const rows = unlessMissing(() =>
      this.#ctx.storage.sql.exec<StoredRow>('SELECT * FROM durability_schedule').toArray(),
    )
    const stored = rows?.[0]
    if (stored === undefined) return undefined
    checkReadable(stored.schema_version, stored.oldest_reader)
    return {
      version: stored.version,
      expression: stored.expression,
      cancelled: stored.cancelled === 1,
      jitterMs: stored.jitter_ms,
      jitterMaxMs: stored.jitter_max_ms,
      nextTime: stored.next_time,
      lastTime: stored.last_time,
      lastRunId: stored.last_run_id,
    }
  }
}

type StoredRow = {
  schema_version: number
  oldest_reader: number
  version: number | null
  expression: string | null
  cancelled: number
  jitter_ms: number
  jitter_max_ms: number | null
  next_time: number | null
  last_time: number | null
  last_run_id: number
}
