import { describe, expect, it } from 'vitest'
import { InvalidCronError } from './errors.ts'
import { zoneNamed } from './zone.ts'

const ACCEPTED = [
  'UTC',
  'GMT',
  'Etc/UTC',
  'Etc/GMT-14',
  'Europe/Kyiv',
  'America/Argentina/Buenos_Aires',
  'America/Port-au-Prince',
  'America/North_Dakota/New_Salem',
  'Antarctica/DumontDUrville',
]

const REFUSED = [
  '',
  ' ',
  'Europe/Berlin ',
  ' Europe/Berlin',
  'Europe/Berlin\n',
  'Europe/',
  '/Berlin',
  'Europe',
  'Europe/Atlantis',
  'Europe/Berlin/Mitte',
  'Europe//Berlin',
  '../Europe/Berlin',
  'Europe/Bérlin',
  'EST',
  'CET',
  'EST5EDT',
  'Z',
  'utc+1',
  'GMT+1',
  '+01:00',
  '+0100',
  '-08:00',
  'Etc/+1',
  'local',
  'system',
  'undefined',
  'constructor',
  `Europe/${'B'.repeat(60)}`,
]

describe('a zone', () => {
  it('is named by UTC, GMT or a place', () => {
    for (const name of ACCEPTED) expect(zoneNamed(name).offsetAt(0)).toBeTypeOf('number')
  })

  for (const name of REFUSED) {
    it(`${JSON.stringify(name)} is refused`, () => {
      expect(() => zoneNamed(name)).toThrow(InvalidCronError)
      expect(() => zoneNamed(name)).toThrow(/^.{1,200}$/)
    })
  }

  it('knows its offset to the second', () => {
    expect(zoneNamed('Africa/Monrovia').offsetAt(0)).toBe(-(44 * 60 + 30) * 1_000)
    expect(zoneNamed('Asia/Kathmandu').offsetAt(Date.UTC(2026, 0, 1))).toBe((5 * 60 + 45) * 60_000)
    expect(zoneNamed('Etc/GMT+5').offsetAt(Date.UTC(2026, 0, 1))).toBe(-5 * 3_600_000)
  })

  it('finds the first instant of a new offset, up to and including the end', () => {
    const berlin = zoneNamed('Europe/Berlin')
    const change = Date.UTC(2025, 2, 30, 1)
    expect(berlin.changeIn(change - 5_000_000, change + 90_000_000)).toBe(change)
    expect(berlin.changeIn(change - 1_000, change)).toBe(change)
    expect(berlin.changeIn(change - 2_000, change - 1_000)).toBeUndefined()
    expect(berlin.changeIn(change, change + 90_000_000)).toBeUndefined()
  })

  it('is found again after more zones were used than are kept', () => {
    const names = Intl.supportedValuesOf('timeZone').filter((name) => name.startsWith('Europe/'))
    const offsets = () => names.map((name) => zoneNamed(name).offsetAt(Date.UTC(2026, 6, 1)))
    expect(offsets()).toEqual(offsets())
  })
})
