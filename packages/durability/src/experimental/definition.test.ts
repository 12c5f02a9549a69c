import { describe, expect, test, vi } from 'vitest'
import { definitionOf, type JitterInput, type ScheduleDefinition } from './definition.ts'

const MOST = 2 ** 31 - 1

const jitterOf = (jitterMs?: JitterInput) =>
  definitionOf({ expression: '', version: 1, ...(jitterMs !== undefined && { jitterMs }) }).jitterMs

describe('an offset', () => {
  test.each([0, 1, MOST])('of %d is itself', (ms) => {
    expect(jitterOf(ms)).toBe(ms)
  })

  test('that is left out is 0', () => {
    expect(jitterOf(undefined)).toBe(0)
  })

  test('is drawn from 0 to maxMs, both included', () => {
    const random = vi.spyOn(Math, 'random')
    random.mockReturnValue(0)
    expect(jitterOf({ maxMs: 30_000 })).toBe(0)
    random.mockReturnValue(1 - Number.EPSILON / 2)
    expect(jitterOf({ maxMs: 30_000 })).toBe(30_000)
    expect(jitterOf({ maxMs: MOST })).toBe(MOST)
    random.mockRestore()
    expect(jitterOf({ maxMs: 0 })).toBe(0)
  })
})

describe('a wrong offset', () => {
  test.each([-1, 0.5, MOST + 1, Number.NaN, { maxMs: -1 }, { maxMs: MOST + 1 }])(
    '%j is a RangeError',
    (input) => {
      expect(() => jitterOf(input)).toThrow(RangeError)
    },
  )

  test.each([null, '5', true, [], {}, { maxMs: '5' }, () => 5])('%j is a TypeError', (input) => {
    expect(() => jitterOf(input as JitterInput)).toThrow(TypeError)
    expect(() => jitterOf(input as JitterInput)).toThrow('jitterMs')
  })
})

test('a negative zero is zero', () => {
  const { version, jitterMs } = definitionOf({ expression: '', version: -0, jitterMs: -0 })
  expect([Object.is(version, 0), Object.is(jitterMs, 0)]).toEqual([true, true])
})

test('a fixed offset is another definition than a drawn one of the same size', () => {
  const jitters = [0, { maxMs: 0 }, 5, { maxMs: 5 }].map(
    (jitterMs) => definitionOf({ expression: '', version: 1, jitterMs } as ScheduleDefinition).jitter,
  )
  expect(new Set(jitters).size).toBe(4)
})
