import { expect, test } from 'vitest'
import { everyCrash, simulateObject } from './index.ts'

test('a transaction over several turns is kept or lost whole, wherever the object crashes', async () => {
  const outcomes = new Set<string>()
  await everyCrash(async (crashing) => {
    const object = crashing(
      simulateObject((ctx, clock) => {
        ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS t (id INTEGER PRIMARY KEY)')
        return {
          write: () =>
            ctx.storage.transaction(async (txn) => {
              ctx.storage.sql.exec('INSERT INTO t VALUES (1)')
              await ctx.storage.sync()
              await txn.put('key', 'value')
              await txn.setAlarm(clock.now() + 60_000)
              ctx.storage.sql.exec('INSERT INTO t VALUES (2)')
            }),
          alarm: () => undefined,
        }
      }),
    )
    await object.call((instance) => instance.write()).catch(() => undefined)
    await object.settle()
    const { storage } = object.ctx
    const rows = object.rows('SELECT id FROM t').length
    outcomes.add(`${rows} rows, ${storage.kv.get('key')}, ${object.alarmAt === null ? 'no' : 'an'} alarm`)
  })
  expect([...outcomes].sort()).toEqual(['0 rows, undefined, no alarm', '2 rows, value, an alarm'])
})

test('deleteAll is done or not, wherever the object crashes, and needs no commit', async () => {
  const left: unknown[] = []
  const histories = await everyCrash(async (crashing, crash) => {
    const object = crashing(simulateObject((ctx) => ({ ctx, alarm: () => undefined })))
    const { storage } = object.ctx
    const deleted = object.call(() => storage.deleteAll())
    await deleted.catch(() => undefined)
    if (crash !== undefined) left.push(object.alive)
  })
  expect(histories).toBe(4)
  expect(left).toEqual([false, false, false])
})

test('deleteAll crashed at before it happens leaves everything, and after it nothing', async () => {
  const leftWhen = async (when: 'before' | 'after') => {
    const object = simulateObject((ctx) => ({ ctx, alarm: () => undefined }))
    object.instance.ctx.storage.kv.put('key', 'value')
    await object.settle()
    object.crashAt({ write: 2, when })
    await object.call(({ ctx }) => ctx.storage.deleteAll()).catch(() => undefined)
    return object.ctx.storage.kv.get('key')
  }
  expect([await leftWhen('before'), await leftWhen('after')]).toEqual(['value', undefined])
})
