import { shown } from '../core/checks.ts'
import { InvalidScheduleError } from './errors.ts'
import { MAX_EVERY_MS } from './limits.ts'

/** ms, or text such as `'90s'`, `'15m'`, `'1.5h'`, `'2d'`, `'1w'`, `'500ms'`. */
export type Duration = number | string

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1_000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}

/** @throws InvalidScheduleError when it is no duration of whole milliseconds in the range. */
export function durationMs(field: string, given: unknown, min: number): number {
  const ms = typeof given === 'string' ? parsed(given) : given
  if (typeof ms !== 'number' || Number.isNaN(ms)) {
    throw new InvalidScheduleError(field, `must be ms or text such as "15m", got ${shown(given)}`)
  }
  if (!Number.isSafeInteger(ms) || ms < min || ms > MAX_EVERY_MS) {
    throw new InvalidScheduleError(
      field,
      `must be whole milliseconds from ${min} to ${MAX_EVERY_MS}, got ${shown(given)}`,
    )
  }
  return ms + 0
}

function parsed(text: string): number {
  const [, amount, unit = ''] = /^(\d{1,12}(?:\.\d{1,3})?) ?(ms|s|m|h|d|w)$/.exec(text) ?? []
  const factor = UNIT_MS[unit]
  if (amount === undefined || factor === undefined) return Number.NaN
  // 1.1 * 60_000 is not whole in binary, but in thousandths it is.
  return Math.round(Number(amount) * 1_000) * (factor / 1_000)
}
