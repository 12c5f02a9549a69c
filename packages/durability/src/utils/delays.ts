import { check } from '../core/checks.ts'
import { randomInteger, exponential as unchecked } from '../core/retry.ts'

/**
 * The delay before a retry, doubling from attempt to attempt.
 *
 * @param attempt counts from 1, which gives `baseMs`
 * @param baseMs ms, default 1 second; 0 means no delay
 * @param maxMs ms, default 5 minutes; no delay is longer, whatever the attempt
 * @returns an integer of ms
 * @throws TypeError or RangeError naming the argument: `attempt` is an integer from 1, the others from 0 to 2^31 - 1
 */
export function exponential(attempt: number, baseMs = 1_000, maxMs = 300_000): number {
  check('attempt', attempt, 'number', 1, Number.MAX_SAFE_INTEGER)
  check('baseMs', baseMs, 'number', 0)
  check('maxMs', maxMs, 'number', 0)
  return unchecked(attempt, baseMs, maxMs)
}

/**
 * A random delay, each integer from `ms / 2` (rounded up) to `ms` equally likely, so that what failed together is not
 * tried again together.
 *
 * @param ms an integer from 0 to 2^31 - 1
 * @throws TypeError or RangeError naming the argument
 */
export function jitter(ms: number): number {
  check('ms', ms, 'number', 0)
  return randomInteger(Math.ceil(ms / 2), ms)
}
