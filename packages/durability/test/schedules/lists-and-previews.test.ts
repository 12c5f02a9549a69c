import { describe, expect, test } from 'vitest'
import { HOUR_MS, START_AT, setup } from './support/setup.ts'

const HOURLY = { id: 'a', workflow: 'brief', every: '1h' } as const

/** A cursor as a stranger would make one. */
const forged = (key: object) => btoa(JSON.stringify(key)).replace(/=+$/, '')

describe('a cursor that no page has given', () => {
  test.each([
    { paused: 'x', nextFireAt: 1, id: 'a' },
    { paused: false, nextFireAt: 'x', id: 'a' },
    { paused: false, nextFireAt: 1, id: 5 },
    { paused: null, nextFireAt: null, id: null },
    { paused: false, nextFireAt: { a: 1 }, id: 'a' },
    { createdAt: 1, id: 'a' },
    [false, 1, 'a'],
  ])('such as %j is refused by list', async (key) => {
    const { schedules } = setup()
    await schedules.create(HOURLY)
    await expect(schedules.list({ cursor: forged(key) })).rejects.toMatchObject({
      name: 'InvalidScheduleError',
      field: 'cursor',
    })
  })

  test.each([
    { createdAt: 'x', id: 'a' },
    { createdAt: null, id: 'a' },
    { createdAt: 1, id: 5 },
    { paused: false, nextFireAt: 1, id: 'a' },
  ])('such as %j is refused by listRuns', async (key) => {
    const { engine } = setup()
    await engine.start('brief', null, 'run')
    await expect(engine.listRuns({ cursor: forged(key) })).rejects.toMatchObject({
      name: 'InvalidScheduleError',
      field: 'cursor',
    })
  })
})

test('preview shows of a paused one what resume goes on with, also when the clock went back', async () => {
  const { schedules, tickIn, moveTo } = setup()
  await schedules.create(HOURLY)
  await tickIn(HOUR_MS)
  moveTo(START_AT + 3 * HOUR_MS)
  await schedules.pause('a')
  moveTo(START_AT)
  const [first] = await schedules.preview('a', { count: 1 })
  expect(first?.scheduledTime).toBe(START_AT + 4 * HOUR_MS)
  expect(await schedules.resume('a')).toMatchObject({ nextFireAt: first?.dueAt })
})
