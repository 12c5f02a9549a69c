import { nextCronTime, previousCronTime } from '../cron/index.ts'
import { jitterOf } from './jitter.ts'

/** The part of a definition that says when. Instants are epoch ms. */
export interface Timing {
  readonly cron: string | null
  readonly everyMs: number | null
  readonly timezone: string | null
  readonly jitterMs: number
  /** Inclusive. */
  readonly startAt: number | null
  /** Exclusive. */
  readonly endAt: number | null
}

/** Epoch ms. Windows lie in what `durability/cron` answers. */
const FIRST_WINDOW = 0

/** The first window later than `after`, within the bounds; `null` when there is none. Nominal: without jitter. */
export function nextWindow(timing: Timing, after: number): number | null {
  const { cron, everyMs, timezone, startAt, endAt } = timing
  const from = Math.max(after, (startAt ?? FIRST_WINDOW) - 1, FIRST_WINDOW)
  const window =
    everyMs !== null
      ? (Math.floor(from / everyMs) + 1) * everyMs
      : nextCronTime(cron ?? '', from, { timezone: timezone ?? 'UTC' })
  if (window === undefined || (endAt !== null && window >= endAt)) return null
  return window
}

/** The last window earlier than `before`, within the bounds; `null` when there is none. */
export function previousWindow(timing: Timing, before: number): number | null {
  const { cron, everyMs, timezone, startAt, endAt } = timing
  const from = endAt === null ? before : Math.min(before, endAt)
  if (from <= FIRST_WINDOW) return null
  const window =
    everyMs !== null
      ? (Math.ceil(from / everyMs) - 1) * everyMs
      : previousCronTime(cron ?? '', from, { timezone: timezone ?? 'UTC' })
  if (window === undefined || window < (startAt ?? FIRST_WINDOW)) return null
  return window
}

/** When a window takes effect: its nominal time and its stable delay. */
export function effectiveAt(scheduleId: string, window: number, { jitterMs }: Timing): number {
  return window + jitterOf(scheduleId, window, jitterMs)
}

/**
 * The latest window whose effective time has passed at `now`, but none before `from`, which is a window that is due.
 * Found from `now` backwards: years of missed windows cost what one does.
 */
export function latestDueWindow(scheduleId: string, timing: Timing, from: number, now: number): number {
  let window = previousWindow(timing, now + 1)
  // Delays are shorter than the gaps between windows when the schedule is made, so few steps lead to one that has passed.
  while (window !== null && window > from) {
    if (effectiveAt(scheduleId, window, timing) <= now) return window
    window = previousWindow(timing, window)
  }
  return from
}

/** The shortest gap between the `count` + 1 windows after `after`; `null` when there are not two of them. */
export function shortestGap(timing: Timing, after: number, count: number): number | null {
  let shortest: number | null = null
  let window = nextWindow(timing, after)
  for (let gap = 0; gap < count && window !== null; gap += 1) {
    const next = nextWindow(timing, window)
    if (next !== null) shortest = Math.min(shortest ?? Number.POSITIVE_INFINITY, next - window)
    window = next
  }
  return shortest
}
