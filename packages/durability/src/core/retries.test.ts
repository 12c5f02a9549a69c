import { beforeEach, describe, expect, test, vi } from 'vitest'
import { defaultDelay, delayAfter as delayOf } from './retries.ts'

const DAY_MS = 24 * 60 * 60_000
let reports = 0

const delayAfter = (delay: (attempt: number) => number, attempt: number) =>
  delayOf({ maxAttempts: 1, delay }, attempt)

beforeEach(() => {
  reports = 0
  vi.spyOn(console, 'error').mockImplementation(() => {
    reports += 1
  })
  return () => vi.restoreAllMocks()
})

describe('a delay function', () => {
  test.each([
    [5_000, 5_000],
    [0, 0],
    [-5, 0],
    [1.6, 2],
    [DAY_MS + 1, DAY_MS],
    [Number.POSITIVE_INFINITY, DAY_MS],
  ])('that answers %d delays by %d ms', (answer, delayMs) => {
    expect(delayAfter(() => answer, 1)).toBe(delayMs)
    expect(reports).toBe(0)
  })

  test('is given the number of the attempt', () => {
    expect(delayAfter((attempt) => attempt * 10, 7)).toBe(70)
  })

  test.each([
    [
      'that throws',
      () => {
        throw new Error('delay')
      },
    ],
    ['that answers NaN', () => Number.NaN],
    ['that answers a text', () => '5' as unknown as number],
    ['that answers nothing', () => undefined as unknown as number],
    ['that is async', () => Promise.resolve(5) as unknown as number],
  ])('%s is reported, and the default is used', (_what, delay) => {
    const delayMs = delayAfter(delay, 1)
    expect(delayMs).toBeGreaterThanOrEqual(500)
    expect(delayMs).toBeLessThanOrEqual(1_000)
    expect(reports).toBe(1)
  })
})

describe('the default delay', () => {
  test.each([
    [1, 500, 1_000],
    [2, 1_000, 2_000],
    [9, 128_000, 256_000],
    [10, 150_000, 300_000],
    [1_000_000, 150_000, 300_000],
  ])('of attempt %d is from %d to %d ms', (attempt, least, most) => {
    for (let draw = 0; draw < 100; draw += 1) {
      const delayMs = defaultDelay(attempt)
      expect(delayMs).toBeGreaterThanOrEqual(least)
      expect(delayMs).toBeLessThanOrEqual(most)
    }
  })
})
