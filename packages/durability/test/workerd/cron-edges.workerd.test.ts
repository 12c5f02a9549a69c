import { describe, expect, it } from 'vitest'
import { nextCronTime, parseCron } from '../../src/cron/index.ts'

describe('a nickname', () => {
  // 2026-03-04 is a Wednesday.
  const after = Date.parse('2026-03-04T12:34:56Z')

  it.each([
    ['@yearly', '2027-01-01T00:00:00.000Z'],
    ['@annually', '2027-01-01T00:00:00.000Z'],
    ['@monthly', '2026-04-01T00:00:00.000Z'],
    ['@weekly', '2026-03-08T00:00:00.000Z'],
    ['@daily', '2026-03-05T00:00:00.000Z'],
    ['@midnight', '2026-03-05T00:00:00.000Z'],
    ['@hourly', '2026-03-04T13:00:00.000Z'],
  ])('%s has its next time at %s', (nickname, next) => {
    expect(new Date(nextCronTime(nickname, after) ?? Number.NaN).toISOString()).toBe(next)
  })
})

describe('a range from Sunday to Sunday', () => {
  it.each(['SUN-SUN', 'sun-sun', 'MON,Sun-Sun'])(
    'as %s is refused: it could mean a day or a week',
    (weekday) => {
      expect(() => parseCron(`0 0 * * ${weekday}`)).toThrow('dayOfWeek')
    },
  )
})
