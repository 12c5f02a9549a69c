import { InvalidCronError, quote } from './errors.ts'
import { type Zone, zoneNamed } from './zone.ts'

/** How an expression is read. */
export interface CronOptions {
  /**
   * The zone whose clock the expression is read on: `UTC`, `GMT`, `Etc/…` or an IANA name such as `Europe/Berlin`
   * (default `UTC`). Offsets and abbreviations are refused. The zone of the host never matters.
   */
  readonly timezone?: string | undefined
  /** Whether a sixth field, seconds, may lead the expression (default true). Without it a run a minute is the most. */
  readonly seconds?: boolean | undefined
}

export interface ReadOptions {
  readonly timezone: string
  readonly zone: Zone
  readonly seconds: boolean
}

/** @throws InvalidCronError for an unknown zone, a wrong type, or an option that does not exist (a typing error). */
export function readOptions(options: CronOptions | undefined): ReadOptions {
  if (options === undefined) return { timezone: 'UTC', zone: zoneNamed('UTC'), seconds: true }
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new InvalidCronError('invalid_option', 'options', 'The options of a cron expression are an object')
  }
  const unknown = Object.keys(options).find((key) => key !== 'timezone' && key !== 'seconds')
  if (unknown !== undefined) {
    throw new InvalidCronError(
      'invalid_option',
      'options',
      `Unknown option ${quote(unknown)}: a cron expression takes timezone and seconds`,
    )
  }
  const { timezone = 'UTC', seconds = true } = options
  if (typeof seconds !== 'boolean') {
    throw new InvalidCronError(
      'invalid_option',
      'options',
      `The option seconds is true or false, not "${typeof seconds}"`,
    )
  }
  return { timezone, zone: zoneNamed(timezone), seconds }
}
