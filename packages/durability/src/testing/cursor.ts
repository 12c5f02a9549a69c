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

/** The result of one `exec`. Its first row is read at once, as in the runtime; the others when they are asked for. */
export class SimulatedCursor<Row extends Record<string, SqlValue>>
  implements SqlCursor<Row>, IterableIterator<Row>
{
  readonly #result: StatementResult
  readonly #onRead: () => void
  #first: IteratorResult<RawRow> | undefined
  #rowsRead: number

  constructor(result: StatementResult, onRead: () => void) {
    this.#result = result
    this.#onRead = onRead
    this.#rowsRead = result.rowsRead
    this.#first = this.#step()
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
    const step = this.#first ?? this.#step()
    this.#first = undefined
    return step.done ? { done: true, value: undefined } : { done: false, value: toRow<Row>(step.value) }
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
    if (!this.next().done) {
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

function toRow<Row extends Record<string, SqlValue>>(raw: RawRow): Row {
  const row: Record<string, SqlValue> = {}
  for (const name in raw) {
    const value = raw[name] ?? null
    row[name] = value instanceof Uint8Array ? value.slice().buffer : value
  }
  // The caller names the shape of its query's rows; SQLite cannot check it, here or in the runtime.
  return row as Row
}
