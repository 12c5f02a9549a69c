import { describe, expect, test } from 'vitest'
import { failureOf, type Inside, type ObjectDriver } from './driver.ts'

const NONE = 'Error: Expected exactly one result from SQL query, but got no results.'
const SEVERAL = 'Error: Expected exactly one result from SQL query, but got multiple results.'
const LOCKED = 'Error: database table is locked: SQLITE_LOCKED'

export function cursorsContract(driver: ObjectDriver): void {
  /** Runs in an object with three rows in a committed table. */
  async function inside<T>(work: (inside: Inside) => T | Promise<T>): Promise<T> {
    const object = driver.object()
    await object.request(({ sql }) => {
      sql.exec(
        "CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT); INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')",
      )
    })
    return object.request(work)
  }
  const select = ({ sql }: Inside) => sql.exec<{ id: number }>('SELECT id FROM t')
  const rest = [{ id: 2 }, { id: 3 }]

  describe('a cursor', () => {
    test('gives plain rows once, by next, iteration, toArray, one and raw', async () => {
      const results = await inside(({ sql }) => {
        const row = () => sql.exec('SELECT id, x FROM t LIMIT 1')
        const cursor = row()
        const { columnNames } = cursor
        return {
          next: [cursor.next(), cursor.next(), cursor.next()],
          afterwards: cursor.toArray(),
          columnNames,
          iterated: [...row()],
          array: row().toArray(),
          one: row().one(),
          raw: [...row().raw()],
        }
      })
      const row = { id: 1, x: 'a' }
      expect(results).toStrictEqual({
        next: [
          { done: false, value: row },
          { done: true, value: undefined },
          { done: true, value: undefined },
        ],
        afterwards: [],
        columnNames: ['id', 'x'],
        iterated: [row],
        array: [row],
        one: row,
        raw: [[1, 'a']],
      })
    })

    test('has a row of two columns of the same name whole in raw', async () => {
      expect(await inside(({ sql }) => [...sql.exec('SELECT 1 AS a, 2 AS a').raw()])).toEqual([[1, 2]])
      expect(await inside(({ sql }) => sql.exec('SELECT 1 AS a, 2 AS a').columnNames)).toEqual(['a', 'a'])
    })

    test('has column names without rows, and none where nothing is selected', async () => {
      const names = await inside(({ sql }) => [
        sql.exec('SELECT id, x AS y FROM t WHERE id = 9').columnNames,
        sql.exec('DELETE FROM t').columnNames,
      ])
      expect(names).toEqual([['id', 'y'], []])
    })

    test('is read on where a loop over it, or over its raw rows, was left', async () => {
      const read = await inside((object) => {
        const left = select(object)
        for (const _row of left) break
        const raw = select(object)
        for (const _row of raw.raw()) break
        return [left.toArray(), raw.toArray()]
      })
      expect(read).toEqual([rest, rest])
    })

    test('is shared by its iterators, which have the methods of iterators and no return', async () => {
      const read = await inside((object) => {
        const cursor = select(object)
        const iterator = cursor[Symbol.iterator]()
        const ids = [
          iterator.next().value?.id,
          cursor[Symbol.iterator]().next().value?.id,
          cursor.next().value?.id,
        ]
        return {
          ids,
          over: iterator.next().done,
          map: typeof Reflect.get(iterator, 'map'),
          return: iterator.return,
        }
      })
      expect(read).toEqual({ ids: [1, 2, 3], over: true, map: 'function', return: undefined })
    })

    test('of no row or of several is refused by one(), and has no rows then', async () => {
      const results = await inside(async (object) => {
        const several = select(object)
        return {
          none: await failureOf(() => object.sql.exec('SELECT id FROM t WHERE id = 9').one()),
          several: await failureOf(() => several.one()),
          left: several.toArray(),
          drop: await failureOf(() => object.sql.exec('DROP TABLE t')),
        }
      })
      expect(results).toEqual({ none: NONE, several: SEVERAL, left: [], drop: 'no error' })
    })

    test('counts the rows that it has read so far, one ahead of those it has given', async () => {
      const counts = await inside((object) => {
        const cursor = select(object)
        const counts = [cursor.rowsRead]
        for (let times = 0; times < 4; times++) {
          cursor.next()
          counts.push(cursor.rowsRead)
        }
        return counts
      })
      expect(counts).toEqual([1, 2, 3, 3, 3])
    })

    test('of the same query as another is independent of it', async () => {
      const read = await inside((object) => {
        const first = select(object)
        first.next()
        const second = select(object)
        return [second.toArray().length, first.toArray()]
      })
      expect(read).toEqual([3, rest])
    })

    test('sees what is written ahead of it', async () => {
      const read = await inside((object) => {
        const cursor = select(object)
        cursor.next()
        object.sql.exec('DELETE FROM t WHERE id = 3')
        object.sql.exec("INSERT INTO t VALUES (9, 'z')")
        return cursor.toArray()
      })
      expect(read).toEqual([{ id: 2 }, { id: 9 }])
    })

    test('is read on in later turns', async () => {
      const read = await inside(async (object) => {
        const cursor = select(object)
        cursor.next()
        await object.storage.sync()
        object.sql.exec("INSERT INTO t VALUES (9, 'z')")
        await object.pause(1)
        return cursor.toArray()
      })
      expect(read).toEqual([...rest, { id: 9 }])
    })

    test.each([
      ['unread', 'DROP TABLE t', LOCKED, 3],
      ['half-read', 'DROP TABLE t', LOCKED, 2],
      ['half-read', 'CREATE TABLE u (id); DROP TABLE u', LOCKED, 2],
      ['half-read', 'CREATE TABLE u (id)', 'no error', 2],
      ['half-read', 'ALTER TABLE t ADD COLUMN y', 'no error', 2],
      ['exhausted', 'DROP TABLE t', 'no error', 0],
    ])('that is %s, before "%s": %s', async (state, query, failure, left) => {
      const results = await inside(async (object) => {
        const cursor = select(object)
        if (state === 'half-read') cursor.next()
        if (state === 'exhausted') cursor.toArray()
        return [await failureOf(() => object.sql.exec(query)), cursor.toArray().length]
      })
      expect(results).toEqual([failure, left])
    })

    test('in whose time a table is created, and that undone, is aborted', async () => {
      const failure = await inside((object) => {
        object.sql.exec('CREATE TABLE u (id)')
        const cursor = select(object)
        const undone = () =>
          object.storage.transactionSync(() => {
            object.sql.exec('INSERT INTO u VALUES (1)')
            throw new Error('undone')
          })
        return failureOf(() => {
          expect(undone).toThrow('undone')
          cursor.toArray()
        })
      })
      expect(failure).toBe('Error: abort due to ROLLBACK: SQLITE_ABORT (extended: SQLITE_ABORT_ROLLBACK)')
    })

    test('that ends after a column was added leaves the query to see that', async () => {
      const row = await inside(({ sql }) => {
        const all = () => sql.exec('SELECT * FROM t')
        const cursor = all()
        cursor.next()
        sql.exec('ALTER TABLE t ADD COLUMN y DEFAULT 7')
        cursor.toArray()
        return all().toArray()[0]
      })
      expect(row).toEqual({ id: 1, x: 'a', y: 7 })
    })

    test('has written all its rows before it gives the first', async () => {
      const results = await inside(({ sql }) => {
        const cursor = sql.exec("INSERT INTO t VALUES (5, 'e'), (6, 'f') RETURNING id")
        const { n } = sql.exec('SELECT count(*) AS n FROM t').one()
        return [cursor.rowsWritten, n, cursor.toArray()]
      })
      expect(results).toEqual([2, 5, [{ id: 5 }, { id: 6 }]])
    })

    test('of a write that is not read to the end is in the way of a dropped table and of a transaction', async () => {
      const failures = await inside(async ({ sql, storage }) => {
        const cursor = sql.exec("INSERT INTO t VALUES (5, 'e') RETURNING id")
        const failures = [
          await failureOf(() => sql.exec('DROP TABLE t')),
          await failureOf(() => storage.transactionSync(() => undefined)),
        ]
        cursor.toArray()
        return failures
      })
      expect(failures[0]).toBe(LOCKED)
      expect(failures[1]).not.toBe('no error')
    })
  })
}
