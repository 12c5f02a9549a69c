import { InvalidCronError, quote } from './errors.ts'
import { recent } from './recent.ts'

/** A time zone, as far as a clock on the wall needs one. All instants are epoch ms in whole seconds. */
export interface Zone {
  /** What the wall clock shows at `at`, less `at`; ms, positive east of Greenwich. */
  offsetAt(at: number): number
  /**
   * The first instant of the new offset when the clocks change after `from`, up to and including `to`. The two must
   * be less than six days apart: closer changes than that, which could cancel out unseen, no zone has had since 1970.
   */
  changeIn(from: number, to: number): number | undefined
}

const MAX_ZONE_CHARACTERS = 64

/** Names of places only. An abbreviation means several zones, an offset knows no clock changes. */
const ZONE_NAME = /^(?:UTC|GMT|[A-Z][A-Z_]*(?:\/[A-Z][A-Z0-9_+-]*){1,2})$/i

/** A formatter is dear to make (50 µs and more, and memory outside the heap), so some are kept, but not all 400. */
const MAX_ZONES = 16

const UTC: Zone = { offsetAt: () => 0, changeIn: () => undefined }

/** By name. */
const cache = new Map<string, Zone>()

/**
 * The zone of an IANA name, with the rules of the runtime's own time zone data.
 *
 * @throws InvalidCronError when it is no name of this kind or the runtime does not know it
 */
export function zoneNamed(name: string): Zone {
  if (typeof name !== 'string') {
    throw new InvalidCronError('invalid_timezone', 'timezone', `A timezone is a string, not "${typeof name}"`)
  }
  return name === 'UTC' ? UTC : recent(cache, MAX_ZONES, name, () => create(name))
}

function create(name: string): Zone {
  const format = formatter(name)
  const offsetAt = (at: number): number => {
    const [month = 0, day = 0, year = 0, hour = 0, minute = 0, second = 0] = (
      format.format(at).match(/\d+/g) ?? []
    ).map(Number)
    return Date.UTC(year, month - 1, day, hour, minute, second) - at
  }
  return { offsetAt, changeIn: (from, to) => changeIn(offsetAt, from, to) }
}

function formatter(name: string): Intl.DateTimeFormat {
  if (name.length <= MAX_ZONE_CHARACTERS && ZONE_NAME.test(name)) {
    try {
      // Everything is said, so that neither the host's locale nor its zone has a part in it.
      return new Intl.DateTimeFormat('en-US-u-ca-gregory-nu-latn', {
        timeZone: name,
        hourCycle: 'h23',
        year: 'numeric',
        month: 'numeric',
        day: 'numeric',
        hour: 'numeric',
        minute: 'numeric',
        second: 'numeric',
      })
    } catch {
      // The runtime's RangeError says no more than ours does.
    }
  }
  throw new InvalidCronError(
    'invalid_timezone',
    'timezone',
    `Unknown timezone ${quote(name)}: use UTC or an IANA name such as Europe/Berlin, no offset and no abbreviation`,
  )
}

function changeIn(offsetAt: Zone['offsetAt'], from: number, to: number): number | undefined {
  const offset = offsetAt(from)
  if (offset === offsetAt(to)) return undefined
  let before = from
  let after = to
  while (after - before > 1_000) {
    const middle = before + Math.floor((after - before) / 2_000) * 1_000
    if (offsetAt(middle) === offset) before = middle
    else after = middle
  }
  return after
}
