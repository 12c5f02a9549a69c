import { describe, expect, test } from 'vitest'
import { MAX_ERROR_MESSAGE_LENGTH, MAX_ERROR_NAME_LENGTH } from './limits.ts'
import { describeThrown } from './thrown.ts'

class OwnError extends Error {
  override readonly name = 'OwnError'
}

const throwing = () => {
  throw new Error('hostile')
}

describe('errors', () => {
  test.each([
    [new TypeError('wrong'), { name: 'TypeError', message: 'wrong' }],
    [new OwnError('own'), { name: 'OwnError', message: 'own' }],
    [new DOMException('gone', 'AbortError'), { name: 'AbortError', message: 'gone' }],
    [
      { name: 'RemoteError', message: 'over RPC' },
      { name: 'RemoteError', message: 'over RPC' },
    ],
    [{ message: 'no name' }, { name: 'Error', message: 'no name' }],
    [
      { name: '', message: 'an empty name' },
      { name: 'Error', message: 'an empty name' },
    ],
    [
      { name: 5, message: 'a number for a name' },
      { name: 'Error', message: 'a number for a name' },
    ],
    [new Error(''), { name: 'Error', message: '' }],
  ])('%o keeps its name and message', (thrown, described) => {
    expect(describeThrown(thrown)).toEqual(described)
  })
})

describe('other values', () => {
  test.each([
    ['text', 'text'],
    [undefined, 'undefined'],
    [null, 'null'],
    [404, '404'],
    [5n, '5'],
    [Symbol('s'), 'Symbol(s)'],
    [{ status: 500 }, '{"status":500}'],
    [['a', 1], '["a",1]'],
    [Object.create(null), '{}'],
    [{ message: 5 }, '{"message":5}'],
  ])('%o is a NonError with its text', (thrown, message) => {
    expect(describeThrown(thrown)).toEqual({ name: 'NonError', message })
  })
})

describe('hostile values are described, too', () => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const circular: { self?: unknown } = {}
  circular.self = circular
  test.each([
    ['a getter that throws', Object.defineProperty({}, 'message', { get: throwing })],
    ['a name that throws', Object.defineProperty({ message: 'm' }, 'name', { get: throwing })],
    ['toJSON that throws', { toJSON: throwing }],
    ['toJSON without an answer', { toJSON: () => undefined }],
    ['a circle', circular],
    ['a bigint within', { n: 5n }],
    ['a revoked proxy', revoked.proxy],
    ['a proxy that throws', new Proxy({}, { get: throwing, has: throwing, ownKeys: throwing })],
    ['a function whose text throws', Object.assign(() => 0, { toString: throwing })],
  ])('%s', (_what, thrown) => {
    const { name, message } = describeThrown(thrown)
    expect(name).toBeTypeOf('string')
    expect(message).toBeTypeOf('string')
    expect(name.length).toBeGreaterThan(0)
  })
})

describe('limits', () => {
  test('name and message are cut to what is documented', () => {
    const { name, message } = describeThrown({ name: 'n'.repeat(1_000_000), message: 'm'.repeat(1_000_000) })
    expect([name.length, message.length]).toEqual([MAX_ERROR_NAME_LENGTH, MAX_ERROR_MESSAGE_LENGTH])
    expect(message.endsWith('…')).toBe(true)
  })

  test('what is as long as the limit stays whole', () => {
    const whole = 'm'.repeat(MAX_ERROR_MESSAGE_LENGTH)
    expect(describeThrown(new Error(whole)).message).toBe(whole)
  })

  test('the cut leaves no half of a character, and SQLite would keep every one', () => {
    const emoji = '\u{1F600}'.repeat(MAX_ERROR_MESSAGE_LENGTH)
    const { message } = describeThrown(new Error(`x${emoji}`))
    expect(message.isWellFormed()).toBe(true)
    expect(describeThrown(new Error('a\0b')).message).toBe('a\uFFFDb')
  })
})
