import { expect, test } from 'vitest'
import { simulateObject } from './object.ts'

function setup() {
  const object = simulateObject(() => ({ alarm: () => undefined }))
  const { storage } = object.ctx
  storage.sql.exec('CREATE TABLE t (id INTEGER PRIMARY KEY)')
  return { object, storage, insert: () => storage.sql.exec('INSERT INTO t DEFAULT VALUES') }
}

test('the next matching exec fails as on full storage, and writes nothing', () => {
  const { object, insert } = setup()
  object.faults.failExec(/insert/i)
  expect(object.rows('SELECT * FROM t')).toEqual([])
  expect(insert).toThrow('database or disk is full: SQLITE_FULL')
  insert()
  expect(object.rows('SELECT * FROM t')).toHaveLength(1)
})

test('the n-th matching exec can be the one that fails, or all from there on', () => {
  const { object, insert } = setup()
  object.faults.failExec(/INSERT/, { skip: 1, times: Number.POSITIVE_INFINITY, error: new Error('worn out') })
  insert()
  expect(insert).toThrow('worn out')
  expect(insert).toThrow('worn out')
  object.faults.clear()
  insert()
  expect(object.rows('SELECT * FROM t')).toHaveLength(2)
})

test('setAlarm fails when it shall, and leaves the former alarm', async () => {
  const { object, storage } = setup()
  const at = object.world.clock.now() + 10
  await storage.setAlarm(at)
  object.faults.failSetAlarm()
  await expect(storage.setAlarm(at + 10)).rejects.toThrow('could not be set')
  expect(await storage.getAlarm()).toBe(at)
  await storage.setAlarm(at + 10)
  expect(await storage.getAlarm()).toBe(at + 10)
})
