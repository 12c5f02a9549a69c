import { expect, test } from 'vitest'
import { physicalAlarm } from './physical-alarm.ts'
import type { ObjectStorage } from './state.ts'

/** A storage whose reads of the alarm are answered when the test says so. */
function slowStorage() {
  const read = Promise.withResolvers<number | null>()
  const writes: (number | null)[] = []
  const storage = {
    getAlarm: () => read.promise,
    setAlarm: async (at: number) => void writes.push(at),
    deleteAlarm: async () => void writes.push(null),
  }
  // Nothing else of a storage is used.
  return { storage: storage as unknown as ObjectStorage, read, writes }
}

test('what is read of the alarm is believed from then on', async () => {
  const { storage, read } = slowStorage()
  const alarm = physicalAlarm(storage, () => undefined)
  const refreshed = alarm.refresh()
  read.resolve(1_000)
  expect(await refreshed).toBe(false)
  expect(alarm.at).toBe(1_000)
})

test('an alarm that is written while it is read wins over the answer', async () => {
  const { storage, read, writes } = slowStorage()
  const alarm = physicalAlarm(storage, () => undefined)
  const refreshed = alarm.refresh()
  alarm.write(2_000)
  read.resolve(1_000)
  expect(await refreshed).toBe(false)
  expect(alarm.at).toBe(2_000)
  expect(writes).toEqual([2_000])
})

test('an alarm that is deleted while it is read stays deleted', async () => {
  const { storage, read } = slowStorage()
  const alarm = physicalAlarm(storage, () => undefined)
  const refreshed = alarm.refresh()
  alarm.write(Number.POSITIVE_INFINITY)
  read.resolve(1_000)
  expect(await refreshed).toBe(false)
  expect(alarm.at).toBe(Number.POSITIVE_INFINITY)
})
