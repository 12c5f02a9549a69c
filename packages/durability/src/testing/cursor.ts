import type { SqlCursor, SqlValue } from '../core/state.ts'

/** A row as node:sqlite hands it over: without a prototype, and bytes as a view. */
export type RawRow = Readonly<Record<string, SqlValue | Uint8Array>>

/** What a statement has done so far, and where the rows of its result come from. */
export interface StatementResult {
  readonly columnNames: readonly string[]
  readonly rows: Iterator<RawRow>
  readonly rowsWritten: number
  /** Rows read without being returned, as an update reads what it changes. */
  readonly rowsRead: number
}

/** The result of one `exec`. As in the runtime it is one row ahead of what was asked for, and no further. */
export class SimulatedCursor<Row extends Record<string, SqlValue>>
  implements SqlCursor<Row>, IterableIterator<Row>
{
  readonly #result: StatementResult
  readonly #onRead: () => void
  #ahead: IteratorResult<RawRow>
  #rowsRead: number

  constructor(result: StatementResult, onRead: () => void) {
    this.#result = result
    this.#onRead = onRead
    this.#rowsRead = result.rowsRead
    this.#ahead = this.#step()
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

  next(): IteratorResult<Row> {
    const current = this.#ahead
    if (current.done) return { done: true, value: undefined }
    this.#ahead = this.#step()
    return { done: false, value: toRow<Row>(current.value) }
  }

  [Symbol.iterator](): this {
    return this
  }

  toArray(): Row[] {
    return [...this]
  }

  /** The only row. Throws when there is none, or more than one. */
  one(): Row {
    const row = this.next()
    if (row.done) throw new Error('The query has no row where one() wants exactly one')
    if (!this.#ahead.done) {
      this.#result.rows.return?.()
      throw new Error('The query has several rows where one() wants exactly one')
    }
    return row.value
  }

  /** The rows as arrays of values, in the order of `columnNames`. */
  *raw(): IterableIterator<SqlValue[]> {
    for (const row of this) yield Object.values(row)
  }

  #step(): IteratorResult<RawRow> {
    const step = this.#result.rows.next()
    if (!step.done) {
      this.#rowsRead++
      this.#onRead()
    }
    return step
  }
}

/** A row as an object's code gets it. */
export function toRow<Row extends Record<string, SqlValue>>(raw: RawRow): Row {
  const row: Record<string, SqlValue> = {}
  for (const name in raw) {
    const value = raw[name] ?? null
    row[name] = value instanceof Uint8Array ? value.slice().buffer : value
  }
  // The caller names the shape of its query's rows; SQLite cannot check it, here or in the runtime.
  return row as Row
}
