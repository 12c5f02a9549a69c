import { describe, expect, test } from 'vitest'
import { HOUR_MS, START_AT, setup } from './support/setup.ts'

type Schedules = ReturnType<typeof setup>['schedules']

const JITTERED = { id: 'a', workflow: 'brief', every: '1h', jitter: '50m' } as const
const HOURLY = { id: 'a', workflow: 'brief', every: '1h' } as const

describe('the history', () => {
  test('of few entries tells what fired, however many manual runs came since', async () => {
    const { schedules, tickIn, moveTo, now } = setup({ keptRuns: 500 })
    await schedules.create(HOURLY)
    await tickIn(HOUR_MS)
    await tickIn(HOUR_MS)
    for (let n = 0; n < 150; n += 1) {
      moveTo(now() + 1)
      await schedules.trigger('a')
    }
    const fired = [2, 1].map((n) => ({ decision: 'fired', scheduledTime: START_AT + n * HOUR_MS }))
    expect(await schedules.history('a', { limit: 1 })).toMatchObject(fired.slice(0, 1))
    expect(await schedules.history('a', { limit: 5 })).toMatchObject(fired)
    expect(await schedules.history('a')).toHaveLength(2)
  })

  test.each([
    ['pause', (schedules: Schedules) => schedules.pause('a')],
    ['another timing', (schedules: Schedules) => schedules.upsert({ ...JITTERED, jitter: '40m' })],
    ['another bound', (schedules: Schedules) => schedules.upsert({ ...JITTERED, maxRuns: 9 })],
  ])('tells of a window that waited for its jitter when a %s came', async (_name, change) => {
    const { schedules, moveTo, tickIn, decisions } = setup()
    const { nextFireAt } = await schedules.create(JITTERED)
    const window = START_AT + HOUR_MS
    expect(nextFireAt).toBeGreaterThan(window + 1)
    moveTo(window - 1)
    await change(schedules)
    expect((await decisions('a')).map(([decision]) => decision)).not.toContain('superseded')
    await schedules.upsert({ ...JITTERED, paused: false })
    moveTo(window)
    await change(schedules)
    expect(await decisions('a')).toContainEqual(['superseded', window])
    await schedules.resume('a')
    expect(await tickIn(HOUR_MS - 1)).toEqual([])
  })

  test('tells of one that was due and one that waited for its jitter as of one stretch', async () => {
    const { schedules, moveTo } = setup()
    await schedules.create(JITTERED)
    moveTo(START_AT + 2 * HOUR_MS)
    await schedules.pause('a')
    expect((await schedules.history('a'))[1]).toMatchObject({
      decision: 'superseded',
      from: START_AT + HOUR_MS,
      to: START_AT + 2 * HOUR_MS,
    })
  })
})
