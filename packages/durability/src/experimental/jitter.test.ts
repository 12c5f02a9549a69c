import { describe, expect, test, vi } from 'vitest'
import { drawJitter, type JitterInput, parseJitter } from './jitter.ts'

const MOST = 2 ** 31 - 1

describe('an offset', () => {
  test.each([0, 1, MOST])('of %d is itself', (ms) => {
    expect(drawJitter(parseJitter(ms))).toBe(ms)
  })

  test('that is left out is 0', () => {
    expect(drawJitter(parseJitter(undefined))).toBe(0)
  })

  test('is drawn from 0 to maxMs, both included', () => {
    const random = vi.spyOn(Math, 'random')
    random.mockReturnValue(0)
    expect(drawJitter(parseJitter({ maxMs: 30_000 }))).toBe(0)
    random.mockReturnValue(1 - Number.EPSILON / 2)
    expect(drawJitter(parseJitter({ maxMs: 30_000 }))).toBe(30_000)
    expect(drawJitter(parseJitter({ maxMs: MOST }))).toBe(MOST)
    random.mockRestore()
    expect(drawJitter(parseJitter({ maxMs: 0 }))).toBe(0)
  })
})

describe('a wrong offset', () => {
  test.each([-1, 0.5, MOST + 1, Number.NaN, { maxMs: -1 }, { maxMs: MOST + 1 }])(
    '%j is a RangeError',
    (input) => {
      expect(() => parseJitter(input)).toThrow(RangeError)
    },
  )

  test.each([null, '5', true, [], {}, { maxMs: '5' }, () => 5])('%j is a TypeError', (input) => {
    expect(() => parseJitter(input as JitterInput)).toThrow(TypeError)
    expect(() => parseJitter(input as JitterInput)).toThrow('jitterMs')
  })
})
