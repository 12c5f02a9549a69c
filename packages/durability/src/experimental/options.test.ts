import { describe, expect, test } from 'vitest'
import type { DurabilityScheduler } from '../core/scheduler.ts'
import { settingsOf as checkedSettings, type DurabilityScheduleOptions } from './options.ts'

/** The options with one changed, whatever its type. */
const settingsOf = (change: Record<string, unknown>) =>
  checkedSettings({
    scheduler: {} as DurabilityScheduler, // not looked at
    nextOccurrence: () => undefined,
    run: () => undefined,
    ...change,
  } as DurabilityScheduleOptions)

test('the defaults are those of the documentation', () => {
  expect(settingsOf({})).toMatchObject({
    maxConcurrentRuns: 10,
    runTimeoutMs: 15 * 60_000,
    interruptedWithinMs: Number.POSITIVE_INFINITY,
    outcomeTimeoutMs: 60_000,
    maxConcurrentDeliveries: 10,
    outcomeRetries: { maxAttempts: 10 },
    onOutcome: null,
  })
})

test('retry options merge with the defaults, one by one', () => {
  const delay = () => 5
  expect(settingsOf({ outcomeRetries: { maxAttempts: 3 } }).outcomeRetries.maxAttempts).toBe(3)
  expect(settingsOf({ outcomeRetries: { maxAttempts: 3 } }).outcomeRetries.delay(1)).toBeGreaterThanOrEqual(
    500,
  )
  expect(settingsOf({ outcomeRetries: { delay } }).outcomeRetries).toEqual({ maxAttempts: 10, delay })
  expect(settingsOf({ outcomeRetries: { delay: undefined } }).outcomeRetries.delay(1)).toBeGreaterThanOrEqual(
    500,
  )
})

const INTEGERS = [
  'maxConcurrentRuns',
  'runTimeoutMs',
  'interruptedWithinMs',
  'outcomeTimeoutMs',
  'maxConcurrentDeliveries',
]

describe.each(INTEGERS)('%s', (name) => {
  test.each([0, -1, 1.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY])('may not be %d', (value) => {
    expect(() => settingsOf({ [name]: value })).toThrow(RangeError)
    expect(() => settingsOf({ [name]: value })).toThrow(`${name} must be an integer from 1`)
  })

  test.each(['5', null, true, 5n])('may not be %s', (value) => {
    expect(() => settingsOf({ [name]: value })).toThrow(TypeError)
    expect(() => settingsOf({ [name]: value })).toThrow(name)
  })

  test('may be 1 and 2^31 - 1', () => {
    expect(settingsOf({ [name]: 1 })).toMatchObject({ [name]: 1 })
    expect(settingsOf({ [name]: 2 ** 31 - 1 })).toMatchObject({ [name]: 2 ** 31 - 1 })
  })
})

describe('functions', () => {
  test.each(['nextOccurrence', 'run'])('%s is required', (name) => {
    expect(() => settingsOf({ [name]: undefined })).toThrow(TypeError)
    expect(() => settingsOf({ [name]: undefined })).toThrow(name)
  })

  test.each(['nextOccurrence', 'run', 'onOutcome', 'onLifecycleEvent'])('%s may be no text', (name) => {
    expect(() => settingsOf({ [name]: 'text' })).toThrow(TypeError)
    expect(() => settingsOf({ [name]: null })).toThrow(name)
  })

  test('a wrong part of outcomeRetries is named', () => {
    expect(() => settingsOf({ outcomeRetries: { delay: 5 } })).toThrow('outcomeRetries.delay')
    expect(() => settingsOf({ outcomeRetries: { maxAttempts: 0 } })).toThrow('outcomeRetries.maxAttempts')
    expect(() => settingsOf({ outcomeRetries: 5 })).toThrow('outcomeRetries must be')
    expect(() => settingsOf({ outcomeRetries: null })).toThrow('outcomeRetries must be')
  })
})
