import { describe, expect, test } from 'vitest'
import { settingsOf as checkedSettings, handlersOf } from './options.ts'

const renew = () => undefined

/** The options with one changed, whatever its type. */
const settingsOf = (change: Record<string, unknown>) =>
  // The scheduler is not looked at.
  handlersOf(checkedSettings({ scheduler: {}, handlers: { renew }, ...change }))

test('the defaults are those of the documentation', () => {
  expect(settingsOf({}).get('renew')).toMatchObject({
    handler: renew,
    retries: { maxAttempts: 5 },
    attemptTimeoutMs: 15 * 60_000,
  })
})

test('the settings of one name override the shared ones, part by part', () => {
  const settings = settingsOf({
    handlers: { renew, purge: renew },
    retries: { maxAttempts: 3 },
    attemptTimeoutMs: 1_000,
    methods: { renew: { attemptTimeoutMs: 5 } },
  })
  expect(settings.get('renew')).toMatchObject({ retries: { maxAttempts: 3 }, attemptTimeoutMs: 5 })
  expect(settings.get('purge')).toMatchObject({ retries: { maxAttempts: 3 }, attemptTimeoutMs: 1_000 })
})

test('a name like a property of every object is a name like any other', () => {
  expect([...settingsOf({ handlers: { constructor: renew } }).keys()]).toEqual(['constructor'])
  expect(() => settingsOf({ methods: { toString: {} } })).toThrow(RangeError)
})

describe('wrong options are named', () => {
  test.each([
    [{ handlers: undefined }, TypeError, 'handlers'],
    [{ handlers: { renew: 5 } }, TypeError, 'handlers.renew'],
    [{ handlers: { ['x'.repeat(513)]: renew } }, RangeError, 'handlers'],
    [{ attemptTimeoutMs: 0 }, RangeError, 'attemptTimeoutMs'],
    [{ attemptTimeoutMs: '5' }, TypeError, 'attemptTimeoutMs'],
    [{ retries: { maxAttempts: 0 } }, RangeError, 'retries.maxAttempts'],
    [{ retries: { delay: 5 } }, TypeError, 'retries.delay'],
    [{ retries: null }, TypeError, 'retries'],
    [{ methods: { other: {} } }, RangeError, 'methods.other'],
    [{ methods: { renew: { attemptTimeoutMs: -1 } } }, RangeError, 'methods.renew.attemptTimeoutMs'],
    [{ methods: { renew: { retries: { delay: 'x' } } } }, TypeError, 'methods.renew.retries.delay'],
    [{ methods: { renew: null } }, TypeError, 'methods.renew'],
    [{ onLifecycleEvent: 5 }, TypeError, 'onLifecycleEvent'],
  ])('%j', (change, type, name) => {
    expect(() => settingsOf(change)).toThrow(type)
    expect(() => settingsOf(change)).toThrow(name)
  })
})
