import { scheduledJobs } from 'croner'
import { describe, expect, it } from 'vitest'
import { type CronOptions, InvalidCronError, nextCronTime, parseCron, previousCronTime } from './index.ts'

const AT = Date.UTC(2026, 5, 15, 10, 20, 30)
const DAY_MS = 86_400_000

function codeOf(call: () => unknown): string {
  try {
    call()
  } catch (error) {
    if (error instanceof InvalidCronError) return error.code
    throw error
  }
  return 'accepted'
}

describe('nextCronTime and previousCronTime', () => {
  it('are strict, also within a second', () => {
    const noon = Date.UTC(2026, 5, 15, 12)
    expect(nextCronTime('0 12 * * *', noon - 1)).toBe(noon)
    expect(nextCronTime('0 12 * * *', noon)).toBe(noon + DAY_MS)
    expect(nextCronTime('0 12 * * *', noon + 1)).toBe(noon + DAY_MS)
    expect(previousCronTime('0 12 * * *', noon + 1)).toBe(noon)
    expect(previousCronTime('0 12 * * *', noon)).toBe(noon - DAY_MS)
    expect(previousCronTime('0 12 * * *', noon + 999)).toBe(noon)
  })

  it('join a restricted day and weekday by OR, with a plus by AND', () => {
    const from = Date.UTC(2026, 8, 1)
    expect(nextCronTime('0 0 13 * 5', from)).toBe(Date.UTC(2026, 8, 4))
    expect(nextCronTime('0 0 13 * +5', from)).toBe(Date.UTC(2026, 10, 13))
    expect(nextCronTime('0 0 ? * 5', from)).toBe(Date.UTC(2026, 8, 4))
    expect(nextCronTime('0 0 13 * ?', from)).toBe(Date.UTC(2026, 8, 13))
  })

  it('find a leap day across the 40 years around a century without one, and no further', () => {
    const first = Date.UTC(2072, 1, 29)
    const second = Date.UTC(2112, 1, 29)
    expect(nextCronTime('0 0 29 2 +MON', first)).toBe(second)
    expect(previousCronTime('0 0 29 2 +MON', second)).toBe(first)
    expect(nextCronTime('0 0 29 2 +MON', first, { timezone: 'Pacific/Auckland' })).toBeDefined()
    expect(nextCronTime('0 0 29 2 +MON', first - 3 * DAY_MS)).toBe(first)
  })

  it('answer within the years 1970 to 9000', () => {
    const end = Date.UTC(9001, 0, 1)
    expect(nextCronTime('0 0 1 1 *', 0)).toBe(Date.UTC(1971, 0, 1))
    expect(previousCronTime('0 0 1 1 *', 1)).toBe(0)
    expect(previousCronTime('0 0 1 1 *', 0)).toBeUndefined()
    expect(previousCronTime('0 0 1 1 *', end)).toBe(Date.UTC(9000, 0, 1))
    expect(nextCronTime('0 0 1 1 *', end)).toBeUndefined()
    expect(nextCronTime('0 12 * 6 *', Date.UTC(8999, 11, 31), { timezone: 'Europe/Berlin' })).toBe(
      Date.UTC(9000, 5, 1, 10),
    )
  })

  it('refuse an instant that is none, by name and value', () => {
    for (const value of [Number.NaN, 1.5, -1, Number.POSITIVE_INFINITY, Date.UTC(9001, 0, 1) + 1, 2 ** 53]) {
      expect(() => nextCronTime('* * * * *', value)).toThrow(RangeError)
      expect(() => nextCronTime('* * * * *', value)).toThrow(`after must be an integer`)
      expect(() => previousCronTime('* * * * *', value)).toThrow(String(value))
    }
    const others: readonly unknown[] = ['5', undefined, null, new Date(), 5n]
    for (const value of others) {
      // Callers without types.
      expect(() => nextCronTime('* * * * *', value as number)).toThrow(TypeError)
      expect(() => previousCronTime('* * * * *', value as number)).toThrow('before must be a number')
    }
  })

  it('leave the options alone and register nothing with croner', () => {
    const options: CronOptions = Object.freeze({ timezone: 'Europe/Berlin', seconds: true })
    nextCronTime('0 0 * * *', AT, options)
    parseCron('0 0 * * *', options)
    expect(options).toEqual({ timezone: 'Europe/Berlin', seconds: true })
    expect(scheduledJobs).toEqual([])
  })

  it('B051 a mistyped zone is refused before anything is stored, and does not disturb another schedule', () => {
    expect(codeOf(() => parseCron('0 0 * * *', { timezone: 'America/New_Yrok' }))).toBe('invalid_timezone')
    expect(() => parseCron('0 0 * * *', { timezone: 'America/New_Yrok' })).toThrow('"America/New_Yrok"')
    expect(codeOf(() => nextCronTime('0 0 * * *', AT, { timezone: 'America/New_Yrok' }))).toBe(
      'invalid_timezone',
    )
    expect(codeOf(() => parseCron('nonsense'))).toBe('field_count')
    expect(nextCronTime('0 0 * * *', AT, { timezone: 'America/New_York' })).toBe(Date.UTC(2026, 5, 16, 4))
  })

  it('B071 a text that is far too large is refused unread', () => {
    for (const text of [`${'1,'.repeat(500_000)}1 * * * *`, ' '.repeat(1_000_000), '0-59'.repeat(65)]) {
      expect(codeOf(() => parseCron(text))).toBe('too_long')
    }
    expect(codeOf(() => parseCron('0-99999999/1 * * * *'))).toBe('invalid_field')
    expect(codeOf(() => parseCron('*/99999999 * * * *'))).toBe('invalid_field')
    expect(codeOf(() => parseCron('0 0 * * *', { timezone: `Europe/${'B'.repeat(10_000)}` }))).toBe(
      'invalid_timezone',
    )
  })

  it('keep their answers when more schedules are used than are kept in memory', () => {
    const minutes = Array.from({ length: 60 }, (_, minute) => minute)
    const ask = () => minutes.map((minute) => nextCronTime(`${minute} 12 * * *`, AT, { timezone: 'UTC' }))
    expect(ask()).toEqual(minutes.map((minute) => Date.UTC(2026, 5, 15, 12, minute)))
    expect(ask()).toEqual(ask())
  })
})

describe('parseCron', () => {
  it('says what it read', () => {
    const parsed = parseCron(' @hourly ', { timezone: 'Asia/Kolkata' })
    expect(parsed).toEqual({ expression: ' @hourly ', kind: 'interval', timezone: 'Asia/Kolkata' })
    expect(Object.isFrozen(parsed)).toBe(true)
    expect(parseCron('0 2 * * *')).toEqual({ expression: '0 2 * * *', kind: 'fixed', timezone: 'UTC' })
  })

  it('refuses what never fires', () => {
    expect(codeOf(() => parseCron('0 0 30 2 *'))).toBe('never_fires')
    expect(codeOf(() => parseCron('* * 2 * 3 0L', { timezone: 'Europe/Berlin' }))).toBe('never_fires')
    expect(codeOf(() => parseCron('* * 2 * 3 0L', { timezone: 'UTC' }))).toBe('accepted')
  })

  it('refuses options that it does not know or cannot read', () => {
    const wrong: readonly unknown[] = [
      { zone: 'UTC' },
      { timezone: 'UTC', name: 'x' },
      { seconds: 'yes' },
      { seconds: null },
      { seconds: 0 },
      null,
      'Europe/Berlin',
      [],
      () => undefined,
    ]
    for (const options of wrong) {
      // Callers without types.
      expect(codeOf(() => parseCron('0 0 * * *', options as CronOptions))).toBe('invalid_option')
    }
    for (const timezone of [null, 5, {}, ['UTC']]) {
      const options = { timezone } as unknown as CronOptions
      expect(codeOf(() => parseCron('0 0 * * *', options))).toBe('invalid_timezone')
    }
    expect(codeOf(() => parseCron('0 0 * * *', { timezone: undefined, seconds: undefined }))).toBe('accepted')
  })
})
