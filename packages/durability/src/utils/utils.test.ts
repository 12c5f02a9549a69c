import { describe, expect, it, vi } from 'vitest'
import { exponential, jitter } from './index.ts'

describe('exponential', () => {
  it('doubles from the base up to the maximum', () => {
    expect([1, 2, 3, 9, 10].map((attempt) => exponential(attempt))).toEqual([
      1_000, 2_000, 4_000, 256_000, 300_000,
    ])
    expect([1, 2, 3].map((attempt) => exponential(attempt, 7, 20))).toEqual([7, 14, 20])
    expect(exponential(1, 500, 100)).toBe(100)
  })

  it('overflows for no attempt', () => {
    for (const attempt of [32, 1_025, Number.MAX_SAFE_INTEGER]) {
      expect(exponential(attempt)).toBe(300_000)
      expect(exponential(attempt, 1, 2 ** 31 - 1)).toBe(2 ** 31 - 1)
      expect(exponential(attempt, 0)).toBe(0)
    }
  })

  it('refuses what is no attempt or no duration, by name and value', () => {
    expect(() => exponential(0)).toThrow(RangeError)
    expect(() => exponential(1.5)).toThrow('attempt must be an integer')
    expect(() => exponential(Number.NaN)).toThrow(RangeError)
    expect(() => exponential(1, -1)).toThrow('baseMs')
    expect(() => exponential(1, 1_000, Number.POSITIVE_INFINITY)).toThrow('maxMs')
    // Callers without types.
    expect(() => exponential('1' as unknown as number)).toThrow(TypeError)
  })
})

describe('jitter', () => {
  it('gives every integer from the half to the whole, and nothing else', () => {
    expect(new Set(Array.from({ length: 1_000 }, () => jitter(5)))).toEqual(new Set([3, 4, 5]))
    expect(jitter(0)).toBe(0)
    expect([0, 0.999_999].map(drawn(1_001))).toEqual([501, 1_001])
    expect([0, 0.999_999].map(drawn(1_000))).toEqual([500, 1_000])
  })

  it('refuses what is no duration, by name and value', () => {
    expect(() => jitter(-1)).toThrow(RangeError)
    expect(() => jitter(0.5)).toThrow('ms must be an integer')
    // Callers without types.
    expect(() => jitter(undefined as unknown as number)).toThrow(TypeError)
  })
})

function drawn(ms: number): (random: number) => number {
  return (random) => {
    const spy = vi.spyOn(Math, 'random').mockReturnValue(random)
    try {
      return jitter(ms)
    } finally {
      spy.mockRestore()
    }
  }
}
