import type { DatabaseSync } from 'node:sqlite'
import { conditionOf } from './index-costs.ts'

export interface SchemaChangeCost {
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** What the statement that has just changed the schema costs in the runtime, as measured there. */
export function schemaChangeCost(sqlite: DatabaseSync, text: string): SchemaChangeCost {
  const [, verb = '', what = ''] = /^(\w+)\s+(?:(?:UNIQUE|VIRTUAL)\s+)?(\w+)/.exec(text.toUpperCase()) ?? []
  if (verb === 'CREATE') return isPlainTable(what, text) ? PLAIN_TABLE : creationCost(sqlite, what)
  if (verb !== 'ALTER') return { rowsRead: 2, rowsWritten: 0 }
  return { rowsRead: 3, rowsWritten: /\bRENAME\b/i.test(text) ? 2 : 1 }
}

const PLAIN_TABLE: SchemaChangeCost = { rowsRead: 1, rowsWritten: 2 }

/** The usual case, for which the schema need not be asked: no index comes with the table, and no row. */
function isPlainTable(what: string, text: string): boolean {
  const rest = text.replace(/\bINTEGER\s+PRIMARY\s+KEY\b/gi, '')
  return what === 'TABLE' && !/\b(UNIQUE|PRIMARY|AS)\b/i.test(rest)
}

function creationCost(sqlite: DatabaseSync, what: string): SchemaChangeCost {
  if (what === 'VIEW') return { rowsRead: 1, rowsWritten: 2 }
  if (what === 'TRIGGER') return { rowsRead: 0, rowsWritten: 1 }
  const { name, sql, indexes } = sqlite.prepare(NEWEST[what === 'INDEX' ? 'index' : 'table']).get() ?? {}
  const condition = what === 'INDEX' ? conditionOf(String(sql)) : undefined
  const where = condition === undefined ? '' : ` WHERE ${condition}`
  const query = `SELECT count(*) AS count FROM "${String(name).replaceAll('"', '""')}"${where}`
  const { count } = sqlite.prepare(query).get() ?? {}
  const rows = Number(count)
  return what === 'INDEX'
    ? { rowsRead: 2 + 2 * rows, rowsWritten: 1 + rows }
    : { rowsRead: 1 + rows, rowsWritten: 2 + Number(indexes) + rows }
}

/** What was created last, for the schema's rows are only appended. The indexes of constraints come with their table. */
const NEWEST = {
  table: `
    SELECT name, sql, (SELECT count(*) FROM sqlite_schema i WHERE i.type = 'index' AND i.tbl_name = t.name) AS indexes
    FROM sqlite_schema t WHERE type = 'table' ORDER BY rowid DESC LIMIT 1`,
  index: `
    SELECT tbl_name AS name, sql, 0 AS indexes
    FROM sqlite_schema WHERE type = 'index' ORDER BY rowid DESC LIMIT 1`,
}
