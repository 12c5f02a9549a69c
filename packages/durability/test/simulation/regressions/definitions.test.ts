import { describe, expect, test } from 'vitest'
import { DurabilitySchedule } from '../../../src/experimental/schedule.ts'
import { idle, MINUTE_MS, objectWith, SECOND_MS, toldOfAlarms } from './own-helper.ts'

test('a set that records a due tick keeps the next nominal time, which is in its jitter delay', async () => {
  const { object } = objectWith(idle)
  const startAt = object.world.clock.now()
  const set = (version: number) =>
    object.call(({ schedule }) => schedule.set({ expression: '', version, jitterMs: 150 * SECOND_MS }))
  await set(1)
  object.holdAlarms(10 * MINUTE_MS)
  await object.advance(215 * SECOND_MS)
  await set(2)
  expect(object.instance.schedule.get()?.nextAt).toBe(startAt + 2 * MINUTE_MS)
  object.close()
})

test('runs that wait start before a tick that is due when a new instance finds both', async () => {
  const started: number[] = []
  const { object } = objectWith(idle, {
    run: () => new Promise(() => {}),
    schedule: {
      maxConcurrentRuns: 1,
      onLifecycleEvent: ({ type, scheduledTime }) => {
        if (type === 'started') started.push((scheduledTime - startAt) / MINUTE_MS)
      },
    },
  })
  const startAt = object.world.clock.now()
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  await object.advance(2 * MINUTE_MS)
  object.crash()
  object.holdAlarms(MINUTE_MS)
  await object.advance(MINUTE_MS)
  expect(started).toEqual([1, 2])
  object.close()
})

describe('a call that is rolled back', () => {
  test.each(['set', 'cancel'] as const)(
    '%s: what another helper then writes in the same turn is armed for the schedule as it is',
    async (call) => {
      const armed: number[] = []
      const { object } = objectWith(idle, { context: toldOfAlarms((at) => armed.push(at)) })
      const startAt = object.world.clock.now()
      const everyDay = { expression: 'far', version: 2 }
      await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
      await object.settle()
      armed.length = 0
      await object.call(({ schedule, alarms }) => {
        expect(() =>
          object.ctx.storage.transactionSync(() => {
            void (call === 'set' ? schedule.set(everyDay) : schedule.cancel())
            throw new Error('Undo')
          }),
        ).toThrow('Undo')
        armed.length = 0
        const set = alarms.set('ping', startAt + 60 * MINUTE_MS)
        expect(armed.filter((at) => at > startAt + MINUTE_MS)).toEqual([])
        return set
      })
      await object.settle()
      expect(object.alarmAt).toBe(startAt + MINUTE_MS)
      object.close()
    },
  )
})

test('a question in the turn in which other code removed the tables is answered from what is there', async () => {
  const { object } = objectWith(idle)
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  await object.call(({ schedule }) => {
    expect(schedule.get()).toMatchObject({ version: 1 })
    DurabilitySchedule.migrate(object.ctx, null)
    expect(schedule.get()).toBe(undefined)
    expect(schedule.status()).toMatchObject({ state: 'none' })
  })
  object.close()
})
