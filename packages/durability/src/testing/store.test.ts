import { expect, test } from 'vitest'
import { SimulatedCrash } from './errors.ts'
import { simulateObject } from './object.ts'

async function setup() {
  const object = simulateObject((ctx) => ({ ctx, alarm: () => undefined }))
  const { storage } = object.ctx
  storage.sql.exec('CREATE TABLE t (id INTEGER PRIMARY KEY)')
  await object.settle()
  const insert = (id: number) => storage.sql.exec('INSERT INTO t VALUES (?)', id)
  const ids = () => object.rows<{ id: number }>('SELECT id FROM t').map((row) => row.id)
  return { object, storage, insert, ids, now: object.world.clock.now() }
}

test('what a turn and its microtasks write is kept or lost as one, with the alarm', async () => {
  const { object, storage, insert, ids, now } = await setup()
  insert(1)
  await null
  await storage.setAlarm(now + 10)
  await storage.getAlarm()
  insert(2)
  object.crash()
  expect(ids()).toEqual([])
  expect(object.alarmAt).toBeNull()
})

test('a turn is committed by the time that sync() resolves', async () => {
  const { object, storage, insert, ids, now } = await setup()
  insert(1)
  void storage.setAlarm(now + 10)
  expect(object.alarmAt).toBeNull()
  await storage.sync()
  object.crash()
  expect(ids()).toEqual([1])
  expect(object.alarmAt).toBe(now + 10)
})

test('what is written after sync() is another turn', async () => {
  const { object, storage, insert, ids } = await setup()
  insert(1)
  await storage.sync()
  insert(2)
  object.crash()
  expect(ids()).toEqual([1])
})

test('a turn ends without sync() too', async () => {
  const { object, insert, ids } = await setup()
  insert(1)
  await object.settle()
  object.crash()
  expect(ids()).toEqual([1])
})

test('each sync() resolves in a turn of its own', async () => {
  const { storage, insert } = await setup()
  const order: string[] = []
  insert(1)
  const follow = async (name: string) => {
    await storage.sync()
    order.push(name)
    await null
    order.push(`after ${name}`)
  }
  await Promise.all([follow('a'), follow('b')])
  expect(order).toEqual(['a', 'after a', 'b', 'after b'])
})

test('an alarm call can be made to end the turn, for code that must not rely on its promise', async () => {
  const object = simulateObject(() => ({ alarm: () => undefined }), { alarmCalls: 'later turn' })
  const { storage } = object.ctx
  storage.sql.exec('CREATE TABLE t (id INTEGER PRIMARY KEY)')
  await storage.setAlarm(object.world.clock.now() + 10)
  storage.sql.exec('INSERT INTO t VALUES (1)')
  object.crash()
  expect(object.rows('SELECT id FROM t')).toEqual([])
  expect(object.alarmAt).not.toBeNull()
})

test('a dead instance writes nothing: its calls throw and its awaits never resolve', async () => {
  const { object, storage, insert, ids, now } = await setup()
  const heard: string[] = []
  void storage.sync().then(() => heard.push('sync before the crash'))
  object.crash()
  void storage.sync().then(() => heard.push('sync'))
  void storage.setAlarm(now + 10).then(() => heard.push('setAlarm'))
  void storage.getAlarm().then(() => heard.push('getAlarm'))
  await object.settle()
  void storage.setAlarm(now + 10).then(() => heard.push('late setAlarm'))
  void storage.deleteAll().then(() => heard.push('late deleteAll'))
  expect(() => insert(1)).toThrow(SimulatedCrash)
  expect(() => storage.transactionSync(() => undefined)).toThrow(SimulatedCrash)
  await object.settle()
  expect(heard).toEqual([])
  expect(ids()).toEqual([])
  expect(object.alarmAt).toBeNull()
})

test('what an instance does in the turn of its death, after it, is lost without an error', async () => {
  const { object, insert, ids } = await setup()
  insert(1)
  object.crash()
  insert(2)
  await object.settle()
  expect(ids()).toEqual([])
  expect(object.costs.rowsWritten).toBe(3)
})

test('a new instance can be used in the turn in which the old one died', async () => {
  const { object, insert, ids } = await setup()
  insert(1)
  object.crash()
  object.ctx.storage.sql.exec('INSERT INTO t VALUES (7)')
  expect(() => insert(2)).toThrow(SimulatedCrash)
  await object.settle()
  expect(ids()).toEqual([7])
})

test('an alarm lost with its turn does not come back with the next turn', async () => {
  const { object, storage, now } = await setup()
  void storage.setAlarm(now + 10)
  object.crash()
  const next = object.ctx.storage
  expect(await next.getAlarm()).toBeNull()
  next.sql.exec('INSERT INTO t VALUES (1)')
  await object.settle()
  expect(object.alarmAt).toBeNull()
})

test('a query that a dead instance was still reading has no further rows, and holds up no later change', async () => {
  const { object, storage, insert } = await setup()
  for (const id of [1, 2, 3]) insert(id)
  await object.settle()
  const cursor = storage.sql.exec('SELECT id FROM t')
  object.crash()
  object.ctx.storage.sql.exec('DROP TABLE t')
  expect(cursor.toArray().length).toBeLessThan(3)
})

test('the timers of a dead instance do not fire', async () => {
  const fired: number[] = []
  let born = 0
  const object = simulateObject((_ctx, clock) => {
    const number = ++born
    clock.setTimer(() => fired.push(number), 1_000)
    return { alarm: () => undefined }
  })
  object.instance.alarm()
  object.crash()
  expect(object.world.clock.pendingTimers).toBe(0)
  object.instance.alarm()
  await object.advance('2 s')
  expect(fired).toEqual([2])
})

test('a request that is open at the crash is rejected', async () => {
  const { object } = await setup()
  const answer = object.call(() => new Promise(() => undefined))
  object.crash()
  await expect(answer).rejects.toThrow(SimulatedCrash)
  await expect(object.call(({ ctx }) => ctx.storage.getAlarm())).resolves.toBeNull()
})

test('turns that follow each other without end are reported, not waited for', async () => {
  const { object, storage } = await setup()
  const spin = async (): Promise<never> => {
    for (;;) await storage.sync()
  }
  void spin()
  await expect(object.settle()).rejects.toThrow('spins')
  object.crash()
})
