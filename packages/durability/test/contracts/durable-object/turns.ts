import { describe, expect, test } from 'vitest'
import { failureOf, type Inside, type ObjectDriver } from './driver.ts'

const IN_A_MINUTE = 60_000

export function turnsContract(driver: ObjectDriver): void {
  async function setup() {
    const object = driver.object()
    await object.request(({ sql }) => void sql.exec('CREATE TABLE t (id INTEGER PRIMARY KEY)'))
    const ids = () =>
      object.request(({ sql }) => [...sql.exec<{ id: number }>('SELECT id FROM t')].map(({ id }) => id))
    const alarmAt = () => object.request(({ storage }) => storage.getAlarm())
    return { object, ids, alarmAt }
  }

  const insert = ({ sql }: Inside, id: number) => void sql.exec('INSERT INTO t VALUES (?)', id)
  const fail = (): never => {
    throw new RangeError('undone')
  }

  describe('a turn', () => {
    test('is lost whole when the object dies in it, rows, values and alarm', async () => {
      const { object, ids, alarmAt } = await setup()
      const failure = await failureOf(() =>
        object.request((inside) => {
          insert(inside, 1)
          inside.storage.kv.put('key', 1)
          void inside.storage.setAlarm(inside.now() + IN_A_MINUTE)
          inside.ctx.abort('enough')
        }),
      )
      expect(failure).toBe('Error: enough')
      expect(await ids()).toEqual([])
      expect(await alarmAt()).toBeNull()
      expect(await object.request(({ storage }) => storage.kv.get('key'))).toBeUndefined()
    })

    test('goes on over microtasks and over awaited calls for alarms and values', async () => {
      const { object, ids, alarmAt } = await setup()
      await failureOf(() =>
        object.request(async (inside) => {
          const { storage, ctx } = inside
          insert(inside, 1)
          await null
          await storage.setAlarm(inside.now() + IN_A_MINUTE)
          await storage.getAlarm()
          await storage.put('key', 1)
          await storage.get('key')
          await storage.list()
          await storage.delete('key')
          insert(inside, 2)
          ctx.abort('enough')
        }),
      )
      expect(await ids()).toEqual([])
      expect(await alarmAt()).toBeNull()
    })

    test.each<[string, (inside: Inside) => Promise<unknown>]>([
      ['a timer', (inside) => inside.pause(1)],
      ['sync()', ({ storage }) => storage.sync()],
      ['blockConcurrencyWhile()', ({ ctx }) => ctx.blockConcurrencyWhile(async () => undefined)],
      ['transaction()', ({ storage }) => storage.transaction(async () => undefined)],
    ])('ends with an await of %s', async (_name, wait) => {
      const { object, ids, alarmAt } = await setup()
      await failureOf(() =>
        object.request(async (inside) => {
          insert(inside, 1)
          await wait(inside)
          insert(inside, 2)
          void inside.storage.setAlarm(inside.now() + IN_A_MINUTE)
          inside.ctx.abort('enough')
        }),
      )
      expect(await ids()).toEqual([1])
      expect(await alarmAt()).toBeNull()
    })

    test('is durable once its request is answered: a crash keeps rows, values and alarm', async () => {
      const { object, ids, alarmAt } = await setup()
      const at = object.now() + IN_A_MINUTE
      await object.request((inside) => {
        insert(inside, 1)
        inside.storage.kv.put('key', { deep: [1] })
        void inside.storage.setAlarm(at)
      })
      await object.crash()
      expect(await ids()).toEqual([1])
      expect(await alarmAt()).toBe(at)
      expect(await object.request(({ storage }) => storage.kv.get('key'))).toEqual({ deep: [1] })
    })

    test('that ends with a constraint violated resets the object, and is lost', async () => {
      const { object } = await setup()
      await object.request(
        ({ sql }) => void sql.exec('CREATE TABLE c (id REFERENCES t (id) DEFERRABLE INITIALLY DEFERRED)'),
      )
      const failure = await failureOf(() =>
        object.request(({ sql }) => void sql.exec('INSERT INTO c VALUES (7)')),
      )
      expect(failure).toContain('FOREIGN KEY constraint failed: SQLITE_CONSTRAINT')
      expect(await object.request(({ sql }) => sql.exec('SELECT * FROM c').toArray())).toEqual([])
    })
  })

  describe('transactionSync', () => {
    test('gives what its function returns, and is part of the turn', async () => {
      const { object, ids } = await setup()
      expect(await object.request(({ storage }) => storage.transactionSync(() => 'result'))).toBe('result')
      await failureOf(() =>
        object.request((inside) => {
          inside.storage.transactionSync(() => insert(inside, 1))
          inside.ctx.abort('enough')
        }),
      )
      expect(await ids()).toEqual([])
    })

    test('that throws undoes its rows, values and alarm, and nothing before it', async () => {
      const { object, ids, alarmAt } = await setup()
      const at = object.now() + IN_A_MINUTE
      const failure = await object.request(async (inside) => {
        const { storage } = inside
        insert(inside, 1)
        storage.kv.put('key', 'before')
        await storage.setAlarm(at)
        return failureOf(() =>
          storage.transactionSync(() => {
            insert(inside, 2)
            storage.kv.put('key', 'within')
            void storage.setAlarm(at + 1)
            fail()
          }),
        )
      })
      expect(failure).toBe('RangeError: undone')
      expect(await ids()).toEqual([1])
      expect(await alarmAt()).toBe(at)
      expect(await object.request(({ storage }) => storage.kv.get('key'))).toBe('before')
    })

    test('undoes a deleted alarm and a created table too', async () => {
      const { object, alarmAt } = await setup()
      const at = object.now() + IN_A_MINUTE
      await object.request(({ storage }) => storage.setAlarm(at))
      await object.request(({ storage, sql }) =>
        failureOf(() =>
          storage.transactionSync(() => {
            void storage.deleteAlarm()
            sql.exec('CREATE TABLE u (id)')
            fail()
          }),
        ),
      )
      expect(await alarmAt()).toBe(at)
      expect(await object.request(({ sql }) => failureOf(() => sql.exec('SELECT * FROM u')))).toBe(
        'Error: no such table: u: SQLITE_ERROR',
      )
    })

    test('within another undoes its own part', async () => {
      const { object, ids } = await setup()
      await object.request((inside) =>
        inside.storage.transactionSync(() => {
          insert(inside, 1)
          void failureOf(() =>
            inside.storage.transactionSync(() => {
              insert(inside, 2)
              fail()
            }),
          )
          insert(inside, 3)
        }),
      )
      expect(await ids()).toEqual([1, 3])
    })

    test('that throws takes the parts within it along', async () => {
      const { object, ids } = await setup()
      await object.request((inside) =>
        failureOf(() =>
          inside.storage.transactionSync(() => {
            inside.storage.transactionSync(() => insert(inside, 1))
            fail()
          }),
        ),
      )
      expect(await ids()).toEqual([])
    })
  })

  describe('transaction', () => {
    test('keeps what is written over several turns as one, and gives what its function resolves to', async () => {
      const { object, ids } = await setup()
      const result = await object.request((inside) =>
        inside.storage.transaction(async () => {
          insert(inside, 1)
          await inside.pause(2)
          insert(inside, 2)
          return 'result'
        }),
      )
      expect(result).toBe('result')
      expect(await ids()).toEqual([1, 2])
    })

    test('that rejects undoes rows, values and alarm of all its turns', async () => {
      const { object, ids, alarmAt } = await setup()
      const at = object.now() + IN_A_MINUTE
      await object.request(({ storage }) => storage.setAlarm(at))
      const failure = await object.request((inside) =>
        failureOf(() =>
          inside.storage.transaction(async (txn) => {
            insert(inside, 1)
            await txn.put('key', 1)
            await txn.setAlarm(at + 1)
            await inside.pause(2)
            insert(inside, 2)
            fail()
          }),
        ),
      )
      expect(failure).toBe('RangeError: undone')
      expect(await ids()).toEqual([])
      expect(await alarmAt()).toBe(at)
      expect(await object.request(({ storage }) => storage.get('key'))).toBeUndefined()
    })

    test('is lost whole in a crash, and what was written before it is not', async () => {
      const { object, ids } = await setup()
      let reached = false
      const open = object.send(async (inside) => {
        insert(inside, 1)
        await inside.storage.transaction(async () => {
          insert(inside, 2)
          await inside.pause(1)
          insert(inside, 3)
          reached = true
          await new Promise(() => undefined)
        })
      })
      const cutOff = failureOf(() => object.answer(open))
      await object.until('it is in the transaction', () => reached)
      await object.crash()
      expect(await cutOff).not.toBe('no error')
      expect(await ids()).toEqual([1])
    })

    test('rolled back by hand undoes what came before; its own calls are refused then, others work', async () => {
      const { object, ids } = await setup()
      const failure = await object.request((inside) =>
        inside.storage.transaction(async (txn) => {
          insert(inside, 1)
          txn.rollback()
          insert(inside, 2)
          return failureOf(() => txn.put('key', 1))
        }),
      )
      expect(failure).toBe('Error: Cannot put() on rolled back transaction')
      expect(await ids()).toEqual([2])
    })

    test('within another undoes its own part, and is undone with it', async () => {
      const { object, ids } = await setup()
      await object.request((inside) =>
        inside.storage.transaction(async () => {
          insert(inside, 1)
          await failureOf(() =>
            inside.storage.transaction(async () => {
              insert(inside, 2)
              fail()
            }),
          )
          insert(inside, 3)
        }),
      )
      expect(await ids()).toEqual([1, 3])
      await object.request((inside) =>
        failureOf(() =>
          inside.storage.transaction(async () => {
            await inside.storage.transaction(async () => insert(inside, 4))
            fail()
          }),
        ),
      )
      expect(await ids()).toEqual([1, 3])
    })

    test('with a transactionSync in it, that throws, undoes only that', async () => {
      const { object, ids } = await setup()
      await object.request((inside) =>
        inside.storage.transaction(async () => {
          insert(inside, 1)
          await failureOf(() =>
            inside.storage.transactionSync(() => {
              insert(inside, 2)
              fail()
            }),
          )
          await inside.pause(1)
        }),
      )
      expect(await ids()).toEqual([1])
    })

    test('waits for the one before it', async () => {
      const { object, ids } = await setup()
      const order: string[] = []
      await object.request(async (inside) => {
        const one = (name: string, id: number, ends: () => void) =>
          failureOf(() =>
            inside.storage.transaction(async () => {
              order.push(`${name} starts`)
              insert(inside, id)
              await inside.pause(2)
              order.push(`${name} ends`)
              ends()
            }),
          )
        await Promise.all([one('first', 1, fail), one('second', 2, () => undefined)])
      })
      expect(order).toEqual(['first starts', 'first ends', 'second starts', 'second ends'])
      expect(await ids()).toEqual([2])
    })

    test('keeps requests waiting', async () => {
      const { object, ids } = await setup()
      const order: string[] = []
      const first = object.send((inside) =>
        inside.storage.transaction(async () => {
          order.push('transaction')
          insert(inside, 1)
          await inside.pause(20)
          order.push('its end')
        }),
      )
      await object.until('the transaction runs', () => order.length === 1)
      const second = object.send((inside) => {
        order.push('request')
        insert(inside, 2)
      })
      await object.answer(Promise.all([first, second]))
      expect(order).toEqual(['transaction', 'its end', 'request'])
      expect(await ids()).toEqual([1, 2])
    })
  })

  describe('blockConcurrencyWhile', () => {
    test('in the constructor keeps requests and alarms waiting', async () => {
      const order: string[] = []
      const object = driver.object({
        construct: (ctx, number) => {
          void ctx.blockConcurrencyWhile(async () => {
            order.push(`block ${number}`)
            await ctx.storage.sync()
            order.push(`its end ${number}`)
          })
        },
        alarm: () => order.push('alarm'),
      })
      await object.request(({ storage, now }) => {
        order.push('request')
        void storage.setAlarm(now() + 1)
      })
      await object.until('the alarm comes', () => order.includes('alarm'))
      expect(order).toEqual(['block 1', 'its end 1', 'request', 'alarm'])
    })

    test('starts in a turn of its own and gives what its function resolves to', async () => {
      const { object } = await setup()
      const order: string[] = []
      const result = await object.request(async ({ ctx }) => {
        const blocked = ctx.blockConcurrencyWhile(async () => {
          order.push('within')
          return 'result'
        })
        for (let times = 0; times < 20; times++) await null
        order.push('after the call')
        return await blocked
      })
      expect(result).toBe('result')
      expect(order).toEqual(['after the call', 'within'])
    })

    test('whose function fails resets the object, and loses what it wrote', async () => {
      let instances = 0
      const object = driver.object({ construct: () => void instances++ })
      const failure = await failureOf(() =>
        object.request(({ ctx, storage }) => {
          storage.kv.put('before', 1)
          return ctx.blockConcurrencyWhile(async () => {
            storage.kv.put('within', 1)
            fail()
          })
        }),
      )
      expect(failure).toBe('RangeError: undone')
      expect(await object.request(({ storage }) => [...storage.kv.list()])).toEqual([['before', 1]])
      expect(instances).toBe(2)
    })
  })

  describe('deleteAll', () => {
    test('removes tables, values and alarm at once, whatever becomes of the turn', async () => {
      const { object, alarmAt } = await setup()
      await object.request(async (inside) => {
        insert(inside, 1)
        inside.storage.kv.put('key', 1)
        await inside.storage.setAlarm(inside.now() + IN_A_MINUTE)
      })
      await failureOf(() =>
        object.request(({ ctx, storage }) => {
          void storage.deleteAll()
          ctx.abort('enough')
        }),
      )
      const tables = await object.request(({ sql }) => sql.exec('SELECT name FROM sqlite_schema').toArray())
      expect(tables).toEqual([])
      expect(await alarmAt()).toBeNull()
      expect(await object.request(({ storage }) => storage.kv.get('key'))).toBeUndefined()
    })

    test('leaves storage usable, and cancels queries that are being read', async () => {
      const { object } = await setup()
      const failure = await object.request(async (inside) => {
        insert(inside, 1)
        insert(inside, 2)
        const cursor = inside.sql.exec('SELECT id FROM t')
        cursor.next()
        await inside.storage.deleteAll()
        inside.storage.kv.put('key', 1)
        inside.sql.exec('CREATE TABLE u (id)')
        return failureOf(() => cursor.toArray())
      })
      expect(failure).toBe('Error: SQLite query was canceled because the database was deleted.')
      expect(await object.request(({ storage }) => storage.kv.get('key'))).toBe(1)
    })

    test('is refused within a transaction', async () => {
      const { object } = await setup()
      const failure = await object.request(({ storage }) =>
        failureOf(() => storage.transaction(() => storage.deleteAll())),
      )
      expect(failure).toBe('Error: Cannot call deleteAll() within a transaction')
    })
  })
}
