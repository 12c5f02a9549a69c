import { nextCronTime } from 'durability/cron'

/** A cron expression and the IANA zone on whose clock it is read. */
export interface ZonedCron {
  readonly expression: string
  readonly timezone: string
}

/** To the library an expression is opaque text, so the zone travels in it, as in a crontab: `TZ=Europe/Berlin 0 9 * * *`. */
export function encodeZonedCron({ expression, timezone }: ZonedCron): string {
  return `TZ=${timezone} ${expression}`
}

/** No zone has a blank in its name: everything after the first one is the cron expression. */
export function decodeZonedCron(text: string): ZonedCron {
  const blank = text.indexOf(' ')
  return { timezone: text.slice('TZ='.length, blank), expression: text.slice(blank + 1) }
}

/** The `nextOccurrence` of the demo. */
export function nextZonedTime(text: string, after: number): number | undefined {
  const { expression, timezone } = decodeZonedCron(text)
  return nextCronTime(expression, after, { timezone })
}
