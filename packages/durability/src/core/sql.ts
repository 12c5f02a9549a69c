import type { ObjectState, SqlCursor, SqlValue } from './state.ts'

/**
 * Runs a statement on a table that may not exist: before the first use, or after `deleteAll()`. Then `undefined`.
 * Columns have the names of the properties that hold them, so that a row needs no translation.
 */
export function runSql<Row extends Record<string, SqlValue>>(
  ctx: ObjectState,
  query: string,
  ...bindings: SqlValue[]
): SqlCursor<Row> | undefined {
  try {
    return ctx.storage.sql.exec<Row>(query, ...bindings)
  } catch (error) {
    if (/no such table: durability/.test(String(error))) return undefined
    throw error
  }
}

/** Whether the statement changed a row. */
export function changesRow(ctx: ObjectState, query: string, ...bindings: SqlValue[]): boolean {
  return (runSql(ctx, query, ...bindings)?.rowsWritten ?? 0) > 0
}
