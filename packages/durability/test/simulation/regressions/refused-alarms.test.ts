import { beforeEach, describe, expect, test, vi } from 'vitest'
import { idle, MINUTE_MS, objectWith, type Parts, SECOND_MS, toldOfAlarms } from './own-helper.ts'

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => vi.restoreAllMocks()
})

test('a set whose alarm is refused rejects, and is made good by the next call', async () => {
  const { object } = objectWith(idle)
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
  const { object, seen } = objectWith(idle)
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

test('an alarm that throws once as it is set makes alarm() reject at once, also when a second try would do', async () => {
  let throws = 0
  const { object, seen } = objectWith(idle, {
    context: toldOfAlarms(() => {
      if (throws === 0) return
      throws -= 1
      throw new Error('No alarm can be set')
    }),
  })
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  await object.settle()
  throws = 1
  await object.advance(MINUTE_MS)
  expect(seen).toMatchObject({ ticks: [], failures: [], rejections: [{ message: 'No alarm can be set' }] })
  await object.advance(2 * SECOND_MS)
  expect(seen.ticks.length).toBe(1)
  object.close()
})

describe('an alarm that is refused while a run is held', () => {
  async function setup(times: number, overwrittenBy?: null) {
    const { object, seen } = objectWith(idle, { run: () => new Promise(() => {}) })
    await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
    await object.advance(2 * MINUTE_MS - 1)
    expect(object.inAlarm).toBe(true)
    object.faults.failSetAlarm({ times })
    if (overwrittenBy === null) object.overwriteAlarm(null)
    await object.advance(1)
    return { object, seen }
  }

  test('ends the pass at once', async () => {
    const { object } = await setup(1)
    expect(object.inAlarm).toBe(false)
    object.close()
  })

  test('is armed again at once, and found by the next instance', async () => {
    const { object, seen } = await setup(1)
    object.crash()
    await object.advance(MINUTE_MS)
    expect(seen.ticks.length).toBe(2)
    object.close()
  })

  test('is armed again by memory within alarmMinDelayMs, also when other code has deleted it', async () => {
    const { object } = await setup(100, null)
    expect({ alarmAt: object.alarmAt, inAlarm: object.inAlarm }).toEqual({ alarmAt: null, inAlarm: false })
    object.faults.clear()
    await object.advance(15 * SECOND_MS)
    expect(object.alarmAt).not.toBe(null)
    object.close()
  })
})

describe('what a helper needs while a run is held, and was refused', () => {
  /** Its own work is due five minutes after the tick; the one after that is a day away. */
  async function setup(times: number) {
    let dueAt: number | undefined
    const ran: number[] = []
    const { object } = objectWith(
      (now) => ({
        nextAt: () => dueAt,
        run: () => {
          dueAt = undefined
          ran.push(now())
        },
      }),
      {
        run: () => new Promise(() => {}),
        schedule: {
          nextOccurrence: (_expression, after) => firstAt + (after < firstAt ? 0 : 1_440 * MINUTE_MS),
        },
      },
    )
    const firstAt = object.world.clock.now() + MINUTE_MS
    await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
    await object.advance(MINUTE_MS)
    object.faults.failSetAlarm({ times })
    const need = (parts: Parts) =>
      parts.port.transaction(() => {
        dueAt = firstAt + 5 * MINUTE_MS
      })
    object.call(need).catch(() => undefined)
    await object.advance(0)
    expect(object.inAlarm).toBe(false)
    return { object, ran, dueAt: firstAt + 5 * MINUTE_MS }
  }

  test('is armed at once, and found by the next instance', async () => {
    const { object, ran, dueAt } = await setup(1)
    object.crash()
    await object.advance(6 * MINUTE_MS)
    expect(ran).toEqual([dueAt])
    object.close()
  })

  test('is armed by memory within alarmMinDelayMs when that is refused, too', async () => {
    const { object, ran, dueAt } = await setup(Number.POSITIVE_INFINITY)
    object.faults.clear()
    await object.advance(15 * SECOND_MS)
    object.crash()
    await object.advance(6 * MINUTE_MS)
    expect(ran).toEqual([dueAt])
    object.close()
  })
})

test('a set whose alarm is refused does not fail the cancel that follows', async () => {
  const { object } = objectWith(idle)
  object.faults.failSetAlarm({ times: Number.POSITIVE_INFINITY })
  const refused = expect(
    object.call(({ schedule }) => schedule.set({ expression: '', version: 1 })),
  ).rejects.toThrow('could not be set')
  await object.settle()
  await refused
  const cancelled = object.call(({ schedule }) => schedule.cancel())
  await object.settle()
  expect(await cancelled).toBe(true)
  object.close()
})

test('an alarm that a transaction was refused is set by the next one that needs it', async () => {
  let dueAt: number | undefined
  const { object } = objectWith(() => ({ ...idle(), nextAt: () => dueAt }))
  const transaction = () =>
    object.call(({ port }) => {
      port.transaction(() => {
        dueAt = object.world.clock.now() + MINUTE_MS
      })
    })
  object.faults.failSetAlarm()
  await transaction()
  await object.settle()
  expect(object.alarmAt).toBe(null)
  await transaction()
  await object.settle()
  expect(object.alarmAt).toBe(object.world.clock.now() + MINUTE_MS)
  object.close()
})
