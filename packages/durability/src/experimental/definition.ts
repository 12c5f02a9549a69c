import { runSql } from '../core/sql.ts'
import type { ObjectState } from '../core/state.ts'
import { checkReadable, createSchema } from './schema.ts'

/** The schedule's one row. Instants are epoch ms. */
export type Definition = {
  /** Null before the first `set`, and after a cancel without one. */
  version: number | null
  /** Null while there is nothing to tick. */
  expression: string | null
  /** 0 or 1. */
  cancelled: number
  jitterMs: number
  /** Null when the offset was given, not drawn. */
  jitterMaxMs: number | null
  /** The cursor: the next nominal time, or null when no tick is to come. */
  nextTime: number | null
  /** The last nominal time that was recorded, over all versions: none at or before it is recorded again. */
  lastTime: number | null
  /** The key of the last recorded run. Keys rise by one and are never used again. */
  lastRunId: number
}

/** What the row says before anything was stored. */
export const NO_DEFINITION: Readonly<Definition> = {
  version: null,
  expression: null,
  cancelled: 0,
  jitterMs: 0,
  jitterMaxMs: null,
  nextTime: null,
  lastTime: null,
  lastRunId: 0,
}

const COLUMNS = Object.keys(NO_DEFINITION) as (keyof Definition)[]

/**
 * Reads and writes the schedule's row. What was read is kept for the rest of the synchronous section only: any later
 * one could find it rolled back, deleted or migrated away.
 */
export class DefinitionStore {
  readonly #ctx: ObjectState
  #known: { readonly row: Readonly<Definition> | undefined } | undefined

  constructor(ctx: ObjectState) {
    this.#ctx = ctx
  }

  /** `undefined` before the first use. @throws DurabilityError when the schema is too new for this code. */
  read(): Readonly<Definition> | undefined {
    if (this.#known !== undefined) return this.#known.row
    const [row] =
      runSql<Definition & { schemaVersion: number; oldestReader: number }>(
        this.#ctx,
        'SELECT * FROM durability_schedule',
      )?.toArray() ?? []
    if (row !== undefined) checkReadable(row.schemaVersion, row.oldestReader)
    this.#keep(row)
    return row
  }

  /** Whether the row says the same as when it was read: user code that ran since may have set or cancelled. */
  isStill({ version, nextTime }: Readonly<Definition>): boolean {
    const now = this.read() ?? NO_DEFINITION
    return now.version === version && now.nextTime === nextTime
  }

  /** Writes the row (one row written), creating the tables on first use. Answers whether it created them. */
  write(row: Readonly<Definition>): boolean {
    const isFirst = this.read() === undefined
    if (isFirst) createSchema(this.#ctx)
    this.#ctx.storage.sql.exec(
      `UPDATE durability_schedule SET ${COLUMNS.map((column) => `${column} = ?`).join()}`,
      ...COLUMNS.map((column) => row[column]),
    )
    this.#keep(row)
    return isFirst
  }

  /** What was read or written may have been rolled back. */
  forget(): void {
    this.#known = undefined
  }

  #keep(row: Readonly<Definition> | undefined): void {
    const known = { row }
    this.#known = known
    queueMicrotask(() => {
      if (this.#known === known) this.#known = undefined
    })
  }
}
