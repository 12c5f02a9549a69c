import { describe, expect, test } from 'vitest'
import { cadenceInWords, cronInWords, durationInWords, relativeTime, shortDuration } from './words.ts'

test.each([
  [
    { cron: '0 9 * * 1-5', everyMs: null, timezone: 'Europe/Berlin' },
    'At 09:00, Monday through Friday, Europe/Berlin',
  ],
  [{ cron: '*/5 * * * *', everyMs: null, timezone: null }, 'Every 5 minutes, UTC'],
  [
    { cron: '30 */2 * * * *', everyMs: null, timezone: 'UTC' },
    'At 30 seconds past the minute, every 2 minutes, UTC',
  ],
  [{ cron: '@daily', everyMs: null, timezone: 'UTC' }, 'At 00:00, UTC'],
  [{ cron: '0 18 * * 5', everyMs: null, timezone: 'UTC' }, 'At 18:00, only on Friday, UTC'],
  [{ cron: '0 18 * * 0', everyMs: null, timezone: 'UTC' }, 'At 18:00, only on Sunday, UTC'],
  [{ cron: null, everyMs: 5_400_000, timezone: null }, 'Every 1 hour 30 minutes'],
])('%o in words', (cadence, words) => {
  expect(cadenceInWords(cadence)).toBe(words)
})

test.each(['', 'nonsense', '61 * * * *', '* * *', '<script>alert(1)</script>'])(
  'the cron "%s", which has no words, is shown as it is',
  (cron) => {
    expect(cronInWords(cron)).toBe(cron)
  },
)

test.each([
  [0, '0 seconds'],
  [250, '0.25 seconds'],
  [1_000, '1 second'],
  [61_500, '1 minute 1.5 seconds'],
  [86_400_000, '1 day'],
  [90_061_000, '1 day 1 hour 1 minute 1 second'],
])('%i ms are "%s"', (ms, words) => {
  expect(durationInWords(ms)).toBe(words)
})

test.each([
  [0, '0 ms'],
  [999.4, '999 ms'],
  [1_550, '1.6 s'],
  [90_000, '1.5 min'],
  [5_400_000, '1.5 h'],
])('%d ms are short "%s"', (ms, words) => {
  expect(shortDuration(ms)).toBe(words)
})

describe('a time relative to now', () => {
  test.each([
    [0, 'now'],
    [-999, 'now'],
    [1_000, 'in 1 sec'],
    [-90_000, '1 min'],
    [2 * 3_600_000, 'in 2 hr'],
    [-3 * 86_400_000, '3 days ago'],
  ])('%i ms away', (ms, words) => {
    expect(relativeTime(ms, 0)).toContain(words)
  })
})
