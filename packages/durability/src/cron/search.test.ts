import { describe, expect, it } from 'vitest'
import { nextCronTime, previousCronTime } from './cron.ts'

/** What the shared cases and the random comparison meet rarely or not at all. */
describe('the search over clock changes', () => {
  // New York, 2026-11-01: 01:00 to 02:00 happens from 05:00Z and again from 06:00Z.
  const timezone = 'America/New_York'
  const firstPass = Date.UTC(2026, 10, 1, 5, 30)
  const secondPass = Date.UTC(2026, 10, 1, 6, 30)

  it('an interval runs in the second pass, though its next wall time is a year away', () => {
    const yearly = '*/20 30 1 1 11 *'
    expect(nextCronTime(yearly, firstPass + 40_000, { timezone })).toBe(secondPass)
    expect(nextCronTime(yearly, firstPass + 41 * 60_000, { timezone })).toBe(secondPass)
    expect(nextCronTime(yearly, secondPass + 40_000, { timezone })).toBe(Date.UTC(2027, 10, 1, 5, 30))
  })

  it('an interval ran in the first pass, though its wall time before is a year away', () => {
    const yearly = '*/20 30 1 1 11 *'
    expect(previousCronTime(yearly, secondPass, { timezone })).toBe(firstPass + 40_000)
    expect(previousCronTime(yearly, firstPass, { timezone })).toBe(Date.UTC(2025, 10, 1, 5, 30, 40))
  })

  it('a fixed time is passed over in one step, not second by second, in the whole second pass', () => {
    const everySecond = '0-59 0-59 1 * * *'
    expect(nextCronTime(everySecond, Date.UTC(2026, 10, 1, 5, 59, 59), { timezone })).toBe(
      Date.UTC(2026, 10, 2, 6),
    )
    expect(nextCronTime(everySecond, secondPass, { timezone })).toBe(Date.UTC(2026, 10, 2, 6))
    expect(previousCronTime(everySecond, Date.UTC(2026, 10, 1, 9), { timezone })).toBe(
      Date.UTC(2026, 10, 1, 5, 59, 59),
    )
  })

  it('a gap of exactly three hours still gives its run, a skipped day none', () => {
    // Casey, 2018-10-07: from 04:00 to 07:00. Apia had no 2011-12-30.
    const casey = { timezone: 'Antarctica/Casey' }
    expect(nextCronTime('0 5 7 10 *', Date.UTC(2018, 0, 1), casey)).toBe(Date.UTC(2018, 9, 6, 20))
    expect(previousCronTime('0 5 7 10 *', Date.UTC(2018, 11, 1), casey)).toBe(Date.UTC(2018, 9, 6, 20))
    const apia = { timezone: 'Pacific/Apia' }
    expect(nextCronTime('0 5 30 12 *', Date.UTC(2011, 0, 1), apia)).toBe(Date.UTC(2012, 11, 29, 15))
    expect(previousCronTime('0 5 30 12 *', Date.UTC(2012, 0, 1), apia)).toBe(Date.UTC(2010, 11, 30, 15))
  })

  it('many missing times are one run', () => {
    const berlin = { timezone: 'Europe/Berlin' }
    const change = Date.UTC(2026, 2, 29, 1)
    const often = '0-59 0-59 2 * * *'
    expect(nextCronTime(often, change - 1, berlin)).toBe(change)
    expect(nextCronTime(often, change, berlin)).toBe(Date.UTC(2026, 2, 30))
    expect(previousCronTime(often, change + 1, berlin)).toBe(change)
    expect(previousCronTime(often, change, berlin)).toBe(Date.UTC(2026, 2, 28, 1, 59, 59))
  })
})
