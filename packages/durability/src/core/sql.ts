import type { ObjectState, SqlCursor, SqlValue } from './state.ts'

/** Columns have the names of the properties that hold them, so that a row needs no translation. */
export type Row = Record<string, SqlValue>

/**
 * Runs a statement on a table that may not exist: before the first use, or after `deleteAll()`. Then `undefined`.
 */
function run(ctx: ObjectState, query: string, bindings: readonly SqlValue[]): SqlCursor<Row> | undefined {
  try {
    return ctx.storage.sql.exec<Row>(query, ...bindings)
  } catch (error) {
    if (/no such table: durability/.test(String(error))) return undefined
    throw error
  }
}

/** The rows of a table, none when there is no table. Read to the end: a cursor left open would lock the table. */
export function select<R extends object>(
  ctx: ObjectState,
  table: string,
  where = '',
  ...bindings: SqlValue[]
): R[] {
  // The caller knows what it stored.
  return (run(ctx, `SELECT * FROM ${table} ${where}`, bindings)?.toArray() ?? []) as R[]
}

/** Writes a whole row, in the place of the one that has its key. */
export function replace(ctx: ObjectState, table: string, row: Row): void {
  const columns = Object.keys(row)
  ctx.storage.sql.exec(
    `REPLACE INTO ${table} (${columns}) VALUES (${columns.fill('?')})`,
    ...Object.values(row),
  )
}

/** Changes the row that is as `where` says, or deletes it when there is no `change`. Answers whether there was one. */
export function update(ctx: ObjectState, table: string, where: Row, change?: Row): boolean {
  const action = change ? `UPDATE ${table} SET ${equal(change, ',')}` : `DELETE FROM ${table}`
  const bindings = [...Object.values(change ?? {}), ...Object.values(where)]
  return (run(ctx, `${action} WHERE ${equal(where, ' AND ')}`, bindings)?.rowsWritten ?? 0) > 0
}

function equal(columns: Row, between: string): string {
  return `${Object.keys(columns).join(` = ?${between}`)} = ?`
}
