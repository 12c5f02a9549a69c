import type { SqlValue } from '../core/state.ts'

/** A row as node:sqlite hands it over: bytes as a view, and large integers as they are if asked. */
export type RawRow = readonly (SqlValue | Uint8Array | bigint)[]

/** What a statement has done so far, and where the rows of its result come from. */
export interface StatementResult {
  readonly columnNames: readonly string[]
  readonly rows: Iterator<RawRow>
  readonly rowsWritten: number
  /** Rows read without being returned, as an update reads what it changes. */
  readonly rowsRead: number
}

/** Told of the rows that are read. */
export interface ReadObserver {
  onRead(rows: number): void
}

/**
 * The result of one `exec`. As in the runtime it is one row ahead of what was asked for, and no further; leaving a loop
 * over it early leaves the rest to be read.
 */
export class SimulatedCursor<Row extends Record<string, SqlValue>> implements SqlStorageCursor<Row> {
  readonly #result: StatementResult
  readonly #observer: ReadObserver
  #ahead: IteratorResult<RawRow>
  #rowsRead: number

  constructor(result: StatementResult, observer: ReadObserver) {
    this.#result = result
    this.#observer = observer
    this.#rowsRead = result.rowsRead
    this.#ahead = this.#step()
  }

  get [Symbol.toStringTag](): string {
    return 'Cursor'
  }

  get columnNames(): string[] {
    return [...this.#result.columnNames]
  }

  get rowsRead(): number {
    return this.#rowsRead
  }

  get rowsWritten(): number {
    return this.#result.rowsWritten
  }

  next(): { done: false; value: Row } | { done: true; value?: never } {
    const row = this.#next()
    // The property is there, as in the runtime, and its type says that it is not.
    return row === undefined
      ? ({ done: true, value: undefined } as { done: true })
      : { done: false, value: this.#toRow(row) }
  }

  [Symbol.iterator](): IterableIterator<Row> {
    return new RowIterator<Row>(() => {
      const row = this.#next()
      return row === undefined ? END : { done: false, value: this.#toRow(row) }
    })
  }

  toArray(): Row[] {
    const rows: Row[] = []
    for (let row = this.#next(); row !== undefined; row = this.#next()) rows.push(this.#toRow(row))
    return rows
  }

  /** The only row. Throws when there is none, or more than one. */
  one(): Row {
    const row = this.#next()
    if (row === undefined) {
      throw new Error('Expected exactly one result from SQL query, but got no results.')
    }
    if (!this.#ahead.done) {
      this.#result.rows.return?.()
      this.#ahead = { done: true, value: undefined }
      throw new Error('Expected exactly one result from SQL query, but got multiple results.')
    }
    return this.#toRow(row)
  }

  /** The rows as arrays of values, in the order of `columnNames`. */
  raw<Values extends SqlValue[]>(): IterableIterator<Values> {
    return new RowIterator<Values>(() => {
      const row = this.#next()
      // The caller names the types of the columns, which SQLite cannot check, here or in the runtime.
      return row === undefined ? END : { done: false, value: row.map(toValue) as Values }
    })
  }

  #toRow(row: RawRow): Row {
    return toRow(row, this.#result.columnNames)
  }

  #next(): RawRow | undefined {
    const current = this.#ahead
    if (current.done) return undefined
    this.#ahead = this.#step()
    return current.value
  }

  #step(): IteratorResult<RawRow> {
    const step = this.#result.rows.next()
    if (!step.done) {
      this.#rowsRead++
      this.#observer.onRead(1)
    }
    return step
  }
}

/** As in the runtime it has no `return`, so that a loop that is left does not end the query. */
class RowIterator<T> implements IterableIterator<T> {
  readonly next: () => IteratorResult<T>

  constructor(next: () => IteratorResult<T>) {
    this.next = next
  }

  [Symbol.iterator](): this {
    return this
  }
}

// Its methods `map`, `toArray` and so on, which not every version of TypeScript's library names.
Object.setPrototypeOf(RowIterator.prototype, Object.getPrototypeOf(Object.getPrototypeOf([].values())))

const END: IteratorResult<never> = { done: true, value: undefined }

/** A row as an object's code gets it. */
export function toRow<Row extends Record<string, SqlValue>>(raw: RawRow, names: readonly string[]): Row {
  const row: Record<string, SqlValue> = {}
  for (const [index, name] of names.entries()) row[name] = toValue(raw[index])
  // The caller names the shape of its query's rows; SQLite cannot check it, here or in the runtime.
  return row as Row
}

function toValue(value: SqlValue | Uint8Array | bigint | undefined): SqlValue {
  if (value === undefined || typeof value !== 'object') {
    return typeof value === 'bigint' ? Number(value) : (value ?? null)
  }
  return value instanceof Uint8Array ? value.slice().buffer : value
}
