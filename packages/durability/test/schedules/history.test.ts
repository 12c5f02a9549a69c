import { describe, expect, test } from 'vitest'
import { HOUR_MS, MINUTE_MS, START_AT, setup } from './support/setup.ts'

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
})
