import { check } from '../core/checks.ts'
import { systemClock } from '../core/clock.ts'
import { InvalidCronError } from './errors.ts'
import { isFixed, splitExpression } from './expression.ts'
import { EARLIEST_AT, LATEST_AT, WINDOW_MS } from './limits.ts'
import { type CronOptions, readOptions } from './options.ts'
import { nextRun, previousRun, type Schedule } from './search.ts'
import { wallTimes } from './wall-clock.ts'

/** What `parseCron` found out about an expression. */
export interface ParsedCron {
  /** As it was given. */
  readonly expression: string
  /**
   * How it behaves when the clocks change. `fixed` (no `*`, `?` or `/` in seconds, minutes and hours): every time
   * runs once. `interval`: runs whenever the clock shows a matching time, so not in a gap, and twice in a repeat.
   */
  readonly kind: 'fixed' | 'interval'
  /** As it was given, or `UTC`. */
  readonly timezone: string
}

/**
 * The first time of a cron expression strictly later than `after`, in epoch ms; `undefined` when there is none
 * within 40 years. Both are instants between the years 1970 and 9000; the answer is a whole second.
 *
 * The expression has 5 fields (minute, hour, day of month, month, day of week), 6 with leading seconds, or is a
 * nickname such as `@daily`. A day of month and a weekday that are both something else than `*` or `?` are joined by
 * OR, with `+` before the weekday by AND. Beside lists, ranges and steps there are `L`, `LW` and `15W` for days of the
 * month, `5L` (or `5#L`) and `5#3` for weekdays; 0 and 7 are Sunday. Day 31 skips the shorter months. Clock changes follow Debian cron: when the clocks go forward, a time of day that is
 * missing runs once, as soon as the gap is over (unless a whole day is skipped: a jump of more than 3 hours gives no
 * run), and repeating expressions such as `0-59/5 * * * *` leave the gap out; when they go back, a time of day runs in
 * the first pass only, and repeating expressions run in both.
 *
 * @example nextCronTime('30 2 * * *', Date.UTC(2024, 2, 30, 12), { timezone: 'Europe/Berlin' })
 * @throws InvalidCronError when the expression or an option cannot be used
 * @throws TypeError or RangeError when `after` is no integer of that range
 */
export function nextCronTime(expression: string, after: number, options?: CronOptions): number | undefined {
  check('after', after, 'number', EARLIEST_AT, LATEST_AT)
  // No negative zero, which would be shown as such.
  const from = after + 0
  const run = nextRun(scheduleOf(expression, from, options), from)
  if (run === undefined || run > Math.min(from + WINDOW_MS, LATEST_AT)) return undefined
  // A wrong answer here would be stored as a schedule's next time, and run for ever or never.
  if (run <= from) throw new Error(`The cron search went from "${from}" to "${run}", which is not later`)
  return run
}

/**
 * The last time of a cron expression strictly earlier than `before`; everything else is as for `nextCronTime`. The
 * latest time at or before an instant `t` is `previousCronTime(expression, t + 1)`.
 */
export function previousCronTime(
  expression: string,
  before: number,
  options?: CronOptions,
): number | undefined {
  check('before', before, 'number', EARLIEST_AT, LATEST_AT)
  const from = before + 0
  const run = previousRun(scheduleOf(expression, from, options), from)
  if (run === undefined || run < Math.max(from - WINDOW_MS, EARLIEST_AT)) return undefined
  if (run >= from) throw new Error(`The cron search went from "${from}" to "${run}", which is not earlier`)
  return run
}

/**
 * Checks an expression and its options before they are stored.
 *
 * @throws InvalidCronError when they cannot be used, or the expression has no time within 40 years from now, as
 * `0 0 30 2 *` has not
 */
export function parseCron(expression: string, options?: CronOptions): ParsedCron {
  const { timezone, seconds } = readOptions(options)
  if (nextCronTime(expression, systemClock.now(), options) === undefined) {
    throw new InvalidCronError(
      'never_fires',
      'expression',
      'No time matches this cron expression within 40 years from now',
    )
  }
  const kind = isFixed(splitExpression(expression, seconds)) ? 'fixed' : 'interval'
  return Object.freeze({ expression, kind, timezone })
}

function scheduleOf(expression: string, at: number, options: CronOptions | undefined): Schedule {
  const { zone, seconds } = readOptions(options)
  const fields = splitExpression(expression, seconds)
  return { times: wallTimes(fields, new Date(at).getUTCFullYear()), zone, fixed: isFixed(fields) }
}
