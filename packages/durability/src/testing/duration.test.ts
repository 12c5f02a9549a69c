import { expect, test } from 'vitest'
import { durationMs, type SimulatedDuration } from './duration.ts'

test.each<[SimulatedDuration, number]>([
  [0, 0],
  [1.5, 1.5],
  ['250 ms', 250],
  ['90 s', 90_000],
  ['1 minute', 60_000],
  ['1.5 hours', 5_400_000],
  ['3 days', 259_200_000],
  ['2 weeks', 1_209_600_000],
])('%s is %i ms', (duration, ms) => {
  expect(durationMs(duration)).toBe(ms)
})

test.each(['3', 's', '3 moons', '-1 s', -1, Number.NaN, '1 toString'])('"%s" is refused', (duration) => {
  // The types refuse most of these; a test written in JavaScript has only the check.
  expect(() => durationMs(duration as SimulatedDuration)).toThrow(RangeError)
})
