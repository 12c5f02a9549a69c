import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { SqlValue } from '../core/state.ts'
import type { RawRow } from './cursor.ts'
import { notAuthorized, sqlError } from './sql-errors.ts'
import type { StatementText } from './sql-text.ts'

/** The platform's limit of values bound to one statement. */
const MAX_PARAMETERS = 100

/** The pragmas an object may use. Others are not authorised, `user_version` among them. */
const PRAGMA =
  /^pragma\s+((table|index)_x?info|(table|index|function)_list|foreign_keys|foreign_key_(list|check)|defer_foreign_keys|case_sensitive_like|ignore_check_constraints|legacy_alter_table|recursive_triggers|reverse_unordered_selects|quick_check|optimize)\b/i

/** What node:sqlite binds; an object binds an `ArrayBuffer` where Node wants a view. */
export type BoundValue = string | number | null | Uint8Array

export interface Prepared {
  readonly statement: StatementSync
  readonly columnNames: readonly string[]
}

/** Prepared statements of one database by their text, and which of them are still being read. */
export class StatementCache {
  readonly #sqlite: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()
  readonly #open = new Set<OpenRows>()

  constructor(sqlite: DatabaseSync) {
    this.#sqlite = sqlite
  }

  /** A statement that nobody is stepping through. */
  get(text: string): Prepared {
    const cached = this.#prepared.get(text)
    if (cached !== undefined) return cached
    const prepared = this.#prepare(text)
    this.#prepared.set(text, prepared)
    return prepared
  }

  /** Starts reading. Until the rows are read to the end, the statement is theirs alone. */
  open(text: string, values: readonly BoundValue[]): OpenRows {
    const prepared = this.get(text)
    this.#prepared.delete(text)
    const rows = new OpenRows(prepared.statement.iterate(...values), prepared.columnNames, () => {
      this.#open.delete(rows)
      this.#prepared.set(text, prepared)
    })
    this.#open.add(rows)
    return rows
  }

  /** Ends all reading: an open statement keeps a table from being dropped. */
  closeAll(): void {
    for (const rows of [...this.#open]) rows.return()
  }

  /** What was prepared on a table whose creation is undone cannot be run again, nor prepared anew by node:sqlite. */
  forget(): void {
    this.#prepared.clear()
  }

  #prepare(text: string): Prepared {
    const statement = this.#sqlite.prepare(text)
    return { statement, columnNames: statement.columns().map((column) => column.name) }
  }
}

/** The rows of a running query. */
export class OpenRows implements Iterator<RawRow> {
  readonly columnNames: readonly string[]
  readonly #steps: Iterator<unknown>
  readonly #onEnd: () => void
  #ended = false

  constructor(steps: Iterator<unknown>, columnNames: readonly string[], onEnd: () => void) {
    this.#steps = steps
    this.columnNames = columnNames
    this.#onEnd = onEnd
  }

  next(): IteratorResult<RawRow> {
    if (this.#ended) return { done: true, value: undefined }
    try {
      const step = this.#steps.next()
      if (step.done) return this.#end()
      // node:sqlite yields its rows as objects of column values; its types leave the iterator open.
      return { done: false, value: step.value as RawRow }
    } catch (error) {
      this.#end()
      throw sqlError(error)
    }
  }

  return(): IteratorResult<RawRow> {
    if (!this.#ended) this.#steps.return?.()
    return this.#end()
  }

  #end(): IteratorResult<RawRow> {
    if (!this.#ended) {
      this.#ended = true
      this.#onEnd()
    }
    return { done: true, value: undefined }
  }
}

/** Throws when the runtime would refuse the statement before running it. */
export function checkStatement({ text, kind, parameters }: StatementText, given: number): void {
  if (kind === 'control') {
    throw new Error(`An object may not run "${text}": use storage.transactionSync() for a transaction`)
  }
  if (/^pragma\b/i.test(text) && !PRAGMA.test(text)) throw notAuthorized()
  if (given > MAX_PARAMETERS) throw new Error('too many SQL variables: SQLITE_ERROR')
  if (given !== parameters) {
    throw new Error(`Wrong number of parameter bindings: "${text}" takes ${parameters}, given were ${given}`)
  }
}

/** `undefined`, which the types do not allow, is bound as null by the runtime too. */
export function toBound(value: SqlValue | undefined): BoundValue {
  return value instanceof ArrayBuffer ? new Uint8Array(value) : (value ?? null)
}
