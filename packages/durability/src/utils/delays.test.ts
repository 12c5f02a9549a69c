import { describe, expect, test, vi } from 'vitest'
import { exponential, jitter } from './delays.ts'

describe('exponential', () => {
  test.each([
    [[1], 1_000],
    [[2], 2_000],
    [[9], 256_000],
    [[10], 300_000],
    [[Number.MAX_SAFE_INTEGER], 300_000],
    [[3, 10], 40],
    [[3, 10, 25], 25],
    [[5, 0], 0],
  ] as const)('of %j is %d', (args, expected) => {
    expect(exponential(...(args as [number]))).toBe(expected)
  })

  test.each([0, -1, 1.5, Number.NaN])('refuses attempt %d', (attempt) => {
    expect(() => exponential(attempt)).toThrow(RangeError)
  })
})

describe('jitter', () => {
  test('reaches both ends, and nothing beyond', () => {
    const random = vi.spyOn(Math, 'random')
    random.mockReturnValue(0)
    expect(jitter(1_001)).toBe(501)
    random.mockReturnValue(1 - Number.EPSILON)
    expect(jitter(1_001)).toBe(1_001)
    expect(jitter(0)).toBe(0)
    expect(jitter(1)).toBe(1)
  })
})
