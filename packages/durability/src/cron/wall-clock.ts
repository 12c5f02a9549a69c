import { CronDate, CronPattern } from 'croner'
import { type CronFields, invalidField } from './expression.ts'
import { WINDOW_YEARS } from './limits.ts'
import { recent } from './recent.ts'

/**
 * The times an expression names on the clock on the wall, without any zone. Wall times are written as the epoch ms
 * that the same date and time would have in UTC, in whole seconds.
 */
export interface WallTimes {
  /** The first time later than `wall`, or `undefined` when there is none in the window of years. */
  next(wall: number): number | undefined
  /** The last time earlier than `wall`, or `undefined` when there is none in the window of years. */
  previous(wall: number): number | undefined
}

/** A parsed pattern holds a slot for each of 10,000 years, about 82 kB, so only few are kept. */
const MAX_PATTERNS = 32

const NEVER: WallTimes = { next: () => undefined, previous: () => undefined }

/** In minutes: croner then computes in UTC and asks no zone, the host's least of all. */
const UTC_OFFSET = 0

/** By pattern text. */
const cache = new Map<string, WallTimes>()

/**
 * The wall times of an expression in the years around `year`. croner does the calendar; the years are its seventh
 * field, which no user reaches, and bound the search both ways.
 *
 * @throws InvalidCronError naming the first field that croner cannot read
 */
export function wallTimes(fields: CronFields, year: number): WallTimes {
  const text = `${fields.join(' ')} ${year - WINDOW_YEARS - 1}-${year + WINDOW_YEARS + 1}`
  return recent(cache, MAX_PATTERNS, text, () => parse(fields, text, year))
}

function parse(fields: CronFields, text: string, year: number): WallTimes {
  const pattern = read(text)
  if (!pattern) {
    const unreadable = fields.findIndex((_, index) => !isReadable(fields, index))
    throw invalidField(fields, unreadable)
  }
  if (!someMonthMatches(pattern, year)) return NEVER
  return {
    next: (wall) => new CronDate(new Date(wall), UTC_OFFSET).increment(pattern, {}, false)?.getTime(),
    previous: (wall) => new CronDate(new Date(wall), UTC_OFFSET).decrement(pattern, {})?.getTime(),
  }
}

function isReadable(fields: CronFields, index: number): boolean {
  return read(`${fields.map((field, at) => (at === index ? field : '*')).join(' ')} *`) !== undefined
}

function read(text: string): CronPattern | undefined {
  // croner takes it for the whole week, whoever typed it for one day.
  if (/sun-sun/i.test(text)) return undefined
  try {
    return new CronPattern(text, undefined, { mode: '7-part' })
  } catch {
    // croner's message repeats its input, which ours must not: the caller says what was wrong.
    return undefined
  }
}

/**
 * Whether the pattern ever fires. There are only 28 kinds of month (four lengths, seven first weekdays), and 40 years
 * in a row have them all, so this is cheap, while croner would look at every day of 40 years each time it is asked:
 * 25 ms for a full list of `W` days, none of which is the weekday wanted.
 */
function someMonthMatches(pattern: CronPattern, firstYear: number): boolean {
  const seen = new Set<number>()
  const time = [pattern.hour.indexOf(1), pattern.minute.indexOf(1), pattern.second.indexOf(1)] as const
  for (let index = 0; index < 12 * WINDOW_YEARS; index++) {
    const month = index % 12
    const year = firstYear + (index - month) / 12
    const days = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
    const kind = days * 7 + new Date(Date.UTC(year, month)).getUTCDay()
    if (!pattern.month[month] || seen.has(kind)) continue
    seen.add(kind)
    for (let day = 1; day <= days; day++) {
      const wall = new Date(Date.UTC(year, month, day, ...time))
      if (new CronDate(wall, UTC_OFFSET).match(pattern, {})) return true
    }
  }
  return false
}
