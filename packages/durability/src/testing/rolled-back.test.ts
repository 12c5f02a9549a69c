import { expect, test } from 'vitest'
import { simulateObject } from './index.ts'

test('a table whose creation was rolled back is missing, also for a query that was prepared on it', async () => {
  const object = simulateObject((ctx) => ({
    alarm: async () => {},
    read: () => ctx.storage.sql.exec('SELECT * FROM made').toArray(),
    make: () => ctx.storage.sql.exec('CREATE TABLE made (id INTEGER PRIMARY KEY)'),
  }))
  object.instance.make()
  expect(object.instance.read()).toEqual([])
  object.crash()
  expect(() => object.instance.read()).toThrow('no such table: made')
})
