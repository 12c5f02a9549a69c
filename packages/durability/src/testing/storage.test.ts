import { expect, test } from 'vitest'
import { simulateObject } from './object.ts'

function setup() {
  const object = simulateObject((ctx) => ({ ctx, alarm: () => undefined }))
  const { storage } = object.ctx
  storage.sql.exec('CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT)')
  return { object, storage, sql: storage.sql, now: object.world.clock.now() }
}

/** With three rows, committed, and the costs at 0. */
async function setupRows() {
  const bundle = setup()
  bundle.sql.exec("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
  await bundle.object.settle()
  bundle.object.resetCosts()
  return bundle
}

test('a cursor gives plain rows once, by iteration, toArray, one, raw and next', async () => {
  const { sql } = await setupRows()
  expect([...sql.exec('SELECT id FROM t WHERE id < 3')]).toStrictEqual([{ id: 1 }, { id: 2 }])
  expect(sql.exec('SELECT id, x FROM t WHERE id = ?', 2).toArray()).toStrictEqual([{ id: 2, x: 'b' }])
  expect(sql.exec('SELECT x FROM t WHERE id = 3').one()).toStrictEqual({ x: 'c' })
  expect([...sql.exec('SELECT id, x FROM t LIMIT 1').raw()]).toStrictEqual([[1, 'a']])
  const cursor = sql.exec('SELECT id, x FROM t LIMIT 1')
  expect(cursor.columnNames).toEqual(['id', 'x'])
  expect(cursor.next()).toEqual({ done: false, value: { id: 1, x: 'a' } })
  expect(cursor.next()).toEqual({ done: true, value: undefined })
  expect(cursor.toArray()).toEqual([])
})

test('one() refuses no row and several rows', async () => {
  const { sql } = await setupRows()
  expect(() => sql.exec('SELECT * FROM t WHERE id = 9').one()).toThrow('but got no results')
  expect(() => sql.exec('SELECT * FROM t').one()).toThrow('but got multiple results')
  sql.exec('DROP TABLE t')
})

test('rows that are not asked for are not read', async () => {
  const { sql, object } = await setupRows()
  const cursor = sql.exec('SELECT id FROM t')
  expect(cursor.rowsRead).toBe(1)
  cursor.next()
  expect(cursor.rowsRead).toBe(2)
  expect(object.costs.rowsRead).toBe(2)
})

test('two cursors of the same query do not disturb each other, nor does a write between', async () => {
  const { sql } = await setupRows()
  const first = sql.exec('SELECT id FROM t')
  first.next()
  expect(sql.exec('SELECT id FROM t').toArray()).toHaveLength(3)
  sql.exec('DELETE FROM t WHERE id = 3')
  expect(first.toArray()).toEqual([{ id: 2 }])
})

test('bytes come back as an ArrayBuffer', () => {
  const { sql } = setup()
  const { bytes } = sql.exec('SELECT ? AS bytes', new Uint8Array([1, 2, 3]).buffer).one()
  expect(bytes).toEqual(new Uint8Array([1, 2, 3]).buffer)
})

test('a query of several statements runs all, and binds to the last', () => {
  const { sql } = setup()
  const query =
    "INSERT INTO t VALUES (1, 'a'); INSERT INTO t VALUES (2, 'b;c'); SELECT x FROM t WHERE id = ?;"
  expect(sql.exec(query, 2).toArray()).toEqual([{ x: 'b;c' }])
  expect(() => sql.exec('DELETE FROM t WHERE id = ?; SELECT ?', 1, 2)).toThrow(
    'only the last statement can have parameters',
  )
})

test.each([
  ['SELECT * FROM x', 'no such table: x: SQLITE_ERROR'],
  ['SELEC 1', 'near "SELEC": syntax error: SQLITE_ERROR'],
  [
    "INSERT INTO t VALUES (1, 'b')",
    'UNIQUE constraint failed: t.id: SQLITE_CONSTRAINT (extended: SQLITE_CONSTRAINT_PRIMARYKEY)',
  ],
  ['PRAGMA user_version', 'not authorized: SQLITE_AUTH'],
  ['SELECT ?', 'Wrong number of parameter bindings'],
  ['-- nothing', 'SQL code did not contain a statement.'],
  ['BEGIN', 'please use the state.storage.transaction()'],
])('%s fails with the words of SQLite', (query, message) => {
  const { sql } = setup()
  sql.exec("INSERT INTO t VALUES (1, 'a')")
  expect(() => sql.exec(query)).toThrow(message)
})

test('an open cursor keeps its table from being dropped, an exhausted one does not', async () => {
  const { sql } = await setupRows()
  const cursor = sql.exec('SELECT id FROM t')
  expect(() => sql.exec('DROP TABLE t')).toThrow('SQLITE_LOCKED')
  cursor.toArray()
  sql.exec('DROP TABLE t')
})

test('a write whose returned rows are not read to the end is in the way of schema, savepoint and commit', async () => {
  const { sql, storage, object } = await setupRows()
  const cursor = sql.exec("INSERT INTO t VALUES (7, 'g') RETURNING id")
  expect(() => sql.exec('DROP TABLE t')).toThrow('SQLITE_LOCKED')
  expect(() => storage.transactionSync(() => undefined)).toThrow('SQL statements in progress')
  expect(cursor.toArray()).toEqual([{ id: 7 }])
  storage.transactionSync(() => undefined)
  await object.settle()
  const answer = object.call(({ ctx }) => ctx.storage.sql.exec('DELETE FROM t RETURNING id').next())
  await expect(answer).rejects.toThrow('cannot commit')
  expect(object.alive).toBe(false)
  expect(object.rows('SELECT count(*) AS n FROM t')).toEqual([{ n: 4 }])
})

test('rows of indexes are counted after a schema change is undone too', async () => {
  const { sql, storage } = await setupRows()
  sql.exec('CREATE INDEX by_x ON t (x)')
  expect(sql.exec("INSERT INTO t VALUES (7, 'g')").rowsWritten).toBe(2)
  const undone = () =>
    storage.transactionSync(() => {
      sql.exec('CREATE INDEX by_both ON t (x, id)')
      expect(sql.exec("INSERT INTO t VALUES (8, 'h')").rowsWritten).toBe(3)
      throw new Error('undone')
    })
  expect(undone).toThrow('undone')
  expect(sql.exec("INSERT INTO t VALUES (8, 'h')").rowsWritten).toBe(2)
})

test.each([
  ["INSERT INTO t VALUES (4, 'd')", 1],
  ["UPDATE t SET x = 'z' WHERE id = 1", 1],
  ["UPDATE t SET x = 'z'", 3],
  ["UPDATE t SET x = 'z' WHERE id = 9", 0],
  ["INSERT INTO t VALUES (1, 'z') ON CONFLICT DO UPDATE SET x = excluded.x", 1],
  ['INSERT INTO t VALUES (1, 1) ON CONFLICT DO NOTHING', 0],
  ['DELETE FROM t WHERE id = 1 RETURNING id', 1],
  ['DELETE FROM t', 3],
  ['CREATE TABLE IF NOT EXISTS t (id INTEGER)', 0],
  ['CREATE TABLE u (id INTEGER PRIMARY KEY)', 2],
])('%s writes %i rows', async (query, written) => {
  const { sql, object } = await setupRows()
  expect(sql.exec(query).rowsWritten).toBe(written)
  expect(object.costs.rowsWritten).toBe(written)
  expect(object.progress.writes).toBe(written > 0 ? 3 : 2)
})

test('each alarm set is counted, and each turn that wrote', async () => {
  const { storage, sql, object, now } = await setupRows()
  sql.exec('DELETE FROM t WHERE id = 1')
  await storage.setAlarm(now + 10)
  await storage.sync()
  await storage.deleteAlarm()
  await storage.deleteAlarm()
  await storage.sync()
  expect(object.costs).toMatchObject({ rowsWritten: 1, alarmsSet: 1, alarmsDeleted: 1, commits: 2 })
})

test('transactionSync undoes rows and alarm of the call that throws, and of no other', async () => {
  const { storage, sql, object, now } = await setupRows()
  await storage.setAlarm(now + 10)
  storage.transactionSync(() => {
    sql.exec('DELETE FROM t WHERE id = 1')
    const inner = () =>
      storage.transactionSync(() => {
        sql.exec('DELETE FROM t WHERE id = 2')
        void storage.setAlarm(now + 20)
        throw new Error('inner')
      })
    expect(inner).toThrow('inner')
    sql.exec('DELETE FROM t WHERE id = 3')
  })
  expect(await storage.getAlarm()).toBe(now + 10)
  expect(object.rows('SELECT id FROM t')).toEqual([{ id: 2 }])
})

test('deleteAll removes tables and alarm, and leaves storage usable', async () => {
  const { storage, sql, object, now } = await setupRows()
  await storage.setAlarm(now + 10)
  sql.exec('SELECT id FROM t').next()
  const deleted = storage.deleteAll()
  expect(() => sql.exec('SELECT id FROM t')).toThrow('no such table')
  await deleted
  expect(object.alarmAt).toBeNull()
  sql.exec('CREATE TABLE t (id INTEGER PRIMARY KEY)')
  expect(sql.exec('SELECT * FROM t').toArray()).toEqual([])
})

test.each([0, -1, Number.NaN, 1e15])(
  'an alarm at %d is refused by a rejection, and changes nothing',
  async (at) => {
    const { storage, now } = setup()
    await storage.setAlarm(now + 10)
    await expect(storage.setAlarm(at)).rejects.toThrow(TypeError)
    expect(await storage.getAlarm()).toBe(now + 10)
  },
)

test('an alarm in the past is set for now, and a Date is a time too', async () => {
  const { storage, now } = setup()
  await storage.setAlarm(now - 5_000)
  expect(await storage.getAlarm()).toBe(now)
  await storage.setAlarm(new Date(now + 7))
  expect(await storage.getAlarm()).toBe(now + 7)
})

test('the size of the database grows with it', () => {
  const { sql } = setup()
  const before = sql.databaseSize
  sql.exec('INSERT INTO t VALUES (1, ?)', 'x'.repeat(100_000))
  expect(sql.databaseSize).toBeGreaterThan(before)
})
