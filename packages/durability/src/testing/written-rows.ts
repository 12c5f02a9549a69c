import type { RawRow } from './cursor.ts'

/**
 * The rows that a write returns. All is written before the first is returned; but until they are read to the end, the
 * statement counts as being in progress, and SQLite neither commits, opens a savepoint nor drops a table.
 */
export class WrittenRows implements Iterator<RawRow> {
  readonly #rows: readonly RawRow[]
  readonly #unfinished: Set<WrittenRows>
  #next = 0
  #error: Error | undefined

  constructor(rows: readonly RawRow[], unfinished: Set<WrittenRows>) {
    this.#rows = rows
    this.#unfinished = unfinished
    unfinished.add(this)
  }

  next(): IteratorResult<RawRow> {
    if (this.#error !== undefined) throw this.#error
    const value = this.#rows[this.#next++]
    return value === undefined ? this.return() : { done: false, value }
  }

  return(): IteratorResult<RawRow> {
    this.#unfinished.delete(this)
    this.#next = this.#rows.length
    return { done: true, value: undefined }
  }

  /** Ends the query; `next` throws `error` from now on, or has no more rows. */
  close(error?: Error): void {
    this.return()
    this.#error = error
  }
}
