import { describe, expect, test } from 'vitest'
import { checkDuration, checkInteger, checkText, checkType, integersOf, shown } from './checks.ts'

const hostile = {
  toString() {
    throw new Error('hostile')
  },
}

describe('integers', () => {
  test.each([1, 7, 2 ** 31 - 1])('%d is a duration', (value) => {
    expect(checkDuration('ms', value)).toBe(value)
  })

  test.each([0, -1, 1.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    '%d is out of range',
    (value) => {
      expect(() => checkDuration('ms', value)).toThrow(RangeError)
      expect(() => checkDuration('ms', value)).toThrow(
        `ms must be an integer from 1 to 2147483647, got ${value}`,
      )
    },
  )

  test.each(['5', null, undefined, 5n, {}, true, [5], hostile])(
    'a value of another type is a TypeError',
    (value) => {
      expect(() => checkInteger('count', value, 0)).toThrow(TypeError)
      expect(() => checkInteger('count', value, 0)).toThrow('count must be a number')
    },
  )

  test('a negative zero is zero', () => {
    expect(Object.is(checkInteger('n', -0, 0), 0)).toBe(true)
  })

  test('integer options get their defaults, and name the one that is wrong', () => {
    const limits = { one: [10], other: [undefined, 5, 6] } as const
    expect(integersOf({}, limits)).toEqual({ one: 10, other: undefined })
    expect(integersOf({ one: 3, other: 5 }, limits)).toEqual({ one: 3, other: 5 })
    expect(() => integersOf({ other: 4 }, limits, 'outer.')).toThrow(
      'outer.other must be an integer from 5 to 6, got 4',
    )
    expect(() => integersOf({ one: null }, limits)).toThrow(TypeError)
  })
})

describe('types', () => {
  test('null is no object', () => {
    expect(() => checkType('options', null, 'object')).toThrow('options must be a object, got null')
  })

  test('a value of its type passes', () => {
    checkType('f', () => 0, 'function')
    checkType('b', false, 'boolean')
    checkType('s', '', 'string')
  })
})

describe('texts', () => {
  test.each(['a\0b', '\uD800', 'x\uDC00'])('%j would not be kept whole', (text) => {
    expect(() => checkText('name', text, 10)).toThrow(RangeError)
  })

  test('a text may be as long as its limit', () => {
    checkText('name', 'x'.repeat(10), 10)
    checkText('name', '\u{1F600}', 2)
    expect(() => checkText('name', 'x'.repeat(11), 10)).toThrow(RangeError)
  })

  test('a number is no text', () => {
    expect(() => checkText('name', 5, 10)).toThrow('name must be a string, got 5')
  })
})

describe('a value in a message', () => {
  test.each([
    ['text', '"text"'],
    [5, '5'],
    [undefined, 'undefined'],
    [Symbol('s'), 'Symbol(s)'],
    [hostile, 'object'],
    [Object.create(null), 'object'],
  ])('%o is shown as %s', (value, expected) => {
    expect(shown(value)).toBe(expected)
  })

  test('a long one is cut', () => {
    expect(shown('x'.repeat(1_000)).length).toBeLessThan(100)
    expect(shown(() => 'x'.repeat(1_000)).length).toBeLessThan(100)
  })
})
