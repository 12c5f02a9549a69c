import { shown } from '../core/checks.ts'
import { MAX_COLLAPSE_STEPS, MAX_DUE_AT } from '../core/limits.ts'
import { InvalidOccurrenceError } from './errors.ts'

/**
 * The first nominal time strictly later than `after` (both epoch ms), or `undefined` when there is none. Synchronous,
 * and the same answer for the same question. The expression is the text given to `set`; nothing else reads it.
 */
export type NextOccurrence = (expression: string, after: number) => number | undefined

/**
 * Asks for the first nominal time after `after`.
 *
 * @throws InvalidOccurrenceError for an answer that makes no progress, is no integer, or lies beyond any alarm.
 */
export function occurrenceAfter(
  nextOccurrence: NextOccurrence,
  expression: string,
  after: number,
  jitterMs: number,
): number | undefined {
  const next: unknown = nextOccurrence(expression, after)
  if (next === undefined) return undefined
  if (typeof next !== 'number' || !Number.isSafeInteger(next) || next <= after) {
    throw new InvalidOccurrenceError(
      `nextOccurrence must return a safe integer greater than ${after} or undefined, got ${shown(next)}`,
    )
  }
  if (next + jitterMs > MAX_DUE_AT) {
    throw new InvalidOccurrenceError(
      `nextOccurrence returned ${next}, which no alarm can hold (limit ${MAX_DUE_AT})`,
    )
  }
  return next
}

/**
 * The tick after `recorded`: the first whose due time is later than `now`. Those in between were missed. They are
 * walked, so that an expression that counts from the last tick keeps its phase; after `MAX_COLLAPSE_STEPS` the search
 * jumps, so that a year of missed seconds costs no more than two minutes of them.
 */
export function occurrenceDueAfter(
  nextOccurrence: NextOccurrence,
  expression: string,
  recorded: number,
  jitterMs: number,
  now: number,
): number | undefined {
  let nominal = recorded
  for (let step = 0; step < MAX_COLLAPSE_STEPS; step += 1) {
    const next = occurrenceAfter(nextOccurrence, expression, nominal, jitterMs)
    if (next === undefined || next + jitterMs > now) return next
    nominal = next
  }
  return occurrenceAfter(nextOccurrence, expression, Math.max(nominal, now - jitterMs), jitterMs)
}
