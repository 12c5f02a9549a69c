import { beforeEach, expect, test, vi } from 'vitest'
import { idle, MINUTE_MS, objectWith, SECOND_MS } from './own-helper.ts'

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => vi.restoreAllMocks()
})

test('a named alarm whose attempt could not be recorded is tried after alarmMinDelayMs, and has given back its permit', async () => {
  const { object, seen } = objectWith(idle, { scheduler: { alarmConcurrency: 1 } })
  const startAt = object.world.clock.now()
  object.faults.failExec(/^UPDATE durability_alarms/)
  await object.call(({ alarms }) => alarms.set('ping', 0))
  await object.advance(MINUTE_MS)
  expect(seen.pings.map((at) => at - startAt)).toEqual([15_000])
  object.close()
})

test('a named alarm that is set for later while it waits for a permit does not run before', async () => {
  const { object, seen } = objectWith(idle, { scheduler: { alarmConcurrency: 1 } })
  const startAt = object.world.clock.now()
  const release = await object.call(({ port }) => port.acquirePermit())
  await object.call(({ alarms }) => alarms.set('ping', 0))
  await object.settle()
  await object.call(({ alarms }) => alarms.set('ping', startAt + 5 * MINUTE_MS))
  release()
  await object.advance(4 * MINUTE_MS)
  expect(seen.pings).toEqual([])
  await object.advance(MINUTE_MS)
  expect(seen.pings.map((at) => at - startAt)).toEqual([5 * MINUTE_MS])
  object.close()
})

test('the back-off of a named alarm begins when its attempt has failed, not when that began', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  const { object, seen } = objectWith(idle, {
    ping: () =>
      new Promise((_resolve, reject) => {
        object.world.clock.setTimer(() => reject(new Error('again')), 30 * SECOND_MS)
      }),
  })
  const startAt = object.world.clock.now()
  await object.call(({ alarms }) => alarms.set('ping', 0))
  await object.advance(MINUTE_MS)
  expect(seen.pings.map((at) => at - startAt)).toEqual([0, 30_500])
  object.close()
})

test('a named alarm whose end could not be stored is not called again', async () => {
  const { object, seen } = objectWith(idle)
  object.faults.failExec(/^DELETE FROM durability_alarms/, { times: 2 })
  await object.call(({ alarms }) => alarms.set('ping', 0))
  await object.advance(5 * MINUTE_MS)
  expect(seen.pings.length).toBe(1)
  expect(object.instance.alarms.get('ping')).toBe(undefined)
  object.close()
})

test('a cancel of a named alarm that is not set puts right the alarm of the schedule', async () => {
  const { object } = objectWith(idle)
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  await object.settle()
  object.overwriteAlarm(null)
  expect(await object.call(({ alarms }) => alarms.cancel('ping'))).toBe(false)
  await object.settle()
  expect(object.alarmAt).toBe(object.world.clock.now() + MINUTE_MS)
  object.close()
})
