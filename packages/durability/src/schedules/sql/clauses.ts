import type { Columns, SqlValue } from './rows.ts'

/** A statement and what its question marks stand for, in their order. */
export interface Statement {
  readonly sql: string
  readonly bindings: readonly SqlValue[]
}

/** A condition and its bindings; `true` for none. */
export const ALWAYS: Statement = { sql: '1', bindings: [] }

export function all(...conditions: (Statement | undefined)[]): Statement {
  const given = conditions.filter((condition) => condition !== undefined)
  if (given.length === 0) return ALWAYS
  return {
    sql: given.map(({ sql }) => `(${sql})`).join(' AND '),
    bindings: given.flatMap(({ bindings }) => bindings),
  }
}

export function when<T>(value: T | undefined, condition: (value: T) => Statement): Statement | undefined {
  return value === undefined ? undefined : condition(value)
}

export function equal(columns: Columns): Statement {
  return {
    sql: Object.keys(columns)
      .map((column) => `${column} = ?`)
      .join(' AND '),
    bindings: Object.values(columns),
  }
}

export function set(columns: Columns): Statement {
  return {
    sql: Object.keys(columns)
      .map((column) => `${column} = ?`)
      .join(', '),
    bindings: Object.values(columns),
  }
}

export function insert(table: string, columns: Columns, condition: Statement = ALWAYS): Statement {
  const names = Object.keys(columns)
  return {
    sql: `INSERT OR IGNORE INTO ${table} (${names.join()}) SELECT ${names.map(() => '?').join()} WHERE ${condition.sql}`,
    bindings: [...Object.values(columns), ...condition.bindings],
  }
}
