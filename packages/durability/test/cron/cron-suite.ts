import { describe, expect, it } from 'vitest'
import { InvalidCronError, nextCronTime, parseCron, previousCronTime } from '../../src/cron/index.ts'
import reported from './cases/cron-cases.json' with { type: 'json' }
import matrix from './cases/cron-matrix.json' with { type: 'json' }

/**
 * The cases every runtime and every host zone must pass: failures reported for other schedulers (`B…`, by the fact
 * that is right) and a matrix of expressions over the kinds of clock changes. Only standard APIs, so that it runs in
 * workerd as it does in Node.
 */
export function describeCronCases(): void {
  describe('reported failures', () => {
    for (const entry of reported) {
      const { id, expression, timezone, after, expected } = entry
      it(`${id} ${TITLES[id] ?? `${expression} in ${timezone} has the expected times`}`, () => {
        const complete = 'complete' in entry && entry.complete === true
        const count = expected.length + (complete ? 1 : 0)
        expect(walk(nextCronTime, expression, Date.parse(after), timezone, count)).toEqual(
          expected.map(seconds),
        )
        if (complete) expect(codeOf(() => parseCron(expression, { timezone }))).toBe('never_fires')
        else expect(parseCron(expression, { timezone }).timezone).toBe(timezone)
      })
    }
  })
  describe('matrix', () => {
    for (const entry of matrix.cases) {
      const { id, expr, zone, tag } = entry
      it(`${id} ${expr} in ${zone}: ${tag}`, () => {
        const next = walk(nextCronTime, expr, Date.parse(entry.after), zone, entry.next.length)
        expect(next).toEqual(entry.next.map(seconds))
        const previous = walk(previousCronTime, expr, Date.parse(entry.prevBefore), zone, entry.prev.length)
        expect(previous).toEqual(entry.prev.map(seconds))
        for (const [now = '', latest = ''] of entry.atOrBefore) {
          const at = previousCronTime(expr, Date.parse(now) + 1, { timezone: zone })
          expect(at, `at or before ${now}`).toBe(Date.parse(latest))
        }
        expect(parseCron(expr, { timezone: zone }).kind).toBe(entry.class)
      })
    }
  })
  describe('what is accepted and refused', () => {
    for (const { expr, why } of matrix.accept) {
      it(`${JSON.stringify(expr)} is accepted: ${why}`, () => {
        expect(parseCron(expr).expression).toBe(expr)
      })
    }
    for (const { expr, why } of matrix.reject) {
      it(`${JSON.stringify(expr)} is refused: ${why}`, () => {
        for (const read of [parseCron, at(nextCronTime), at(previousCronTime)]) {
          expect(codeOf(() => read(expr))).toMatch(/^[a-z_]+$/)
        }
      })
    }
    for (const timezone of matrix.zonesAccept) {
      it(`the zone ${JSON.stringify(timezone)} is accepted`, () => {
        expect(parseCron('0 0 * * *', { timezone }).timezone).toBe(timezone)
      })
    }
    for (const timezone of matrix.zonesReject) {
      it(`the zone ${JSON.stringify(timezone)} is refused`, () => {
        expect(codeOf(() => parseCron('0 0 * * *', { timezone }))).toBe('invalid_timezone')
      })
    }
    for (const { expr, zone, after } of matrix.neverFires) {
      it(`${expr} in ${zone} never fires`, () => {
        expect(nextCronTime(expr, Date.parse(after), { timezone: zone })).toBeUndefined()
        expect(codeOf(() => parseCron(expr, { timezone: zone }))).toBe('never_fires')
      })
    }
  })
}

/** What is right, for the reported failures, in place of their numbers. */
const TITLES: Readonly<Record<string, string>> = {
  B001: 'a fixed time in the gap runs once, at its end, and the walk moves on',
  B003: 'a weekly midnight that the clocks skip runs on its own day',
  B003b: 'a daily midnight that the clocks skip loses no day',
  B003c: 'a repeated last hour of a day does not repeat the midnight before or after it',
  B005: 'a step over a missing midnight leaves out that time only',
  B007: 'a schedule after the gap of a day still runs that day',
  B007b: 'a schedule in the gap of a day still runs that day',
  B007c: 'the first time after a gap is an ordinary one',
  B009: 'asked between the two passes, a fixed time has had its run',
  B009b: 'asked before both passes, a fixed time runs in the first',
  B011: 'a quarter-hourly interval keeps its distance through the repeated hour',
  B011b: 'a list of times is fixed: each of its times runs once',
  B013: 'a repeat of half an hour is no second run',
  B013b: 'a gap of half an hour moves a fixed time to its end',
  B015: 'a clock change of the host does not take an hour from a UTC schedule',
  B017: 'the next weekday is found across the end of a month',
  B017b: 'the next Sunday is the next Sunday',
  B017c: 'a question mark restricts nothing',
  B019: '29 February on a Wednesday is found 27 years ahead',
  B021: 'day 31 skips the short months',
  B021b: 'a stepped range of days ends with the month',
  B021c: 'the last day follows the month and the leap year',
  B023: 'a month without a fifth Monday is skipped',
  B025: 'the weekday nearest to the 1st stays in its month',
  B027: 'the answer is later than the time asked about',
  B029: '31 April never fires and is refused',
  B029b: '30 February never fires and is refused',
  B029c: 'a list of months that are all too short never fires and is refused',
  B029d: 'one possible month is enough',
  B031: 'the final rules of a late change of law are used',
  B031b: 'a weekly midnight follows a change date that was moved by a week',
  B055: 'a monthly schedule has one time a month',
}

type Step = typeof nextCronTime

function walk(
  step: Step,
  expression: string,
  from: number,
  timezone: string,
  count: number,
): (string | undefined)[] {
  const times: (string | undefined)[] = []
  let at: number | undefined = from
  while (at !== undefined && times.length < count) {
    at = step(expression, at, { timezone })
    if (at !== undefined) times.push(seconds(at))
  }
  return times
}

function seconds(time: string | number): string {
  return new Date(time).toISOString().replace('.000Z', 'Z')
}

function at(step: Step): (expression: string) => unknown {
  return (expression) => step(expression, Date.UTC(2026, 5, 15))
}

function codeOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    if (error instanceof InvalidCronError && error.message.length <= 200) return error.code
    throw error
  }
  return 'accepted'
}
