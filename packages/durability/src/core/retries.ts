import { checkInteger, type OptionRules } from './checks.ts'
import { MAX_RETRY_DELAY_MS } from './limits.ts'
import { report } from './report.ts'
import { exponential, randomInteger } from './retry.ts'

/** How often and how far apart something that fails is tried. */
export interface Retries {
  readonly maxAttempts: number
  /** ms after failed attempt number `attempt`, from 1. */
  readonly delay: (attempt: number) => number
}

/** The default delay after failed attempt number `attempt`: 1 s doubling up to 5 minutes, half of it random. ms. */
export function defaultDelay(attempt: number): number {
  const ms = exponential(attempt)
  return randomInteger(Math.ceil(ms / 2), ms)
}

/** The rules of the options, with other defaults. */
export function retryRules({ maxAttempts, delay }: Retries): OptionRules<Retries> {
  return { maxAttempts: ['number', maxAttempts], delay: ['function', delay] }
}

/** What a user's delay function answers, from 0 to 24 hours; the default when it fails. ms. */
export function delayAfter({ delay }: Retries, attempt: number): number {
  try {
    const given = delay(attempt)
    const delayMs =
      typeof given === 'number' ? Math.round(Math.min(Math.max(given, 0), MAX_RETRY_DELAY_MS)) : given
    checkInteger('delay()', delayMs, 0, MAX_RETRY_DELAY_MS)
    return delayMs
  } catch (error) {
    report('delay_failed', error)
    return defaultDelay(attempt)
  }
}
