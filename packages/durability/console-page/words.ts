import cronstrue from 'cronstrue'
import type { ScheduleDescription } from './types.ts'

type Cadence = Pick<ScheduleDescription, 'cron' | 'everyMs' | 'timezone'>

/** "At 09:00, Monday through Friday, Europe/Berlin"; the cron itself where it has no words. */
export function cadenceInWords({ cron, everyMs, timezone }: Cadence): string {
  if (cron === null) return everyMs === null ? '' : `Every ${durationInWords(everyMs)}`
  return `${cronInWords(cron)}, ${timezone ?? 'UTC'}`
}

export function cronInWords(cron: string): string {
  try {
    return cronstrue.toString(cron, { use24HourTimeFormat: true })
  } catch {
    return cron
  }
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const

/** "15 minutes", "1 hour 30 minutes", "2.5 seconds". */
export function durationInWords(ms: number): string {
  const parts: string[] = []
  let left = ms
  for (const [unit, length] of UNITS) {
    const isLast = unit === 'second'
    const count = isLast ? left / length : Math.floor(left / length)
    left -= count * length
    if (count > 0) parts.push(`${Number(count.toFixed(3))} ${unit}${count === 1 ? '' : 's'}`)
  }
  return parts.length === 0 ? '0 seconds' : parts.join(' ')
}

/** A short form for charts: "12 ms", "3.4 s", "2 min", "1.5 h". */
export function shortDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`
  if (ms < 3_600_000) return `${Number((ms / 60_000).toFixed(1))} min`
  return `${Number((ms / 3_600_000).toFixed(1))} h`
}

const RELATIVE = new Intl.RelativeTimeFormat('en', { numeric: 'always', style: 'short' })

/** "in 5 min.", "2 hr. ago", "now". */
export function relativeTime(instant: number, now: number): string {
  const ms = instant - now
  for (const [unit, length] of UNITS) {
    if (Math.abs(ms) >= length) return RELATIVE.format(Math.trunc(ms / length), unit)
  }
  return 'now'
}
