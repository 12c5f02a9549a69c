import { describe, expect, test } from 'vitest'
import type { ObjectDriver } from './driver.ts'

const ROWS = "INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)"
const PLAIN = `CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT, y INT); ${ROWS}`
const TEXT_ROWS = "INSERT INTO t VALUES ('1', 'a'), ('2', 'b')"

const SCHEMAS = {
  none: 'CREATE TABLE other (id INTEGER PRIMARY KEY)',
  plain: PLAIN,
  indexed: `${PLAIN}; CREATE INDEX by_x ON t (x)`,
  'twice indexed': `${PLAIN}; CREATE INDEX by_x ON t (x); CREATE INDEX by_y ON t (y)`,
  'partly indexed': `${PLAIN}; CREATE INDEX by_x ON t (x) WHERE y > 1`,
  'indexed by an expression': `${PLAIN}; CREATE INDEX by_x ON t (lower(x))`,
  unique: `CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT UNIQUE, y INT); ${ROWS}`,
  'text key': `CREATE TABLE t (id TEXT PRIMARY KEY, x TEXT); ${TEXT_ROWS}`,
  'text key without rowid': `CREATE TABLE t (id TEXT PRIMARY KEY, x TEXT) WITHOUT ROWID; ${TEXT_ROWS}`,
  'text key without rowid, indexed': `
    CREATE TABLE t (id TEXT PRIMARY KEY, x TEXT) WITHOUT ROWID; ${TEXT_ROWS}; CREATE INDEX by_x ON t (x)`,
  'counted ids':
    "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, x TEXT); INSERT INTO t (x) VALUES ('a')",
  triggered: `${PLAIN}; CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t WHERE id = 1; END`,
  cascading: `
    CREATE TABLE p (id INTEGER PRIMARY KEY); INSERT INTO p VALUES (1);
    CREATE TABLE c (id INTEGER PRIMARY KEY, p REFERENCES p (id) ON DELETE CASCADE); INSERT INTO c VALUES (1, 1), (2, 1)`,
} as const

/**
 * Rows read are `undefined` where the simulation does not know them: it counts the rows returned and changed, not those
 * that a scan, a sort or a look-up in vain passes by.
 */
const COSTS: readonly [schema: keyof typeof SCHEMAS, query: string, written: number, read?: number][] = [
  ['plain', "INSERT INTO t VALUES (7, 'q', 7)", 1, 1],
  ['plain', "INSERT INTO t VALUES (7, 'q', 7), (8, 'r', 8)", 2, 2],
  ['plain', "INSERT INTO t VALUES (7, 'q', 7) RETURNING id", 1, 2],
  ['plain', "UPDATE t SET x = 'z' WHERE id = 2", 1, 1],
  ['plain', "UPDATE t SET x = 'z' WHERE id = 2 RETURNING *", 1, 2],
  ['plain', "UPDATE t SET x = 'z'", 3, 3],
  ['plain', "UPDATE t SET x = 'z' WHERE id = 9", 0],
  ['plain', 'UPDATE t SET id = 12 WHERE id = 2', 1],
  ['plain', 'DELETE FROM t WHERE id = 2', 1, 1],
  ['plain', "DELETE FROM t WHERE x = 'b'", 1],
  ['plain', 'DELETE FROM t', 3],
  ['plain', "INSERT INTO t VALUES (2, 'q', 2) ON CONFLICT (id) DO UPDATE SET x = excluded.x", 1, 1],
  ['plain', "INSERT INTO t VALUES (2, 'q', 2) ON CONFLICT DO NOTHING", 0],
  ['plain', "REPLACE INTO t VALUES (2, 'q', 2)", 1, 1],
  ['plain', "INSERT INTO t SELECT id + 10, x || 'q', y FROM t", 3],
  ['plain', 'SELECT * FROM t WHERE id = 2', 0, 1],
  ['plain', 'SELECT * FROM t', 0, 3],
  ['plain', 'SELECT * FROM t LIMIT 1', 0, 1],
  ['plain', 'SELECT * FROM t ORDER BY id DESC LIMIT 1', 0, 1],
  ['plain', "SELECT * FROM t WHERE x = 'b'", 0],
  ['plain', 'SELECT count(*) FROM t', 0],
  ['indexed', "INSERT INTO t VALUES (7, 'q', 7)", 2, 1],
  ['indexed', "UPDATE t SET x = 'z' WHERE id = 2", 2, 1],
  ['indexed', 'UPDATE t SET x = x WHERE id = 2', 2, 1],
  ['indexed', 'UPDATE t SET y = 9 WHERE id = 2', 1, 1],
  ['indexed', 'UPDATE t SET id = 12 WHERE id = 2', 2],
  ['indexed', 'DELETE FROM t WHERE id = 2', 1, 1],
  ['indexed', "INSERT INTO t VALUES (2, 'q', 2) ON CONFLICT (id) DO UPDATE SET x = excluded.x", 2, 1],
  ['indexed', "INSERT INTO t VALUES (2, 'q', 2) ON CONFLICT (id) DO UPDATE SET y = excluded.y", 1, 1],
  ['indexed', "REPLACE INTO t VALUES (2, 'q', 2)", 2, 1],
  ['indexed', "INSERT INTO t VALUES (2, 'q', 2) ON CONFLICT DO NOTHING", 0],
  ['twice indexed', "INSERT INTO t VALUES (7, 'q', 7), (8, 'r', 8)", 6, 2],
  ['twice indexed', "UPDATE t SET x = 'z' WHERE id = 2", 2, 1],
  ['twice indexed', "UPDATE t SET x = 'z', y = 9 WHERE id = 2", 3, 1],
  ['twice indexed', 'UPDATE t SET id = 12 WHERE id = 2', 3],
  ['partly indexed', "INSERT INTO t VALUES (7, 'q', 7)", 2, 1],
  ['partly indexed', "INSERT INTO t VALUES (7, 'q', 1)", 1, 1],
  ['partly indexed', "UPDATE t SET x = 'z' WHERE id = 2", 2, 1],
  ['partly indexed', "UPDATE t SET x = 'z' WHERE id = 1", 1, 1],
  ['partly indexed', 'UPDATE t SET y = 9 WHERE id = 1', 2, 1],
  ['partly indexed', 'UPDATE t SET y = 0 WHERE id = 2', 1, 1],
  ['partly indexed', "UPDATE t SET x = 'z' || id", 5, 3],
  ['indexed by an expression', "UPDATE t SET x = 'z' WHERE id = 2", 2, 1],
  ['indexed by an expression', 'UPDATE t SET y = 9 WHERE id = 2', 1, 1],
  ['unique', "INSERT INTO t VALUES (7, 'q', 7)", 2, 1],
  ['unique', "UPDATE t SET x = 'z' WHERE id = 2", 2, 1],
  ['unique', 'UPDATE t SET y = 9 WHERE id = 2', 1, 1],
  ['text key', "INSERT INTO t VALUES ('7', 'q')", 2],
  ['text key', "UPDATE t SET x = 'z' WHERE id = '2'", 1, 1],
  ['text key', "UPDATE t SET id = '12' WHERE id = '2'", 2, 1],
  ['text key', "DELETE FROM t WHERE id = '2'", 1, 1],
  ['text key without rowid', "INSERT INTO t VALUES ('7', 'q')", 1],
  ['text key without rowid', "UPDATE t SET id = '12' WHERE id = '2'", 1, 1],
  ['text key without rowid', "REPLACE INTO t VALUES ('2', 'q')", 1],
  ['text key without rowid, indexed', "INSERT INTO t VALUES ('7', 'q')", 2],
  ['text key without rowid, indexed', "UPDATE t SET id = '12' WHERE id = '2'", 2, 1],
  ['counted ids', "INSERT INTO t (x) VALUES ('a')", 2, 1],
  ['triggered', "INSERT INTO t VALUES (9, 'r', 9)", 2],
  ['cascading', 'DELETE FROM p WHERE id = 1', 3],
  ['none', 'CREATE TABLE z (a)', 2, 1],
  ['none', 'CREATE TABLE z (a UNIQUE)', 3, 1],
  ['plain', 'CREATE TABLE IF NOT EXISTS t (a)', 0, 0],
  ['plain', 'CREATE TABLE z AS SELECT * FROM t', 5],
  ['plain', 'CREATE INDEX i ON t (x, id)', 4, 8],
  ['plain', 'CREATE INDEX i ON t (x) WHERE y > 1', 3],
  ['plain', 'CREATE VIEW v AS SELECT * FROM t', 2, 1],
  ['plain', 'CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM t WHERE id = 1; END', 1, 0],
  ['plain', 'ALTER TABLE t ADD COLUMN q', 1, 3],
  ['plain', 'ALTER TABLE t RENAME TO u', 2],
  ['plain', 'DROP TABLE t', 0, 2],
]

export function costsContract(driver: ObjectDriver): void {
  describe('the cost', () => {
    test.each(COSTS)('in a schema that is %s, of "%s": %i written', async (schema, query, written, read) => {
      const object = driver.object()
      await object.request(({ sql }) => void sql.exec(SCHEMAS[schema]))
      const cost = await object.request(({ sql }) => {
        const cursor = sql.exec(query)
        cursor.toArray()
        return { written: cursor.rowsWritten, read: cursor.rowsRead }
      })
      expect(cost).toEqual({ written, read: read ?? expect.any(Number) })
    })

    test('of a query of several statements is that of the last', async () => {
      const object = driver.object()
      const cost = await object.request(({ sql }) => {
        const query =
          'CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (1); INSERT INTO t VALUES (2)'
        const { rowsRead, rowsWritten } = sql.exec(query)
        return { rowsRead, rowsWritten }
      })
      expect(cost).toEqual({ rowsRead: 1, rowsWritten: 1 })
    })
  })
}
