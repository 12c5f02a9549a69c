import type { DatabaseSync } from 'node:sqlite'

/** One index, and what decides whether a change of its table writes to it. */
interface Index {
  readonly columns: readonly string[]
  /** The condition of a partial index. */
  readonly condition: string | undefined
}

/** What is asked for of the columns and indexes of a schema; each query gives some of it. */
interface SchemaRow {
  readonly name: string
  readonly sql: string | null
  readonly hasRowid: number
  readonly linked: number
  readonly origin: string
  readonly type: string
  readonly n: number
}

const COUNTER = 'durability_count_index_rows'

/**
 * Counts the rows that a write costs beside its own: one for every index that an insert, or an update of the index's
 * columns, writes to. A row that leaves an index costs nothing. SQLite tells none of it, so temporary triggers do; there
 * are none for a table without indexes.
 */
export class IndexCosts {
  readonly #sqlite: DatabaseSync
  #isCounterDefined = false
  /** Nothing has been created yet that could cost more than rows do. */
  #isPlain = true
  /** The triggers are those of an earlier schema. */
  #isStale = true
  #triggers = 0
  /** Triggers and foreign keys write rows that SQLite does not count as changes of the statement. */
  #countsAll = false
  #indexRows = 0
  /** The tables with AUTOINCREMENT that the statement has inserted into. */
  readonly #countedIds = new Set<string>()
  #changesBefore = 0

  constructor(sqlite: DatabaseSync) {
    this.#sqlite = sqlite
  }

  /** Called before each write. True when the temporary schema has changed, which a rollback will undo. */
  start(): boolean {
    this.#indexRows = 0
    if (this.#isPlain) return false
    this.#countedIds.clear()
    const installs = this.#isStale
    if (this.#isStale) this.#install()
    if (this.#countsAll) this.#changesBefore = this.#totalChanges()
    return installs && this.#triggers > 0
  }

  /** The rows written since `start` by a statement that made so many changes. */
  written(changes: number): number {
    const rows = this.#countsAll ? this.#totalChanges() - this.#changesBefore : changes
    return rows + this.#indexRows + this.#countedIds.size
  }

  /** Takes the triggers away, which a change of the schema could trip over. */
  beforeSchemaChange(text: string): void {
    if (this.#isPlain) this.#isPlain = !COSTLY.test(text.replace(/\bINTEGER\s+PRIMARY\s+KEY\b/gi, ''))
    this.#uninstall()
  }

  #uninstall(): void {
    if (!this.#isCounterDefined) return
    // Not those that are known of: a rollback may have brought others back.
    for (const { name } of this.#all(TRIGGERS)) this.#sqlite.exec(`DROP TRIGGER temp."${name}"`)
    this.forget()
  }

  /** The schema has changed, or gone back to what it was. */
  forget(): void {
    this.#triggers = 0
    this.#isStale = true
  }

  #install(): void {
    this.#uninstall()
    this.#isStale = false
    const tables = this.#all(TABLES)
    this.#countsAll = tables.some(({ linked }) => linked === 1)
    for (const { name: table, sql, hasRowid } of tables) {
      const indexes = this.#indexesOf(table, hasRowid === 1)
      for (const index of indexes) this.#watch(table, index, hasRowid === 1)
      // AUTOINCREMENT keeps the last id in a row of its own, which is written once by a statement.
      if (/\bAUTOINCREMENT\b/i.test(sql ?? '')) {
        const body = `SELECT ${COUNTER}('${table.replaceAll("'", "''")}')`
        this.#createTrigger(`INSERT ON main.${quoted(table)}`, body)
      }
    }
  }

  #indexesOf(table: string, hasRowid: boolean): Index[] {
    const columns = this.#all('SELECT name FROM pragma_table_xinfo(?)', table).map(({ name }) => name)
    return this.#all('SELECT name, origin FROM pragma_index_list(?)', table)
      .filter(({ origin }) => hasRowid || origin !== 'pk')
      .map(({ name }) => {
        const [{ sql } = { sql: null }] = this.#all(INDEX, name)
        if (typeof sql !== 'string') {
          const indexed = this.#all('SELECT name FROM pragma_index_info(?)', name)
          return { columns: indexed.map((column) => column.name), condition: undefined }
        }
        // Expressions and conditions too: any column that the index names.
        const names = namesIn(sql.slice(sql.search(/\bON\b/i)))
        return {
          columns: columns.filter((column) => names.has(column.toUpperCase())),
          condition: conditionOf(sql),
        }
      })
  }

  #watch(table: string, { columns, condition }: Index, hasRowid: boolean): void {
    const keys = this.#keysOf(table, hasRowid)
    const isNew = keys.map((key) => `${key} IS NEW.${key}`).join(' AND ')
    const body =
      condition === undefined
        ? `SELECT ${COUNTER}()`
        : `SELECT ${COUNTER}() FROM main.${quoted(table)} WHERE ${isNew} AND (${condition})`
    this.#createTrigger(`INSERT ON main.${quoted(table)}`, body)
    // Every index holds the key of its rows.
    const updated = [...new Set([...columns.map(quoted), ...keys.filter((key) => key !== 'rowid')])]
    if (updated.length > 0) this.#createTrigger(`UPDATE OF ${updated.join()} ON main.${quoted(table)}`, body)
  }

  /** The columns that a row is known by. */
  #keysOf(table: string, hasRowid: boolean): string[] {
    const keys = this.#all('SELECT name, type FROM pragma_table_info(?) WHERE pk > 0', table)
    const [key] = keys
    if (!hasRowid) return keys.map(({ name }) => quoted(name))
    const isRowid = keys.length === 1 && key !== undefined && /^INTEGER$/i.test(key.type)
    return isRowid ? [quoted(key.name)] : ['rowid']
  }

  #createTrigger(event: string, body: string): void {
    if (!this.#isCounterDefined) {
      this.#sqlite.function(COUNTER, { varargs: true }, (table) => {
        if (table === undefined) this.#indexRows++
        else this.#countedIds.add(String(table))
        return null
      })
      this.#isCounterDefined = true
    }
    const name = `${COUNTER}_${this.#triggers++}`
    this.#sqlite.exec(`CREATE TEMP TRIGGER "${name}" AFTER ${event} BEGIN ${body}; END`)
  }

  #totalChanges(): number {
    return this.#all('SELECT total_changes() AS n')[0]?.n ?? 0
  }

  /** Only for queries of the schema, whose columns are named here. */
  #all(query: string, ...values: string[]): SchemaRow[] {
    return this.#sqlite.prepare(query).all(...values) as unknown as SchemaRow[]
  }
}

/** What makes a table cost more than a row per row. */
const COSTLY = /\b(INDEX|UNIQUE|PRIMARY|TRIGGER|REFERENCES|AUTOINCREMENT)\b/i

const TRIGGERS = `SELECT name FROM temp.sqlite_schema WHERE name GLOB '${COUNTER}_*'`

const INDEX = "SELECT sql FROM main.sqlite_schema WHERE type = 'index' AND name = ?"

/** Tables whose changes cost more than a row each: with indexes, triggers, foreign keys or counted ids. */
const TABLES = `
  SELECT name, sql, sql NOT LIKE '%WITHOUT%ROWID%' AS hasRowid,
    sql LIKE '%REFERENCES%' OR EXISTS (SELECT 1 FROM main.sqlite_schema WHERE type = 'trigger') AS linked
  FROM main.sqlite_schema t
  WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' AND (
    sql LIKE '%AUTOINCREMENT%' OR linked
    OR EXISTS (SELECT 1 FROM main.sqlite_schema i WHERE i.type = 'index' AND i.tbl_name = t.name))`

/** The condition of a partial index: what follows the WHERE after its columns. */
export function conditionOf(sql: string): string | undefined {
  let depth = 0
  for (const { 0: token, index } of sql.matchAll(TOKEN)) {
    if (token === '(') depth++
    else if (token === ')') depth--
    else if (depth === 0 && token.toUpperCase() === 'WHERE') return sql.slice(index + token.length)
  }
  return undefined
}

const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|[()]|[A-Za-z_]\w*/g

function namesIn(sql: string): ReadonlySet<string> {
  return new Set(
    sql
      .toUpperCase()
      .match(/"(?:[^"]|"")*"|[A-Z_][\w$]*/g)
      ?.map((name) => name.replaceAll('"', '')),
  )
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`
}
