import { beforeEach, expect, test, vi } from 'vitest'
import { MINUTE_MS, objectWith } from './own-helper.ts'

const nothing = () => ({ nextAt: () => undefined, run: () => undefined })

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => vi.restoreAllMocks()
})

test('a set whose alarm is refused rejects, and is made good by the next call', async () => {
  const { object } = objectWith(nothing)
  const set = () => object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  object.faults.failSetAlarm({ times: Number.POSITIVE_INFINITY })
  const refused = expect(set()).rejects.toThrow('could not be set')
  await object.settle()
  await refused
  object.faults.clear()
  await set()
  await object.settle()
  expect(object.alarmAt).toBe(object.world.clock.now() + MINUTE_MS)
  object.close()
})

test('alarm() rejects when its last alarm is refused, so that the platform tries again', async () => {
  const { object, seen } = objectWith(nothing)
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  await object.settle()
  object.faults.failSetAlarm({ times: Number.POSITIVE_INFINITY })
  object.overwriteAlarm(object.world.clock.now() + 1)
  await object.advance(1)
  object.faults.clear()
  await object.advance(MINUTE_MS)
  expect(seen.ticks.length).toBe(1)
  object.close()
})
