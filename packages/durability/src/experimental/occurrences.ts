import { checkInteger } from '../core/checks.ts'
import { MAX_COLLAPSE_STEPS, MAX_DUE_AT } from '../core/limits.ts'

/**
 * The first nominal time strictly later than `after` (both epoch ms), or `undefined` when there is none. Synchronous,
 * and the same answer for the same question. The expression is the text given to `set`; nothing else reads it.
 */
export type NextOccurrence = (expression: string, after: number) => number | undefined

/** Asks for the first nominal time after `after`. */
export type OccurrenceAfter = (after: number) => number | undefined

/**
 * Binds `nextOccurrence` to one definition and checks its answers.
 *
 * @throws RangeError from the returned function for an answer that makes no progress, is no integer, or lies beyond any
 * alarm.
 */
export function checkedOccurrences(
  next: NextOccurrence,
  expression: string,
  jitterMs: number,
): OccurrenceAfter {
  return (after) => {
    const at = next(expression, after)
    if (at !== undefined) checkInteger('nextOccurrence()', at, after + 1, MAX_DUE_AT - jitterMs)
    return at
  }
}

/**
 * The tick after `recorded`: the first whose due time is later than `now`. Those in between were missed. They are
 * walked, so that an expression that counts from the last tick keeps its phase; after `MAX_COLLAPSE_STEPS` the search
 * jumps, so that a year of missed seconds costs no more than two minutes of them.
 */
export function occurrenceDueAfter(
  occurrenceAfter: OccurrenceAfter,
  recorded: number,
  jitterMs: number,
  now: number,
): number | undefined {
  let at = recorded
  for (let step = 0; step < MAX_COLLAPSE_STEPS; step += 1) {
    const next = occurrenceAfter(at)
    if (next === undefined || next + jitterMs > now) return next
    at = next
  }
  return occurrenceAfter(Math.max(at, now - jitterMs))
}
