const formats = new Map<string, Intl.DateTimeFormat>()

function formatOf(key: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const known = formats.get(key)
  if (known !== undefined) return known
  const format = new Intl.DateTimeFormat('en-GB', options)
  formats.set(key, format)
  return format
}

export const VIEWER_ZONE: string = Intl.DateTimeFormat().resolvedOptions().timeZone

/** "Tue, 1 Dec 2026, 09:00:00" in a zone. A zone that the browser does not know is shown as UTC. */
export function timeIn(zone: string, instant: number): string {
  const options: Intl.DateTimeFormatOptions = {
    weekday: 'short',
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  }
  try {
    return formatOf(`time ${zone}`, { ...options, timeZone: zone }).format(instant)
  } catch {
    return `${formatOf('time UTC', { ...options, timeZone: 'UTC' }).format(instant)} UTC`
  }
}

/** ms that the zone is ahead of UTC at this instant; `undefined` for a zone that the browser does not know. */
export function offsetOf(zone: string, instant: number): number | undefined {
  try {
    const format = formatOf(`offset ${zone}`, { timeZone: zone, timeZoneName: 'longOffset' })
    const name = format.formatToParts(instant).find(({ type }) => type === 'timeZoneName')?.value ?? ''
    const [, sign, hours, minutes = '0', seconds = '0'] =
      /GMT(?:([+-])(\d+)(?::(\d+))?(?::(\d+))?)?$/.exec(name) ?? []
    if (sign === undefined) return 0
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1_000
    return sign === '-' ? -ms : ms
  } catch {
    return undefined
  }
}

/** The value of a `datetime-local` input in the viewer's zone, and back. */
export function toLocalInput(instant: number | null): string {
  if (instant === null) return ''
  const offset = new Date(instant).getTimezoneOffset() * 60_000
  return new Date(instant - offset).toISOString().slice(0, 19)
}

export function fromLocalInput(text: string): number | undefined {
  return text === '' ? undefined : new Date(text).getTime()
}
