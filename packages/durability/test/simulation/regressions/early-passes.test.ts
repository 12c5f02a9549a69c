import { expect, test } from 'vitest'
import { idle, MINUTE_MS, objectWith, onceAt, SECOND_MS } from './own-helper.ts'

test('an early pass after one that had work waits for nothing', async () => {
  const { object, seen } = objectWith(idle)
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  await object.deliverAlarm({ early: true })
  await object.advance(MINUTE_MS)
  expect(seen.ticks.length).toBe(1)
  await object.deliverAlarm({ early: true })
  expect(object.inAlarm).toBe(false)
  object.close()
})

test('the second early pass in a row ends when its work is due', async () => {
  const { object, seen } = objectWith(idle)
  await object.call(({ alarms }) => alarms.set('ping', object.world.clock.now() + 2 * SECOND_MS))
  await object.deliverAlarm({ early: true })
  expect(object.inAlarm).toBe(false)
  await object.deliverAlarm({ early: true })
  expect(object.inAlarm).toBe(true)
  await object.advance(2 * SECOND_MS)
  expect(seen.pings.length).toBe(1)
  expect(object.inAlarm).toBe(false)
  object.close()
})

test('a pass at the horizon of a year is not early, however often in a row', async () => {
  const YEAR_MS = 365 * 24 * 60 * MINUTE_MS
  let dueAt = 0
  const { object } = objectWith(onceAt(() => dueAt))
  const startAt = object.world.clock.now()
  dueAt = startAt + 3.5 * YEAR_MS
  await object.call(({ alarms }) => alarms.cancel('ping'))
  await object.settle()
  for (const years of [1, 2, 3]) {
    expect(object.alarmAt).toBe(startAt + years * YEAR_MS)
    await object.advance(YEAR_MS)
    expect(object.inAlarm).toBe(false)
  }
  expect(object.alarmAt).toBe(dueAt)
  object.close()
})
