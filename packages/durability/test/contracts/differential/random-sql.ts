import type { Random } from '../../simulation/random.ts'
import { randomBinding, randomLargeNumber } from './random-bindings.ts'

/** A query and what is bound to it. */
export interface Query {
  readonly sql: string
  readonly bindings: readonly unknown[]
}

type Choices<T> = readonly [T, ...T[]]

/** Tables by name, with every kind of key, constraint and column that the simulation should have right. */
export const TABLES: Readonly<Record<string, string>> = {
  t: 'CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, b)',
  u: 'CREATE TABLE u (k TEXT PRIMARY KEY, n INTEGER NOT NULL UNIQUE CHECK (n < 100)) WITHOUT ROWID',
  s: 'CREATE TABLE s (id INTEGER PRIMARY KEY, v REAL, w BLOB) STRICT',
  c: 'CREATE TABLE c (id INTEGER PRIMARY KEY AUTOINCREMENT, p INTEGER REFERENCES t (id) ON DELETE CASCADE)',
  p: 'CREATE TABLE p (k TEXT, n INT DEFAULT 7, PRIMARY KEY (k, n))',
}
const TABLE_NAMES: Choices<string> = ['t', 't', 't', 'u', 's', 'c', 'p']
const COLUMNS: Readonly<Record<string, Choices<string>>> = {
  t: ['id', 'a', 'b'],
  u: ['k', 'n'],
  s: ['id', 'v', 'w'],
  c: ['id', 'p'],
  p: ['k', 'n'],
}

const SCHEMA: Choices<string> = [
  'CREATE INDEX IF NOT EXISTS t_a ON t (a)',
  'CREATE UNIQUE INDEX t_b ON t (b) WHERE a IS NOT NULL',
  'CREATE INDEX s_v ON s (v, w)',
  'CREATE INDEX c_p ON c (p)',
  'DROP INDEX IF EXISTS t_a',
  'DROP INDEX t_b',
  'CREATE VIEW v AS SELECT id, a || b AS ab FROM t',
  'DROP VIEW IF EXISTS v',
  "CREATE TRIGGER r AFTER INSERT ON t WHEN NEW.id > 3 BEGIN INSERT INTO p (k) VALUES ('trigger;'); END",
  'DROP TRIGGER r',
  'ALTER TABLE t ADD COLUMN d INTEGER DEFAULT 5',
  'ALTER TABLE t RENAME COLUMN a TO aa',
  'ALTER TABLE t RENAME COLUMN aa TO a',
  'ALTER TABLE p RENAME TO q',
  'ALTER TABLE q RENAME TO p',
  'CREATE TABLE copy AS SELECT * FROM t',
  'DROP TABLE IF EXISTS copy',
]

const INVALID: Choices<string> = [
  'SELEC 1',
  'SELECT FROM t',
  'SELECT * FROM missing',
  'SELECT missing FROM t',
  'INSERT INTO t VALUES (1)',
  'INSERT INTO missing VALUES (1)',
  "INSERT INTO t (id) VALUES ('no integer')",
  "INSERT INTO s (v) VALUES ('no real')",
  'UPDATE t SET missing = 1',
  'DROP TABLE missing',
  'CREATE TABLE t (id)',
  'SELECT max(1, 2',
  'SELECT nofunction(1)',
  '',
  ' ; ',
  '-- nothing',
  'PRAGMA user_version',
  'PRAGMA user_version = 3',
  'BEGIN',
  'COMMIT',
  'ROLLBACK',
  'SAVEPOINT x',
  "ATTACH 'x' AS y",
  'SELECT json_extract(1, 2, 3); SELECT 1 FROM missing',
  'SELECT abs(-9223372036854775807 - 1)',
  'INSERT INTO u VALUES (NULL, 1)',
  "INSERT INTO u VALUES ('k', NULL)",
  "INSERT INTO u VALUES ('k', 100)",
  'INSERT INTO c (p) VALUES (99)',
]

const CONSTANT: Choices<string> = [
  'SELECT 9007199254740991, 9007199254740992, 9007199254740993, -9007199254740993',
  'SELECT 9223372036854775807 AS big, -9223372036854775808 AS small',
  'SELECT 1 AS a, 2 AS a, 3 AS b',
  "SELECT 1.0, 1e3, 0.1 + 0.2, 1e400, -0.0, 5 / 2, 5 / 2.0, '5' + 1",
  "SELECT NULL, x'', x'00ff', '', 'ä€😀', char(0)",
  'SELECT typeof(1), typeof(1.0), 1 = 1.0, TRUE',
  'WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4) SELECT i FROM n',
  'VALUES (1, 2), (3, 4)',
  'SELECT changes()',
  'SELECT last_insert_rowid()',
  'SELECT name, type FROM sqlite_schema ORDER BY name',
  "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY rowid",
  'PRAGMA table_info(t)',
  'PRAGMA index_list(t)',
  'PRAGMA foreign_keys',
  'PRAGMA foreign_key_check',
  "SELECT name FROM pragma_table_info('t')",
  'SELECT count(*), total(id), group_concat(a) FROM t',
  'SELECT t.id, c.id FROM t LEFT JOIN c ON c.p = t.id ORDER BY 1, 2',
  'SELECT * FROM v',
  "SELECT json_object('a', 1), json('[1,2]') ->> 1",
  'SELECT value FROM json_each(\'[1,null,"x",2.5]\')',
]

function createTable(random: Random): Query {
  const sql = TABLES[random.pick(TABLE_NAMES)] ?? ''
  return { sql: random.chance(0.6) ? sql.replace('TABLE', 'TABLE IF NOT EXISTS') : sql, bindings: [] }
}

export function randomQuery(random: Random): Query {
  const kind = random.next()
  if (kind < 0.3) return insert(random)
  if (kind < 0.5) return select(random)
  if (kind < 0.6) return update(random)
  if (kind < 0.68) return remove(random)
  if (kind < 0.74) return several(random)
  if (kind < 0.8) return { sql: random.pick(SCHEMA), bindings: [] }
  if (kind < 0.84) return createTable(random)
  if (kind < 0.87) return dropTable(random)
  if (kind < 0.93) return { sql: random.pick(CONSTANT), bindings: [] }
  if (kind < 0.96) return bound(random)
  return { sql: random.pick(["SELECT 'open", ...INVALID]), bindings: [] }
}

function insert(random: Random): Query {
  const table = random.pick(TABLE_NAMES)
  const columns = someOf(random, COLUMNS[table] ?? ['id'])
  const rows = random.pick([1, 1, 1, 2, 3])
  const row = `(${columns.map(() => '?').join(', ')})`
  const verb = random.pick(['INSERT', 'INSERT', 'INSERT', 'INSERT OR IGNORE', 'INSERT OR REPLACE', 'REPLACE'])
  const bindings = Array.from({ length: rows }, () =>
    columns.map((column) => (rows === 1 ? valueFor(random, column) : fittingValue(random, column))),
  ).flat()
  const target = random.pick(['', '', '', ' ON CONFLICT DO NOTHING', upsert(random, table)])
  const sql = `${verb} INTO ${table} (${columns.join(', ')}) VALUES ${Array(rows).fill(row).join(', ')}`
  return { sql: sql + target + returning(random, table), bindings }
}

function upsert(random: Random, table: string): string {
  const columns = COLUMNS[table] ?? ['id']
  const key = table === 'p' ? 'k, n' : columns[0]
  const column = random.pick(columns)
  const where = random.pick(['', '', ` WHERE excluded.${column} IS NOT NULL`])
  return ` ON CONFLICT (${key}) DO UPDATE SET ${column} = excluded.${column}${where}`
}

function returning(random: Random, table: string): string {
  return random.pick(['', '', '', ' RETURNING *', ` RETURNING ${(COLUMNS[table] ?? ['id'])[0]} AS x`])
}

function select(random: Random): Query {
  const table = random.pick(TABLE_NAMES)
  const columns = COLUMNS[table] ?? ['id']
  const { sql, bindings } = where(random, columns)
  const order = random.pick([` ORDER BY ${columns[0]}`, ` ORDER BY ${columns[0]} DESC`, ' ORDER BY 1, 2', ''])
  const limit = random.pick(['', '', ' LIMIT 1', ' LIMIT 2 OFFSET 1'])
  const shown = random.pick(['*', '*', someOf(random, columns).join(', '), `count(*) AS n`])
  return { sql: `SELECT ${shown} FROM ${table}${sql}${order}${limit}`, bindings }
}

function update(random: Random): Query {
  const table = random.pick(TABLE_NAMES)
  const columns = COLUMNS[table] ?? ['id']
  const column = random.pick(columns)
  const condition = where(random, columns)
  const sql = `UPDATE ${random.pick(['', '', 'OR IGNORE ', 'OR REPLACE '])}${table} SET ${column} = ?${condition.sql}`
  return { sql: sql + returning(random, table), bindings: [valueFor(random, column), ...condition.bindings] }
}

function remove(random: Random): Query {
  const table = random.pick(TABLE_NAMES)
  const { sql, bindings } = where(random, COLUMNS[table] ?? ['id'])
  return { sql: `DELETE FROM ${table}${sql}${returning(random, table)}`, bindings }
}

function where(random: Random, columns: Choices<string>): Query {
  if (random.chance(0.4)) return { sql: '', bindings: [] }
  const column = random.pick(columns)
  const compared = random.pick(['=', '=', '<', '>=', 'IS', '<>'])
  return { sql: ` WHERE ${column} ${compared} ?`, bindings: [valueFor(random, column)] }
}

/** Several statements in one query: only the last takes the bindings. */
function several(random: Random): Query {
  const first = random.pick([
    createTable(random).sql,
    'INSERT INTO t DEFAULT VALUES',
    'DELETE FROM t WHERE id > 2',
    'SELECT * FROM t',
    "INSERT INTO t (a) VALUES ('x;y') RETURNING id",
    random.pick(SCHEMA),
    random.pick(INVALID),
    'INSERT INTO t (a) VALUES (?)',
  ])
  const last = random.pick([select, insert, update, remove])(random)
  return {
    sql: `${first}; ${last.sql}${random.pick(['', ';', '; -- end', '; ; '])}`,
    bindings: last.bindings,
  }
}

function dropTable(random: Random): Query {
  return { sql: `DROP TABLE ${random.pick(['', 'IF EXISTS '])}${random.pick(TABLE_NAMES)}`, bindings: [] }
}

/** Placeholders of every kind, with the wrong number of values now and then. */
/** What these cost to read, the platform says: each row that is returned, once. */
export function billedQuery(random: Random): Query {
  const id = random.integer(1, 5)
  return random.pick<Query>([
    { sql: 'SELECT * FROM t', bindings: [] },
    { sql: 'SELECT k FROM u ORDER BY k', bindings: [] },
    { sql: 'SELECT * FROM s WHERE id = ?', bindings: [id] },
    { sql: 'SELECT * FROM t WHERE id >= ? ORDER BY id LIMIT 2', bindings: [id] },
  ])
}

function bound(random: Random): Query {
  const sql = random.pick([
    'SELECT ? AS a, typeof(?) AS b',
    'SELECT ?2 AS a, typeof(?1) AS b',
    'SELECT ?1 AS a, typeof(?1) AS b',
    "SELECT ? AS a, '?' AS b -- ?",
    'SELECT :a AS a, @b AS b, $c AS c',
    'SELECT 1',
  ])
  const count = random.integer(0, 3)
  const value = () => (random.chance(0.2) ? randomLargeNumber(random) : randomBinding(random))
  return { sql, bindings: Array.from({ length: count }, value) }
}

/** Mostly what fits the column, so that programs get somewhere. */
function valueFor(random: Random, column: string): unknown {
  return random.chance(0.15) ? randomBinding(random) : fittingValue(random, column)
}

function fittingValue(random: Random, column: string): unknown {
  if (column === 'id' || column === 'p') return random.integer(1, 5)
  if (column === 'n') return random.pick([1, 2, 3, 99, 100])
  if (column === 'v') return random.pick([1, 1.5, null, -1e10])
  if (column === 'w') return random.pick([null, new Uint8Array([1, 2]).buffer, new ArrayBuffer(0)])
  return random.pick(['', 'a', 'b', 'c', null, '7'])
}

function someOf(random: Random, columns: Choices<string>): string[] {
  const some = columns.filter(() => random.chance(0.8))
  return some.length === 0 ? [...columns] : some
}
