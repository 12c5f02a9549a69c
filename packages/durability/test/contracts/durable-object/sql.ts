import { describe, expect, test } from 'vitest'
import { failureOf, type ObjectDriver } from './driver.ts'

const SCHEMA = `
  CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT);
  INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')`

const NOT_AUTHORIZED = 'Error: not authorized: SQLITE_AUTH'
const NO_STATEMENT = 'Error: SQL code did not contain a statement.'
const WRONG_NUMBER = 'Error: Wrong number of parameter bindings for SQL query.'
const NO_TRANSACTION = 'Error: To execute a transaction, please use the state.storage.transaction()'

const constraint = (message: string, kind: string) =>
  `Error: ${message}: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_${kind})`

/** Each fails with a message that begins so. */
const REFUSED: readonly [query: string, message: string, bindings?: readonly unknown[]][] = [
  ['SELEC 1', 'Error: near "SELEC": syntax error: SQLITE_ERROR'],
  ['SELECT', 'Error: incomplete input: SQLITE_ERROR'],
  ['SELECT * FROM x', 'Error: no such table: x: SQLITE_ERROR'],
  ['SELECT y FROM t', 'Error: no such column: y: SQLITE_ERROR'],
  ["INSERT INTO t VALUES (1, 'b')", constraint('UNIQUE constraint failed: t.id', 'PRIMARYKEY')],
  [
    'CREATE TABLE u (a UNIQUE); INSERT INTO u VALUES (1), (1)',
    constraint('UNIQUE constraint failed: u.a', 'UNIQUE'),
  ],
  [
    'CREATE TABLE u (a NOT NULL); INSERT INTO u VALUES (NULL)',
    constraint('NOT NULL constraint failed: u.a', 'NOTNULL'),
  ],
  [
    'CREATE TABLE u (a CHECK (a > 0)); INSERT INTO u VALUES (0)',
    constraint('CHECK constraint failed: a > 0', 'CHECK'),
  ],
  [
    'CREATE TABLE u (a REFERENCES t (id)); INSERT INTO u VALUES (9)',
    constraint('FOREIGN KEY constraint failed', 'FOREIGNKEY'),
  ],
  [
    "CREATE TABLE u (a INTEGER) STRICT; INSERT INTO u VALUES ('x')",
    constraint('cannot store TEXT value in INTEGER column u.a', 'DATATYPE'),
  ],
  ['', NO_STATEMENT],
  ['-- nothing', NO_STATEMENT],
  ['SELECT 1;;', NO_STATEMENT],
  ['SELECT 1; -- and nothing', NO_STATEMENT],
  ['SELECT ?', WRONG_NUMBER],
  ['SELECT 1', WRONG_NUMBER, [1]],
  [
    'SELECT ?; SELECT ?',
    'Error: When executing multiple SQL statements in a single call, only the last',
    [1, 2],
  ],
  [
    `SELECT ${Array(101).fill('?').join()}`,
    'Error: too many SQL variables: SQLITE_ERROR',
    Array(101).fill(1),
  ],
  ['SELECT ?', 'TypeError: Cannot convert a BigInt value to a number', [5n]],
  ['SELECT ?', 'TypeError: Cannot convert a Symbol value to a string', [Symbol('x')]],
  ['SELECT ?', 'Error: string or blob too big: SQLITE_TOOBIG', ['x'.repeat(2_200_001)]],
  [`SELECT 1${' '.repeat(100_000)}`, 'Error: statement too long: SQLITE_TOOBIG'],
  ['BEGIN', NO_TRANSACTION],
  ['COMMIT', NO_TRANSACTION],
  ['SAVEPOINT a', NO_TRANSACTION],
  ['VACUUM', 'Error: cannot VACUUM from within a transaction: SQLITE_ERROR'],
  ["ATTACH ':memory:' AS a", NOT_AUTHORIZED],
  ['CREATE TEMP TABLE a (x)', NOT_AUTHORIZED],
  ['CREATE TABLE _cf_a (x)', NOT_AUTHORIZED],
  ['PRAGMA user_version', NOT_AUTHORIZED],
  ['PRAGMA user_version = 1', NOT_AUTHORIZED],
  ['PRAGMA page_count', NOT_AUTHORIZED],
  ['SELECT * FROM pragma_page_count', NOT_AUTHORIZED],
]

/** What comes back for `SELECT ? AS value, typeof(?) AS type`. */
const BOUND: readonly [name: string, value: unknown, result: unknown, type: string][] = [
  ['null', null, null, 'null'],
  ['undefined', undefined, null, 'null'],
  ['a text', 'a\u0000é😀', 'a\u0000é😀', 'text'],
  ['an integer', 7, 7, 'real'],
  ['a fraction', 1.5, 1.5, 'real'],
  ['an integer above 2^53', 2 ** 60, 2 ** 60, 'real'],
  ['NaN', Number.NaN, null, 'null'],
  ['Infinity', Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 'real'],
  ['true', true, 'true', 'text'],
  ['a Date', new Date(0), String(new Date(0)), 'text'],
  ['an object', { a: 1 }, '[object Object]', 'text'],
  ['an array', [1, 2], '1,2', 'text'],
  ['an ArrayBuffer', new Uint8Array([1, 2]).buffer, new Uint8Array([1, 2]).buffer, 'blob'],
  ['a view of bytes', new Uint8Array([1, 2, 3]).subarray(1), new Uint8Array([2, 3]).buffer, 'blob'],
  ['no bytes', new ArrayBuffer(0), new ArrayBuffer(0), 'blob'],
]

/** What comes back as the only row. */
const SELECTED: readonly [query: string, row: Record<string, unknown>, bindings?: readonly unknown[]][] = [
  [
    "SELECT x'0102' AS bytes, x'' AS none",
    { bytes: new Uint8Array([1, 2]).buffer, none: new ArrayBuffer(0) },
  ],
  ['SELECT 9007199254740993 AS a, -9223372036854775808 AS b', { a: 2 ** 53, b: -(2 ** 63) }],
  ['SELECT id, typeof(id) AS type FROM t WHERE id = ?', { id: 2, type: 'integer' }, [2]],
  ['SELECT 1 AS a, 2 AS a', { a: 2 }],
  ['SELECT "no column" AS a', { a: 'no column' }],
  ['SELECT ?2 AS a, ?1 AS b, ?2 AS c', { a: 2, b: 1, c: 2 }, [1, 2]],
  ['SELECT ?2 AS a', { a: 2 }, [1, 2]],
  ['SELECT :a AS a, ? AS b, $c AS c, @d AS d, :a AS e', { a: 1, b: 2, c: 3, d: 4, e: 1 }, [1, 2, 3, 4]],
  [`SELECT ${Array(100).fill('?').join('+')} AS sum`, { sum: 100 }, Array(100).fill(1)],
  ['; SELECT 1 AS a;\n', { a: 1 }],
  ["INSERT INTO t VALUES (4, 'd;'); DELETE FROM t WHERE id = 1; SELECT count(*) AS n FROM t", { n: 3 }],
  ['PRAGMA foreign_keys', { foreign_keys: 1 }],
  ["SELECT group_concat(name) AS names FROM pragma_table_info('t')", { names: 'id,x' }],
  ["SELECT json_extract('{\"a\":[1]}', '$.a[0]') AS a, date(0, 'unixepoch') AS d", { a: 1, d: '1970-01-01' }],
]

/** With a value that can be read. */
const PRAGMAS = [
  'foreign_keys',
  'ignore_check_constraints',
  'recursive_triggers',
  'reverse_unordered_selects',
  'legacy_alter_table',
]

export function sqlContract(driver: ObjectDriver): void {
  async function setup() {
    const object = driver.object()
    await object.request(({ sql }) => void sql.exec(SCHEMA))
    return object
  }

  describe('sql.exec', () => {
    const short = (query: string) => (query.length > 60 ? `${query.slice(0, 60)}…` : query)

    test.each(REFUSED.map(([query, ...rest]) => [short(query), query, ...rest] as const))(
      'refuses "%s"',
      async (_short, query, message, bindings = []) => {
        const object = await setup()
        const failure = await object.request(({ sql }) =>
          failureOf(() => sql.exec(query, ...bindings).toArray()),
        )
        expect(failure.slice(0, message.length)).toBe(message)
      },
    )

    test.each(BOUND)('binds %s', async (_name, value, result, type) => {
      const object = await setup()
      const row = await object.request(({ sql }) =>
        sql.exec('SELECT ? AS value, typeof(?) AS type', value, value).one(),
      )
      expect(row).toStrictEqual({ value: result, type })
    })

    test.each(SELECTED.map(([query, ...rest]) => [short(query), query, ...rest] as const))(
      'answers "%s"',
      async (_short, query, row, bindings = []) => {
        const object = await setup()
        expect(await object.request(({ sql }) => sql.exec(query, ...bindings).one())).toStrictEqual(row)
      },
    )

    test('keeps the statements before the one that fails', async () => {
      const object = await setup()
      await object.request(({ sql }) => failureOf(() => sql.exec('DELETE FROM t WHERE id = 1; SELEC')))
      await object.request(({ sql }) => failureOf(() => sql.exec('DELETE FROM t WHERE id = 2; SELECT 1;;')))
      const ids = await object.request(({ sql }) => sql.exec('SELECT id FROM t').toArray())
      expect(ids).toEqual([{ id: 3 }])
    })

    test('has no table of values by key until there is one, and lets nobody into it', async () => {
      const object = await setup()
      const names = await object.request(({ sql, storage }) => {
        const tables = () => sql.exec<{ name: string }>('SELECT name FROM sqlite_schema').toArray()
        const before = tables()
        storage.kv.put('key', 1)
        return [before, tables()].map((rows) => rows.map(({ name }) => name))
      })
      expect(names).toEqual([['t'], ['t', '_cf_KV']])
      const failure = await object.request(({ sql }) => failureOf(() => sql.exec('SELECT * FROM _cf_KV')))
      expect(failure).toMatch(/SQLITE_AUTH$/)
    })

    test('keeps what a pragma has set for as long as the instance lives, and no longer', async () => {
      const object = await setup()
      const settings = () =>
        object.request(({ sql }) => PRAGMAS.map((name) => Object.values(sql.exec(`PRAGMA ${name}`).one())[0]))
      const before = await settings()
      expect(before).toEqual([1, 0, 0, 0, 0])
      await object.request(({ sql }) => {
        for (const name of PRAGMAS) sql.exec(`PRAGMA ${name} = ${name === 'foreign_keys' ? 'OFF' : 'ON'}`)
        sql.exec('PRAGMA case_sensitive_like = ON')
      })
      const isLike = () => object.request(({ sql }) => sql.exec("SELECT 'a' LIKE 'A' AS isLike").one())
      expect([await settings(), await isLike()]).toEqual([[0, 1, 1, 1, 1], { isLike: 0 }])
      await object.crash()
      expect([await settings(), await isLike()]).toEqual([before, { isLike: 1 }])
    })

    test('has a database that grows', async () => {
      const object = await setup()
      const [before, after] = await object.request(({ sql }) => {
        const before = sql.databaseSize
        sql.exec('INSERT INTO t VALUES (4, ?)', 'x'.repeat(100_000))
        return [before, sql.databaseSize]
      })
      expect(after).toBeGreaterThan((before ?? 0) + 90_000)
    })
  })
}
