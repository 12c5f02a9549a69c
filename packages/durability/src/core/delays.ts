import { MAX_RETRY_DELAY_MS } from './limits.ts'
import { report } from './report.ts'
import { exponential, jitter } from './retry.ts'

/** The default delay after failed attempt number `attempt`: 1 s doubling up to 5 minutes, half of it random. ms. */
export function defaultDelay(attempt: number): number {
  return jitter(exponential(attempt))
}

/** What a user's delay function answers, from 0 to 24 hours; the default when it fails. ms. */
export function delayAfter(delay: (attempt: number) => number, attempt: number): number {
  try {
    const delayMs: unknown = delay(attempt)
    if (typeof delayMs !== 'number' || Number.isNaN(delayMs))
      throw new TypeError('retries.delay returned no number')
    return Math.round(Math.min(Math.max(delayMs, 0), MAX_RETRY_DELAY_MS))
  } catch (error) {
    report('delay_failed', error)
    return defaultDelay(attempt)
  }
}
