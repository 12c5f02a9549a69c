import { describe, expect, test } from 'vitest'
import { MAX_COLLAPSE_STEPS, MAX_DUE_AT } from '../core/limits.ts'
import { checkedOccurrences, type OccurrenceAfter, occurrenceDueAfter } from './occurrences.ts'

const MINUTE_MS = 60_000
const everyMinute: OccurrenceAfter = (after) => (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS
const aMinuteLater: OccurrenceAfter = (after) => after + MINUTE_MS

describe('the tick after a recorded one', () => {
  test('is the next when none was missed', () => {
    expect(occurrenceDueAfter(everyMinute, 60_000, 0, 60_000)).toBe(120_000)
    expect(occurrenceDueAfter(everyMinute, 60_000, 0, 119_999)).toBe(120_000)
  })

  test('is later than now: one that is due at this very instant was missed', () => {
    expect(occurrenceDueAfter(everyMinute, 60_000, 0, 120_000)).toBe(180_000)
  })

  test('is counted by due times, so that an offset longer than the interval loses none', () => {
    // Recorded at 210 s: 60 s + 150 s. The tick of 120 s is due at 270 s.
    expect(occurrenceDueAfter(everyMinute, 60_000, 150_000, 210_000)).toBe(120_000)
  })

  test('keeps the phase of an expression that counts, over as many missed ticks as are walked', () => {
    const missed = (MAX_COLLAPSE_STEPS - 1) * MINUTE_MS
    expect(occurrenceDueAfter(aMinuteLater, 1_234, 0, 1_234 + missed)).toBe(1_234 + missed + MINUTE_MS)
  })

  test('is found by one jump after more, with a bounded number of questions', () => {
    let questions = 0
    const counting: OccurrenceAfter = (after) => {
      questions += 1
      return everyMinute(after)
    }
    const now = 365 * 24 * 60 * MINUTE_MS + 5
    expect(occurrenceDueAfter(counting, 60_000, 0, now)).toBe(now - 5 + MINUTE_MS)
    expect(questions).toBe(MAX_COLLAPSE_STEPS + 1)
  })

  test('is searched from the recorded one when the clock went back behind it', () => {
    expect(occurrenceDueAfter(everyMinute, 600_000, 0, 0)).toBe(660_000)
  })

  test('is none when the expression has ended, also while missed ticks are walked', () => {
    const twice: OccurrenceAfter = (after) => (after < 180_000 ? everyMinute(after) : undefined)
    expect(occurrenceDueAfter(twice, 60_000, 0, 100_000)).toBe(120_000)
    expect(occurrenceDueAfter(twice, 60_000, 0, 1_000_000)).toBeUndefined()
  })
})

describe('an answer of nextOccurrence', () => {
  const answering = (answer: unknown, jitterMs = 0) =>
    checkedOccurrences(() => answer as number, 'expression', jitterMs)(1_000)

  test.each([1_001, MAX_DUE_AT, undefined])('may be %s', (answer) => {
    expect(answering(answer)).toBe(answer)
  })

  test.each([
    1_000,
    999,
    -1,
    1_000.5,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    2 ** 53,
    MAX_DUE_AT + 1,
    null,
    '2000',
    2_000n,
    new Date(2_000),
    Promise.resolve(2_000),
  ])('may not be %s', (answer) => {
    expect(() => answering(answer)).toThrow(RangeError)
  })

  test('may not be due when no alarm can be held any more', () => {
    expect(() => answering(MAX_DUE_AT, 1)).toThrow(RangeError)
    expect(answering(MAX_DUE_AT - 1, 1)).toBe(MAX_DUE_AT - 1)
  })

  test('is asked for with the expression as it was given, and errors pass through', () => {
    const asked: unknown[] = []
    checkedOccurrences((...question) => void asked.push(question), ' any text ', 0)(5)
    expect(asked).toEqual([[' any text ', 5]])
    const broken = checkedOccurrences(
      () => {
        throw new Error('mine')
      },
      '',
      0,
    )
    expect(() => broken(5)).toThrow('mine')
  })
})
