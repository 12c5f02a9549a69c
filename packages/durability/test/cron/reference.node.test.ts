import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextCronTime, previousCronTime } from '../../src/cron/index.ts'
import { validDates, validExpression } from './random-cron.ts'
import { type Around, around, changesOf, runInUtc, runsAround } from './reference.ts'

/** Printed with every failure by fast-check; `CRON_SEED` and `CRON_RUNS` look elsewhere or longer. */
const { CRON_SEED = '20260615', CRON_RUNS = '400' } = process.env
const seed = Number(CRON_SEED)
const runs = Number(CRON_RUNS)

/** One or more changes of every kind there is: by an hour, half, two, three, seven; at, before and after midnight. */
const ZONES: readonly (readonly [string, string, string])[] = [
  ['America/New_York', '2024-01-01', '2026-01-01'],
  ['Europe/Berlin', '2024-01-01', '2026-01-01'],
  ['Europe/Dublin', '2025-01-01', '2026-01-01'],
  ['America/Santiago', '2022-01-01', '2026-01-01'],
  ['America/Sao_Paulo', '2017-01-01', '2020-01-01'],
  ['America/Havana', '2024-01-01', '2026-01-01'],
  ['America/Nuuk', '2022-01-01', '2026-01-01'],
  ['America/Scoresbysund', '2023-01-01', '2026-01-01'],
  ['America/St_Johns', '2005-01-01', '2012-01-01'],
  ['Africa/Cairo', '2023-01-01', '2026-01-01'],
  ['Africa/Casablanca', '2022-01-01', '2026-01-01'],
  ['Asia/Tehran', '2021-01-01', '2023-01-01'],
  ['Asia/Beirut', '2022-01-01', '2025-01-01'],
  ['Asia/Gaza', '2022-01-01', '2025-01-01'],
  ['Asia/Pyongyang', '2015-01-01', '2019-01-01'],
  ['America/Caracas', '2007-01-01', '2017-01-01'],
  ['Australia/Lord_Howe', '2024-01-01', '2026-01-01'],
  ['Australia/Sydney', '2024-01-01', '2026-01-01'],
  ['Pacific/Chatham', '2024-01-01', '2026-01-01'],
  ['Pacific/Apia', '2010-01-01', '2014-01-01'],
  ['Pacific/Kwajalein', '1993-01-01', '1994-01-01'],
  ['Antarctica/Troll', '2024-01-01', '2026-01-01'],
  ['Antarctica/Casey', '2018-01-01', '2022-01-01'],
  ['Antarctica/Vostok', '1994-01-01', '1995-01-01'],
  ['Africa/Monrovia', '1972-01-01', '1973-01-01'],
]

const changes = ZONES.flatMap(([zone, from, to]) =>
  changesOf(zone, Date.parse(from), Date.parse(to)).map((change) => ({ zone, change })),
)

const windows = new Map<string, Around>()

function windowAt(zone: string, change: number): Around {
  const key = `${zone} ${change}`
  const window = windows.get(key) ?? around(zone, change)
  windows.set(key, window)
  return window
}

describe('an independent reference', () => {
  it('knows changes of every size', () => {
    expect(changes.length).toBeGreaterThan(80)
  })

  it('gives the same runs around every kind of clock change, in both directions', {
    timeout: 120_000,
  }, () => {
    const start = fc.tuple(fc.integer({ min: -6 * 3_600, max: 6 * 3_600 }), fc.constantFrom(0, 1, 500, 999))
    const sample = fc.tuple(
      fc.constantFrom(...changes),
      validExpression,
      fc.array(start, { minLength: 6, maxLength: 6 }),
    )
    fc.assert(
      fc.property(sample, ([{ zone, change }, expression, starts]) => {
        const window = windowAt(zone, change)
        const expected = runsAround(expression, window)
        const last = window.from + (window.walls.length - 1) * 1_000
        const instants = starts.map(([seconds, ms]) => change + seconds * 1_000 + ms)
        for (const at of [...instants, change - 1_000, change - 1, change, change + 1]) {
          const later = expected.find((run) => run > at)
          const next = nextCronTime(expression, at, { timezone: zone })
          if (later !== undefined) expect(next, `next after ${new Date(at).toISOString()}`).toBe(later)
          else expect(next ?? Number.POSITIVE_INFINITY).toBeGreaterThan(last)
          // What lies before the window could be the first pass of what is in its first 7 hours.
          const earlier = expected.findLast((run) => run < at)
          const previous = previousCronTime(expression, at, { timezone: zone })
          if (earlier !== undefined)
            expect(previous, `previous before ${new Date(at).toISOString()}`).toBe(earlier)
          else expect(previous ?? Number.NEGATIVE_INFINITY).toBeLessThan(window.from)
        }
      }),
      { seed, numRuns: runs },
    )
  })

  it('gives the same dates over decades, in both directions', { timeout: 120_000 }, () => {
    const at = fc.integer({ min: Date.UTC(2011, 0, 1), max: Date.UTC(2110, 0, 1) })
    fc.assert(
      fc.property(validDates, at, (expression, from) => {
        expect(nextCronTime(expression, from)).toBe(runInUtc(expression, from, 1))
        expect(previousCronTime(expression, from)).toBe(runInUtc(expression, from, -1))
      }),
      { seed, numRuns: runs },
    )
  })

  it('previous undoes next, and both only move forward', { timeout: 120_000 }, () => {
    const zone = fc.constantFrom(...ZONES.map(([name]) => name), 'UTC', 'Asia/Kolkata', 'Asia/Kathmandu')
    const at = fc.integer({ min: Date.UTC(1985, 0, 1), max: Date.UTC(2060, 0, 1) })
    fc.assert(
      fc.property(
        validExpression,
        zone,
        at,
        fc.integer({ min: 0, max: 200 * 86_400_000 }),
        (expression, timezone, from, more) => {
          const next = nextCronTime(expression, from, { timezone })
          if (next === undefined) return
          expect(next).toBeGreaterThan(from)
          expect(previousCronTime(expression, next + 1, { timezone })).toBe(next)
          expect(nextCronTime(expression, next - 1, { timezone })).toBe(next)
          expect(previousCronTime(expression, next, { timezone }) ?? 0).toBeLessThanOrEqual(from)
          const later = nextCronTime(expression, from + more, { timezone })
          if (later !== undefined) expect(later).toBeGreaterThanOrEqual(next)
        },
      ),
      { seed, numRuns: runs * 5 },
    )
  })
})
