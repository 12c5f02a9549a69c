import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { fromLocalInput, offsetOf, timeIn, toLocalInput } from './times.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('the offset of a zone', () => {
  test.each([
    ['UTC', '2026-01-01T00:00Z', 0],
    ['Europe/London', '2026-01-01T00:00Z', 0],
    ['Europe/London', '2026-07-01T00:00Z', HOUR],
    ['America/New_York', '2026-01-01T00:00Z', -5 * HOUR],
    ['America/St_Johns', '2026-01-01T00:00Z', -(3 * HOUR + 30 * MINUTE)],
    ['Asia/Kathmandu', '2026-01-01T00:00Z', 5 * HOUR + 45 * MINUTE],
    ['Pacific/Kiritimati', '2026-01-01T00:00Z', 14 * HOUR],
  ])('%s at %s', (zone, at, offset) => {
    expect(offsetOf(zone, Date.parse(at))).toBe(offset)
  })

  test.each([
    ['Europe/Berlin', '2026-03-29T01:00Z', HOUR, 2 * HOUR],
    ['Europe/Berlin', '2026-10-25T01:00Z', 2 * HOUR, HOUR],
    ['Australia/Lord_Howe', '2026-04-04T15:00Z', 11 * HOUR, 10 * HOUR + 30 * MINUTE],
  ])('%s changes at %s and not a millisecond earlier', (zone, at, before, after) => {
    const change = Date.parse(at)
    expect([offsetOf(zone, change - 1), offsetOf(zone, change)]).toEqual([before, after])
  })

  test('of a zone that does not exist is unknown, and its times are shown as UTC', () => {
    expect(offsetOf('Mars/Olympus', 0)).toBeUndefined()
    expect(timeIn('Mars/Olympus', 0)).toMatch(/00:00:00 UTC$/)
  })
})

test('a time is that of the zone, with its day', () => {
  const midnight = timeIn('America/New_York', Date.parse('2026-12-01T05:00:00Z'))
  expect(midnight).toContain('Tue')
  expect(midnight).toContain('1 Dec 2026')
  expect(midnight).toContain('00:00:00')
})

describe('a local time as it is typed', () => {
  beforeEach(() => {
    vi.stubEnv('TZ', 'Europe/Berlin')
  })
  afterEach(() => {
    vi.unstubAllEnvs()
  })

  test.each([
    ['2026-01-01T12:00:00Z', '2026-01-01T13:00:00'],
    ['2026-03-29T00:59:59Z', '2026-03-29T01:59:59'],
    ['2026-03-29T01:00:00Z', '2026-03-29T03:00:00'],
    ['2026-07-01T12:00:00Z', '2026-07-01T14:00:00'],
  ])('%s is %s in Berlin, and back', (instant, text) => {
    expect(toLocalInput(Date.parse(instant))).toBe(text)
    expect(fromLocalInput(text)).toBe(Date.parse(instant))
  })

  test('in the hour that comes twice is one of both', () => {
    const twice = ['2026-10-25T00:30:00Z', '2026-10-25T01:30:00Z'].map((at) => Date.parse(at))
    expect(twice.map(toLocalInput)).toEqual(['2026-10-25T02:30:00', '2026-10-25T02:30:00'])
    expect(twice).toContain(fromLocalInput('2026-10-25T02:30:00'))
  })

  test('is nothing when nothing is typed', () => {
    expect([toLocalInput(null), fromLocalInput('')]).toEqual(['', undefined])
  })
})
