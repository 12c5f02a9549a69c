import { DatabaseSync } from 'node:sqlite'
import type { SqlValue } from '../core/state.ts'
import { type RawRow, SimulatedCursor, type StatementResult, toRow } from './cursor.ts'
import { sqlError } from './sql-errors.ts'
import { type StatementText, splitStatements } from './sql-text.ts'
import { type BoundValue, checkStatement, StatementCache, toBound } from './statements.ts'

/** Told what an `exec` does, while it does it. */
export interface ExecObserver {
  /** A statement that may write is about to run. */
  onWriting(): void
  /** A statement has changed something. */
  onWritten(rows: number): void
  onRead(rows: number): void
}

/** One object's SQLite database, in memory. It knows nothing of turns, crashes and alarms. */
export class SimulatedDatabase {
  readonly #sqlite = new DatabaseSync(':memory:')
  readonly #statements = new StatementCache(this.#sqlite)
  readonly #queries = new Map<string, readonly StatementText[]>()
  /** Within the transaction that is open, or ended last. */
  #schemaChanged = false

  /** Runs every statement of the query; the last one takes the bindings and gives the rows. */
  exec<Row extends Record<string, SqlValue>>(
    query: string,
    bindings: readonly SqlValue[],
    observer: ExecObserver,
  ): SimulatedCursor<Row> {
    const { before, last } = this.#split(query)
    const onRead = (): void => observer.onRead(1)
    for (const statement of before) {
      new SimulatedCursor(this.#run(statement, [], observer), onRead).toArray()
    }
    return new SimulatedCursor<Row>(this.#run(last, bindings, observer), onRead)
  }

  /** Reads all rows at once, for someone who looks from outside. */
  peek<Row extends Record<string, SqlValue>>(query: string, bindings: readonly SqlValue[]): Row[] {
    const { last } = this.#split(query)
    checkStatement(last, bindings.length)
    if (last.kind !== 'read') throw new Error(`Only reads from outside are simulated, not "${query}"`)
    try {
      // node:sqlite gives a row as any column values that it can return; bigint is not among them unless asked for.
      const rows = this.#statements.get(last.text).statement.all(...bindings.map(toBound)) as RawRow[]
      return rows.map((row) => toRow<Row>(row))
    } catch (error) {
      throw sqlError(error)
    }
  }

  /** Runs a statement that the simulation itself needs: of transactions and savepoints. */
  control(text: string): void {
    this.#statements.get(text).statement.run()
    if (text.startsWith('ROLLBACK') && this.#schemaChanged) this.#statements.forget()
    if (text === 'COMMIT' || text === 'ROLLBACK') this.#schemaChanged = false
  }

  /** Ends all queries that are still being read. */
  closeCursors(): void {
    this.#statements.closeAll()
  }

  /** Drops everything the object has created, within the current transaction. */
  dropAll(): void {
    this.closeCursors()
    this.#noteSchemaChange()
    const created = this.#sqlite
      .prepare(
        `SELECT type, name FROM sqlite_schema WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`,
      )
      .all()
    for (const { type, name } of created) {
      this.#sqlite.exec(`DROP ${type} IF EXISTS "${String(name).replaceAll('"', '""')}"`)
    }
  }

  get sizeInBytes(): number {
    const query = 'SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size'
    const { size } = this.#statements.get(query).statement.get() ?? {}
    return Number(size)
  }

  close(): void {
    this.closeCursors()
    this.#sqlite.close()
  }

  #split(query: string): { readonly before: readonly StatementText[]; readonly last: StatementText } {
    let statements = this.#queries.get(query)
    if (statements === undefined) {
      statements = splitStatements(query)
      this.#queries.set(query, statements)
    }
    const last = statements.at(-1)
    if (last === undefined) throw new Error(`The query holds no SQL statement: "${query}"`)
    return { before: statements.length === 1 ? NONE : statements.slice(0, -1), last }
  }

  #run(statement: StatementText, bindings: readonly SqlValue[], observer: ExecObserver): StatementResult {
    checkStatement(statement, bindings.length)
    const values = bindings.map(toBound)
    try {
      if (statement.kind === 'read') return this.#read(statement.text, values)
      observer.onWriting()
      return statement.kind === 'write'
        ? this.#write(statement.text, values, observer)
        : this.#changeSchema(statement.text, observer)
    } catch (error) {
      throw sqlError(error)
    }
  }

  #read(text: string, values: readonly BoundValue[]): StatementResult {
    const rows = this.#statements.open(text, values)
    return { columnNames: rows.columnNames, rows, rowsRead: 0, rowsWritten: 0 }
  }

  /** Every row is written before the first is returned, also by SQLite itself. */
  #write(text: string, values: readonly BoundValue[], observer: ExecObserver): StatementResult {
    const { statement, columnNames } = this.#statements.get(text)
    // RETURNING gives one row per row written, and nothing else gives rows.
    const returned = columnNames.length > 0 ? statement.all(...values) : []
    const written = columnNames.length > 0 ? returned.length : Number(statement.run(...values).changes)
    if (written > 0) observer.onWritten(written)
    observer.onRead(written)
    // node:sqlite types a row as any column values it can return; bigint is not among them unless asked for.
    const rows = (returned as Record<string, BoundValue>[])[Symbol.iterator]()
    return { columnNames, rows, rowsRead: written, rowsWritten: written }
  }

  #changeSchema(text: string, observer: ExecObserver): StatementResult {
    const before = this.#schemaVersion()
    // Not cached: it runs once, and would be prepared again anyway after it has changed the schema.
    this.#sqlite.exec(text)
    const changed = this.#schemaVersion() !== before
    if (changed) {
      this.#noteSchemaChange()
      observer.onRead(SCHEMA_CHANGE.rowsRead)
      observer.onWritten(SCHEMA_CHANGE.rowsWritten)
    }
    return { columnNames: [], rows: [][Symbol.iterator](), ...(changed ? SCHEMA_CHANGE : NO_CHANGE) }
  }

  /** What was prepared on a table that is gone fails without saying why. */
  #noteSchemaChange(): void {
    this.#schemaChanged = true
    this.#statements.forget()
  }

  #schemaVersion(): unknown {
    const { schema_version } = this.#statements.get('PRAGMA schema_version').statement.get() ?? {}
    return schema_version
  }
}

const NONE: readonly StatementText[] = []

/** What CREATE TABLE costs in the runtime. Other changes of a schema cost about as much. */
const SCHEMA_CHANGE = { rowsRead: 1, rowsWritten: 2 }
const NO_CHANGE = { rowsRead: 0, rowsWritten: 0 }
