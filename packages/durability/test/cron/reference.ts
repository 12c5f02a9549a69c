/**
 * A second opinion on the cron rule, made to be obviously right and not fast: it looks at every second around a
 * clock change, and at every day of a calendar, and shares no code and no method with `src/cron`.
 */

const SECOND_MS = 1_000
const MINUTE_MS = 60_000
const HOUR_MS = 3_600_000
const DAY_MS = 86_400_000

const MONTHS = ['', 'JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']

/** Whether a wall time (written as UTC ms) matches. */
export interface Matcher {
  readonly fixed: boolean
  time(wall: number): boolean
  day(wall: number): boolean
}

export function matcherOf(expression: string): Matcher {
  const parts = expression.trim().toUpperCase().replaceAll('?', '*').split(/\s+/)
  const [second = '', minute = '', hour = '', dom = '', month = '', weekday = ''] =
    parts.length === 5 ? ['0', ...parts] : parts
  const seconds = numbers(second, 0, 59)
  const minutes = numbers(minute, 0, 59)
  const hours = numbers(hour, 0, 23)
  const months = numbers(month, 1, 12, MONTHS)
  const and = weekday.startsWith('+') || dom === '*' || weekday === '*'
  return {
    fixed: ![second, minute, hour].some((field) => field.includes('*') || field.includes('/')),
    time(wall) {
      const date = new Date(wall)
      return (
        seconds.has(date.getUTCSeconds()) &&
        minutes.has(date.getUTCMinutes()) &&
        hours.has(date.getUTCHours())
      )
    },
    day(wall) {
      const date = new Date(wall)
      if (!months.has(date.getUTCMonth() + 1)) return false
      const byDay = dom.split(',').some((item) => isDayOfMonth(item, date))
      const byWeekday = weekday
        .replace('+', '')
        .split(',')
        .some((item) => isWeekday(item, date))
      return and ? byDay && byWeekday : byDay || byWeekday
    },
  }
}

function numbers(field: string, min: number, max: number, names: readonly string[] = []): Set<number> {
  const value = (text: string): number => (names.includes(text) ? names.indexOf(text) : Number(text))
  const found = new Set<number>()
  for (const item of field.split(',')) {
    const [range = '', step = '1'] = item.split('/')
    const [from = '', to = from] = range.split('-')
    const first = range === '*' ? min : value(from)
    const last = range === '*' ? max : value(to)
    for (let n = first; n <= last; n += Number(step)) found.add(n)
  }
  return found
}

function isDayOfMonth(item: string, date: Date): boolean {
  const day = date.getUTCDate()
  const last = daysOfMonth(date)
  if (item === 'L') return day === last
  if (item === 'LW') return day === nearestWeekday(date, last)
  if (item.endsWith('W')) return day === nearestWeekday(date, Number(item.slice(0, -1)))
  return numbers(item, 1, 31).has(day)
}

function isWeekday(item: string, date: Date): boolean {
  const [text = '', nth = ''] =
    item.endsWith('L') && !item.includes('#') ? [item.slice(0, -1), 'L'] : item.split('#')
  const weekdays = numbers(text.replace('-SUN', '-7'), 0, 7, WEEKDAYS)
  const weekday = date.getUTCDay()
  if (!weekdays.has(weekday) && !(weekday === 0 && weekdays.has(7))) return false
  const day = date.getUTCDate()
  if (nth === 'L') return day + 7 > daysOfMonth(date)
  return nth === '' || Number(nth) === Math.ceil(day / 7)
}

function daysOfMonth(date: Date): number {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
}

/** Of Monday to Friday in this month, the day that is the fewest days away; 0 when the month has no such day. */
function nearestWeekday(date: Date, wanted: number): number {
  if (wanted > daysOfMonth(date)) return 0
  let best = 0
  for (let day = 1; day <= daysOfMonth(date); day++) {
    const weekday = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), day)).getUTCDay()
    if (weekday === 0 || weekday === 6) continue
    if (best === 0 || Math.abs(day - wanted) < Math.abs(best - wanted)) best = day
  }
  return best
}

/** The wall clock of every second in a window around a clock change. */
export interface Around {
  readonly zone: string
  readonly change: number
  readonly from: number
  readonly walls: Float64Array
}

/** Eight hours each way: more than the largest overlap (Vostok, 7 hours). */
export function around(zone: string, change: number): Around {
  const from = Math.floor(change / MINUTE_MS) * MINUTE_MS - 8 * HOUR_MS
  const walls = new Float64Array((16 * HOUR_MS) / SECOND_MS)
  const show = wallClock(zone)
  for (let minute = 0; minute < walls.length; minute += 60) {
    const at = from + minute * SECOND_MS
    const wall = show(at)
    const steady = show(at + MINUTE_MS) - wall === MINUTE_MS
    for (let n = 0; n < 60; n++) walls[minute + n] = steady ? wall + n * SECOND_MS : show(at + n * SECOND_MS)
  }
  return { zone, change, from, walls }
}

/** All runs in the window, from the definition of the rule; the first 7 hours only serve to know what is a repeat. */
export function runsAround(expression: string, { from, walls }: Around): number[] {
  const { fixed, time, day } = matcherOf(expression)
  const days = new Map<number, boolean>()
  const matches = (wall: number): boolean => {
    if (!time(wall)) return false
    const midnight = Math.floor(wall / DAY_MS)
    const known = days.get(midnight) ?? day(wall)
    days.set(midnight, known)
    return known
  }
  const runs: number[] = []
  let latest = Number.NEGATIVE_INFINITY
  walls.forEach((wall, index) => {
    const jump = index === 0 ? SECOND_MS : wall - (walls[index - 1] ?? 0)
    const missing = jump > SECOND_MS && jump - SECOND_MS <= 3 * HOUR_MS ? jump - SECOND_MS : 0
    let run = matches(wall) && (!fixed || wall > latest)
    for (let back = SECOND_MS; fixed && !run && back <= missing; back += SECOND_MS) run = matches(wall - back)
    if (run) runs.push(from + index * SECOND_MS)
    latest = Math.max(latest, wall)
  })
  return runs
}

/** The runs of UTC, a day at a time; `direction` 1 for the first later than `at`, -1 for the last earlier. */
export function runInUtc(expression: string, at: number, direction: 1 | -1): number | undefined {
  const { time, day } = matcherOf(expression)
  const first = Math.floor(at / DAY_MS) * DAY_MS
  for (let n = 0; n <= 14_611; n++) {
    const midnight = first + direction * n * DAY_MS
    if (!day(midnight)) continue
    for (let second = 0; second < 86_400; second++) {
      const run = midnight + (direction === 1 ? second : 86_399 - second) * SECOND_MS
      if (time(run) && (run - at) * direction > 0) return run
    }
  }
  return undefined
}

/** The clock changes of a zone, day by day, then second by second. */
export function changesOf(zone: string, from: number, to: number): number[] {
  const show = wallClock(zone)
  const offset = (at: number): number => show(at) - at
  const changes: number[] = []
  for (let at = from; at < to; at += DAY_MS) {
    if (offset(at) === offset(at + DAY_MS)) continue
    let change = at
    for (const step of [HOUR_MS, MINUTE_MS, SECOND_MS]) {
      while (offset(change + step) === offset(at)) change += step
    }
    changes.push(change + SECOND_MS)
  }
  return changes
}

function wallClock(zone: string): (at: number) => number {
  const format = new Intl.DateTimeFormat('en-GB', {
    timeZone: zone,
    dateStyle: 'short',
    timeStyle: 'medium',
  })
  return (at) => {
    const part = Object.fromEntries(format.formatToParts(at).map(({ type, value }) => [type, Number(value)]))
    const { year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0 } = part
    return Date.UTC(year, month - 1, day, hour, minute, second)
  }
}
