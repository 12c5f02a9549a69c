import { expect, test } from 'vitest'
import { idle, MINUTE_MS, objectWith, onceAt, SECOND_MS, toldOfAlarms } from './own-helper.ts'

test('a helper whose promise is pending is not run again by the passes after a hand-off', async () => {
  let runs = 0
  let isDone = false
  const { object } = objectWith(
    (now) => ({
      nextAt: () => (isDone ? undefined : now()),
      run: () => {
        runs += 1
        return new Promise<void>((resolve) => {
          object.world.clock.setTimer(() => {
            isDone = true
            resolve()
          }, MINUTE_MS)
        })
      },
    }),
    { scheduler: { alarmHandoffMs: 10 * SECOND_MS, alarmMinDelayMs: SECOND_MS } },
  )
  await object.call(({ alarms }) => alarms.cancel('ping'))
  await object.advance(2 * MINUTE_MS)
  expect({ runs, alarmAt: object.alarmAt, inAlarm: object.inAlarm }).toEqual({
    runs: 1,
    alarmAt: null,
    inAlarm: false,
  })
  object.close()
})

test('a helper that fails in nextAt alone is asked again after alarmMinDelayMs', async () => {
  let isBroken = true
  let ranAt = 0
  const { object, seen } = objectWith((now) => ({
    nextAt: () => {
      if (isBroken) throw new Error('broken')
      return ranAt > 0 ? undefined : now()
    },
    run: () => {
      ranAt = now()
    },
  }))
  const startAt = object.world.clock.now()
  await object.call(({ alarms }) => alarms.cancel('ping'))
  isBroken = false
  await object.advance(MINUTE_MS)
  expect({ ranAt: ranAt - startAt, failures: seen.failures }).toEqual({
    ranAt: 15 * SECOND_MS,
    failures: ['own'],
  })
  object.close()
})

test('a helper that leaves its work due has failed each time, and is run every alarmMinDelayMs', async () => {
  let runs = 0
  const { object, seen } = objectWith((now) => ({
    nextAt: now,
    run: () => {
      runs += 1
    },
  }))
  await object.call(({ alarms }) => alarms.cancel('ping'))
  await object.advance(MINUTE_MS)
  expect({ runs, failures: seen.failures.length }).toEqual({ runs: 5, failures: 5 })
  object.close()
})

test('a helper that failed before the clock went back is not left out for as long as the step', async () => {
  let runs = 0
  const { object } = objectWith((now) => ({
    nextAt: now,
    run: () => {
      runs += 1
      throw new Error('again')
    },
  }))
  await object.call(({ alarms }) => alarms.cancel('ping'))
  expect(runs).toBe(1)
  object.world.clock.jump(-60 * MINUTE_MS, { alarms: true })
  await object.call(({ alarm }) => alarm())
  expect(runs).toBe(2)
  object.close()
})

test('a named alarm that is set for now while a run holds the pass waits for its end', async () => {
  const gate = Promise.withResolvers<void>()
  const { object, seen } = objectWith(idle, { run: () => gate.promise })
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  await object.advance(MINUTE_MS)
  expect(object.inAlarm).toBe(true)
  await object.call(({ alarms }) => alarms.set('ping', 0))
  await object.advance(SECOND_MS)
  expect(seen.pings).toEqual([])
  gate.resolve()
  await object.advance(0)
  expect(seen.pings.length).toBe(1)
  object.close()
})

test('a helper that is due is run once by a call, and the alarm goes with it', async () => {
  const { object } = objectWith(onceAt(() => 1))
  await object.call(({ alarms }) => alarms.cancel('ping'))
  await object.advance(SECOND_MS)
  expect(object.alarmAt).toBe(null)
  object.close()
})

test('a tick beside a named alarm that is due as well does not arm for now', async () => {
  const armed: number[] = []
  const { object } = objectWith(idle, { context: toldOfAlarms((at) => armed.push(at)) })
  const dueAt = object.world.clock.now() + MINUTE_MS
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  await object.call(({ alarms }) => alarms.set('ping', dueAt))
  await object.settle()
  armed.length = 0
  await object.advance(MINUTE_MS)
  expect(armed.at(-1)).toBe(dueAt + MINUTE_MS)
  expect(armed.filter((at) => at <= dueAt + 1)).toEqual([])
  object.close()
})

test('an alarm that a nested transaction set, and the outer one took back, is set by the next that needs it', async () => {
  let dueAt: number | undefined
  const { object } = objectWith(() => ({ ...idle(), nextAt: () => dueAt }))
  const inFiveSeconds = object.world.clock.now() + 5 * SECOND_MS
  const needIt = () => {
    dueAt = inFiveSeconds
  }
  await object.call(({ port }) => {
    expect(() =>
      port.transaction(() => {
        port.transaction(needIt)
        throw new Error('Undo')
      }),
    ).toThrow('Undo')
  })
  await object.settle()
  expect(object.alarmAt).toBe(null)
  await object.call(({ port }) => port.transaction(needIt))
  await object.settle()
  expect(object.alarmAt).toBe(inFiveSeconds)
  object.close()
})
