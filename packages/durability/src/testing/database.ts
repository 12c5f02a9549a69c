/// <reference types="node" />
import { DatabaseSync } from 'node:sqlite'
import type { SqlValue } from '../core/state.ts'
import { type RawRow, type ReadObserver, SimulatedCursor, type StatementResult, toRow } from './cursor.ts'
import { IndexCosts } from './index-costs.ts'
import { schemaChangeCost } from './schema-costs.ts'
import { sqlError } from './sql-errors.ts'
import { type StatementText, splitStatements } from './sql-text.ts'
import {
  type Bindings,
  type BoundValue,
  bindingsOf,
  boundValues,
  refusalOf,
  StatementCache,
  spread,
} from './statements.ts'
import { WrittenRows } from './written-rows.ts'

/** Told what an `exec` does, while it does it. */
export interface ExecObserver extends ReadObserver {
  /** A statement that may write is about to run. */
  onWriting(): void
  /** A statement has changed something: this many rows, which are none where a table is dropped. */
  onWritten(rows: number): void
}

/** One object's SQLite database, in memory. It knows nothing of turns, crashes and alarms. */
export class SimulatedDatabase {
  readonly #sqlite = new DatabaseSync(':memory:', { enableDoubleQuotedStringLiterals: true, limits: LIMITS })
  readonly #statements = new StatementCache(this.#sqlite)
  /** Those that no change of the schema touches. */
  readonly #controls = new StatementCache(this.#sqlite)
  readonly #indexes = new IndexCosts(this.#sqlite)
  readonly #unfinished = new Set<WrittenRows>()
  /** Within the transaction that is open, or ended last. */
  #schemaChanged = false
  /** A pragma was run: it may have changed how the connection works. */
  #isConfigured = false

  /** Runs every statement of the query; the last one takes the bindings and gives the rows. */
  exec<Row extends Record<string, SqlValue>>(
    query: string,
    values: readonly unknown[],
    observer: ExecObserver,
  ): SimulatedCursor<Row> {
    const bound = boundValues(values)
    const { before, last } = split(query)
    if (before.length > 0) this.#runBefore(last, before, observer)
    return new SimulatedCursor<Row>(this.#run(last, bound, observer), observer)
  }

  /** Reads all rows at once, for someone who looks from outside. */
  peek<Row extends Record<string, SqlValue>>(query: string, values: readonly unknown[]): Row[] {
    const { last } = split(query)
    if (last.kind === 'write' || last.kind === 'schema') {
      throw new Error(`Storage is only read from outside; "${query}" would change it`)
    }
    this.#check(last, values.length === last.parameters.length ? undefined : WRONG_NUMBER)
    const rows = this.internal(last.text, ...spread(bindingsOf(last, boundValues(values))))
    const { columnNames } = this.#statements.get(last.text)
    return rows.map((row) => toRow<Row>(row, columnNames))
  }

  /** Runs a statement of the simulation's own on the object's data, and gives its rows. */
  internal(text: string, ...values: BoundValue[]): RawRow[] {
    try {
      // node:sqlite's types do not know that these rows are arrays.
      return this.#statements.get(text).statement.all(...values) as unknown as RawRow[]
    } catch (error) {
      throw sqlError(error)
    }
  }

  /** Creates a table of the simulation's own, within the current transaction. */
  createInternal(text: string): void {
    this.#sqlite.exec(text)
    this.#forget()
  }

  /** Runs a statement that the simulation itself needs: of transactions and savepoints. */
  control(text: string): void {
    // A rollback to a savepoint undoes a write whose rows are still being read; all else it is in the way of.
    if (this.#unfinished.size > 0 && !text.startsWith('ROLLBACK')) {
      throw new Error(`cannot ${text.toLowerCase()} - SQL statements in progress: SQLITE_BUSY`)
    }
    this.#controls.get(text).statement.run()
    if (text.startsWith('ROLLBACK') && this.#schemaChanged) this.#forget()
    if (text === 'COMMIT' || text === 'ROLLBACK') this.#schemaChanged = false
  }

  /** Ends all queries that are still being read. Whoever reads on gets `error`, if given. */
  closeCursors(error?: Error): void {
    this.#statements.closeAll(error)
    for (const rows of [...this.#unfinished]) rows.close(error)
  }

  /** For a new instance, which has a connection of its own: what pragmas have set is as it was. */
  reconnect(): void {
    if (this.#isConfigured) this.#sqlite.exec(CONNECTION)
    this.#isConfigured = false
  }

  /** Drops everything the object has created, within the current transaction. */
  dropAll(): void {
    this.closeCursors(new Error('SQLite query was canceled because the database was deleted.'))
    const created = this.#sqlite.prepare(CREATED).all()
    // Tables that refer to each other go in any order.
    this.#sqlite.exec('PRAGMA defer_foreign_keys = ON')
    for (const { type, name } of created) {
      this.#sqlite.exec(`DROP ${type} IF EXISTS "${String(name).replaceAll('"', '""')}"`)
    }
    this.#forget()
  }

  get sizeInBytes(): number {
    const query = 'SELECT page_count * page_size AS size FROM pragma_page_count, pragma_page_size'
    const { size } = this.#sqlite.prepare(query).get() ?? {}
    return Number(size)
  }

  close(): void {
    this.closeCursors()
    this.#sqlite.close()
  }

  /**
   * As in the runtime, rows that these give are never read, and keep their statement in progress for as long as the
   * instance lives; unless one that follows is refused.
   */
  #runBefore(last: StatementText, before: readonly StatementText[], observer: ExecObserver): void {
    const results: StatementResult[] = []
    try {
      for (const statement of before) {
        if (statement.parameters.length > 0) this.#check(statement, ONLY_THE_LAST)
        const result = this.#run(statement, NO_VALUES, observer)
        results.push(result)
        new SimulatedCursor(result, observer)
      }
      this.#check(last, undefined)
      this.#sqlite.prepare(last.text)
    } catch (error) {
      for (const { rows } of results) rows.return?.()
      throw sqlError(error)
    }
  }

  #run(statement: StatementText, values: readonly BoundValue[], observer: ExecObserver): StatementResult {
    this.#check(statement, values.length === statement.parameters.length ? undefined : WRONG_NUMBER)
    const bindings = bindingsOf(statement, values)
    try {
      if (statement.kind === 'read') return this.#read(statement.text, bindings)
      observer.onWriting()
      return statement.kind === 'write'
        ? this.#write(statement, bindings, observer)
        : this.#changeSchema(statement.text, observer)
    } catch (error) {
      throw sqlError(error)
    }
  }

  /** What there is against the statement itself comes before what is wrong with its values. */
  #check(statement: StatementText, wrong: string | undefined): void {
    const refusal = refusalOf(statement)
    if (refusal !== undefined) throw new Error(refusal)
    if (wrong === undefined) return
    try {
      this.#sqlite.prepare(statement.text)
    } catch (error) {
      throw sqlError(error)
    }
    throw new Error(wrong)
  }

  #read(text: string, bindings: Bindings): StatementResult {
    if (PRAGMA.test(text)) this.#isConfigured = true
    const rows = this.#statements.open(text, bindings)
    return { columnNames: rows.columnNames, rows, rowsRead: 0, rowsWritten: 0 }
  }

  /** Every row is written before the first is returned, also by SQLite itself. */
  #write({ text, isReturning }: StatementText, bindings: Bindings, observer: ExecObserver): StatementResult {
    if (this.#indexes.start()) this.#schemaChanged = true
    const prepared = this.#statements.get(text)
    const values = spread(bindings)
    // RETURNING gives one row per row written, and nothing else gives rows.
    // They may hold integers too large for a number, and cannot be asked for again.
    if (isReturning) prepared.statement.setReadBigInts(true)
    const returned = isReturning ? prepared.statement.all(...values) : NOTHING
    const changes = isReturning ? returned.length : Number(prepared.statement.run(...values).changes)
    const written = this.#indexes.written(changes)
    if (written > 0) observer.onWritten(written)
    observer.onRead(changes)
    // node:sqlite's types do not know that these rows are arrays.
    const rows =
      returned.length === 0 ? NO_ROWS : new WrittenRows(returned as unknown as RawRow[], this.#unfinished)
    const columnNames = isReturning ? prepared.columnNames : NO_COLUMNS
    return { columnNames, rows, rowsRead: changes, rowsWritten: written }
  }

  #changeSchema(text: string, observer: ExecObserver): StatementResult {
    const before = this.#schemaVersion()
    this.#indexes.beforeSchemaChange(text)
    this.#execSchema(text)
    if (this.#schemaVersion() === before) return UNCHANGED
    this.#forget()
    const cost = schemaChangeCost(this.#sqlite, text)
    observer.onRead(cost.rowsRead)
    observer.onWritten(cost.rowsWritten)
    return { ...UNCHANGED, ...cost }
  }

  #execSchema(text: string): void {
    // Any statement in progress keeps all tables from being dropped; for a write that is, a read stands in here.
    const stand =
      this.#unfinished.size > 0 ? this.#sqlite.prepare('SELECT name FROM sqlite_schema').iterate() : undefined
    stand?.next()
    try {
      // Not cached: it runs once, and would be prepared again anyway after it has changed the schema.
      this.#sqlite.exec(text)
    } finally {
      stand?.return?.()
    }
  }

  /** What was prepared on a table that is gone fails without saying why. */
  #forget(): void {
    this.#schemaChanged = true
    this.#statements.forget()
    this.#indexes.forget()
  }

  #schemaVersion(): unknown {
    return Object.values(this.#controls.get('PRAGMA schema_version').statement.get() ?? {})[0]
  }
}

interface Query {
  readonly before: readonly StatementText[]
  readonly last: StatementText
}

/** The same for all databases: those of a test hold the same queries. */
const queries = new Map<string, Query>()
const MAX_QUERIES = 10_000

function split(query: string): Query {
  const known = queries.get(query)
  if (known !== undefined) return known
  const text = String(query)
  if (text.length > LIMITS.sqlLength) throw new Error('statement too long: SQLITE_TOOBIG')
  const statements = splitStatements(text)
  const last = statements.at(-1)
  if (last === undefined) throw new Error('A query is split into at least one statement')
  if (queries.size === MAX_QUERIES) queries.clear()
  const parts = { before: statements.slice(0, -1), last }
  queries.set(query, parts)
  return parts
}

/** The platform's limits of SQL. Older versions of Node do not hold a database to them. */
const LIMITS = {
  length: 2_200_000,
  sqlLength: 100_000,
  column: 100,
  exprDepth: 100,
  compoundSelect: 5,
  likePatternLength: 50,
}

const PRAGMA = /^pragma/i

const CONNECTION = `
  PRAGMA foreign_keys = ON; PRAGMA defer_foreign_keys = OFF; PRAGMA ignore_check_constraints = OFF;
  PRAGMA recursive_triggers = OFF; PRAGMA reverse_unordered_selects = OFF; PRAGMA legacy_alter_table = OFF;
  PRAGMA case_sensitive_like = OFF`

/** Those without pages of their own first: a virtual table takes its shadows with it. */
const CREATED = `
  SELECT type, name FROM sqlite_schema
  WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' ORDER BY rootpage`

const ONLY_THE_LAST =
  'When executing multiple SQL statements in a single call, only the last statement can have parameters.'

const WRONG_NUMBER = 'Wrong number of parameter bindings for SQL query.'

const NO_VALUES: readonly BoundValue[] = []
const NOTHING: readonly never[] = []
const NO_COLUMNS: readonly string[] = []
const NO_ROWS: Iterator<RawRow> = [].values()
const UNCHANGED: StatementResult = {
  columnNames: NO_COLUMNS,
  rows: NO_ROWS,
  rowsRead: 0,
  rowsWritten: 0,
}
