import { describe, expect, test } from 'vitest'
import { check, optionsOf, shown } from './checks.ts'

const hostile = {
  toString() {
    throw new Error('hostile')
  },
}

describe('integers', () => {
  test.each([1, 7, 2 ** 31 - 1])('%d is a duration', (value) => {
    check('ms', value, 'number')
  })

  test.each([0, -1, 1.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    '%d is out of range',
    (value) => {
      expect(() => check('ms', value, 'number')).toThrow(RangeError)
      expect(() => check('ms', value, 'number')).toThrow(
        `ms must be an integer from 1 to 2147483647, got ${value}`,
      )
    },
  )

  test.each(['5', null, undefined, 5n, {}, true, [5], hostile])(
    'a value of another type is a TypeError',
    (value) => {
      expect(() => check('count', value, 'number', 0)).toThrow(TypeError)
      expect(() => check('count', value, 'number', 0)).toThrow('count must be a number')
    },
  )
})

describe('options', () => {
  interface Settings {
    readonly one: number
    readonly other: number | null
    readonly inner: { readonly two: string }
  }
  const settingsOf = (options: object) =>
    optionsOf<Settings>(
      options,
      { one: ['number', 10], other: ['number', null, 5, 6], inner: { two: ['string', 'two', 0, 5] } },
      'outer',
    )

  test('get their defaults', () => {
    expect(settingsOf({})).toEqual({ one: 10, other: null, inner: { two: 'two' } })
    expect(settingsOf({ one: 3, other: 5, inner: { two: '' } })).toEqual({
      one: 3,
      other: 5,
      inner: { two: '' },
    })
  })

  test('name the one that is wrong', () => {
    expect(() => settingsOf({ other: 4 })).toThrow('outer.other must be an integer from 5 to 6, got 4')
    expect(() => settingsOf({ one: null })).toThrow(TypeError)
    expect(() => settingsOf({ inner: null })).toThrow('outer.inner must be a object, got null')
    expect(() => settingsOf({ inner: { two: 2 } })).toThrow('outer.inner.two must be a string, got 2')
  })

  test('without a default are required', () => {
    expect(() => optionsOf<{ one: number }>({}, { one: ['number'] })).toThrow('options.one must be a number')
  })
})

describe('types', () => {
  test('null is no object', () => {
    expect(() => check('options', null, 'object')).toThrow('options must be a object, got null')
  })

  test('a value of its type passes', () => {
    check('f', () => 0, 'function')
    check('b', false, 'boolean')
    check('s', '', 'string')
  })
})

describe('texts', () => {
  test.each(['a\0b', '\uD800', 'x\uDC00'])('%j would not be kept whole', (text) => {
    expect(() => check('name', text, 'string', 0, 10)).toThrow(RangeError)
  })

  test('a text may be as long as its limit', () => {
    check('name', 'x'.repeat(10), 'string', 0, 10)
    check('name', '\u{1F600}', 'string', 0, 2)
    expect(() => check('name', 'x'.repeat(11), 'string', 0, 10)).toThrow(RangeError)
  })

  test('a number is no text', () => {
    expect(() => check('name', 5, 'string', 0, 10)).toThrow('name must be a string, got 5')
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
