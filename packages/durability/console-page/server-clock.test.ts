import { describe, expect, test } from 'vitest'
import { ServerClock } from './server-clock.ts'
import { NOW } from './support/described.ts'

const header = (instant: number) => new Date(instant).toUTCString()

describe('the time of the server', () => {
  test('is that of the viewer until an answer has a date, and where the two agree', () => {
    const clock = new ServerClock()
    expect(clock.at(NOW)).toBe(NOW)
    clock.learn(null, NOW, NOW)
    clock.learn('yesterday', NOW, NOW)
    clock.learn(header(NOW + 2_000), NOW, NOW)
    expect(clock.at(NOW)).toBe(NOW)
  })

  test.each([-600_000, -20_000, 20_000, 600_000])(
    'is %i ms from that of a viewer whose clock is off',
    (off) => {
      const clock = new ServerClock()
      clock.learn(header(NOW + off), NOW, NOW + 1_000)
      expect(clock.at(NOW)).toBe(NOW + off)
      // A second more or less is no news.
      clock.learn(header(NOW + off + 1_000), NOW, NOW + 1_000)
      expect(clock.at(NOW)).toBe(NOW + off)
      // The viewer sets the clock right.
      clock.learn(header(NOW), NOW, NOW)
      expect(clock.at(NOW)).toBe(NOW)
    },
  )

  test('is not learnt from an answer that took long', () => {
    const clock = new ServerClock()
    clock.learn(header(NOW), NOW, NOW + 20_000)
    expect(clock.at(NOW)).toBe(NOW)
  })
})
