import { MAX_GAP_MS } from './limits.ts'
import type { WallTimes } from './wall-clock.ts'
import type { Zone } from './zone.ts'

/** What the clock changes are applied to. */
export interface Schedule {
  readonly times: WallTimes
  readonly zone: Zone
  /** Whether each of its times of day runs once over a clock change, instead of as often as the clock shows it. */
  readonly fixed: boolean
}

// How far a match may be for the offset at hand to be tried on it, and how near the search is moved when it is
// further. Offsets of one zone differ by up to 26 hours (the date line), so NEAR holds BESIDE plus that much.
const NEAR_MS = 54 * 3_600_000
const BESIDE_MS = 27 * 3_600_000

const SECOND_MS = 1_000

/**
 * The first run later than `after`, whose wall time is looked for with the offset in force where the search stands.
 * Each round answers, crosses one clock change, or moves near a far match; so the rounds are bounded by the changes
 * in the window, and a schedule that only matches in gaps costs one round a year.
 */
export function nextRun(schedule: Schedule, after: number): number | undefined {
  const { times, zone, fixed } = schedule
  let at = Math.floor(after / SECOND_MS) * SECOND_MS
  let offset = zone.offsetAt(at)
  let wall = at + offset
  if (fixed) wall = Math.max(wall, endOfRepeat(zone, at) - SECOND_MS)
  for (;;) {
    const match = times.next(wall)
    if (match === undefined) return undefined
    const run = match - offset
    const change = zone.changeIn(at, Math.min(run, at + NEAR_MS))
    if (change === undefined) {
      if (run <= at + NEAR_MS) return run
      at = run - BESIDE_MS
      offset = zone.offsetAt(at)
      wall = at + offset
      continue
    }
    const before = offset
    offset = zone.offsetAt(change)
    const gap = offset - before
    if (fixed && gap > 0 && gap <= MAX_GAP_MS && match < change + offset) return change
    at = change
    // After a gap: on from its end. After an overlap: an interval goes through the repeat, a fixed time past it.
    wall = change + (fixed ? Math.max(before, offset) : offset) - SECOND_MS
  }
}

/** The last run earlier than `before`: the same search, towards the past. */
export function previousRun(schedule: Schedule, before: number): number | undefined {
  const { times, zone, fixed } = schedule
  let at = Math.ceil(before / SECOND_MS) * SECOND_MS - SECOND_MS
  let offset = zone.offsetAt(at)
  let wall = at + offset + SECOND_MS
  for (;;) {
    const match = times.previous(wall)
    if (match === undefined) return undefined
    const run = match - offset
    let change = zone.changeIn(Math.max(run, at - NEAR_MS), at)
    if (change === undefined && run < at - NEAR_MS) {
      at = run + BESIDE_MS
      offset = zone.offsetAt(at)
      wall = at + offset + SECOND_MS
      continue
    }
    if (change === undefined) {
      if (!fixed || match >= endOfRepeat(zone, run)) return run
      change = zone.changeIn(run - NEAR_MS, run)
      if (change === undefined) return run
    }
    const later = offset
    offset = zone.offsetAt(change - SECOND_MS)
    const gap = later - offset
    if (fixed && gap > 0 && gap <= MAX_GAP_MS && match >= change + offset) return change
    at = change - SECOND_MS
    wall = change + offset
  }
}

/** The wall time at which the repeat ends that `at` may lie in, after the clocks went back; else long past. */
function endOfRepeat(zone: Zone, at: number): number {
  const change = zone.changeIn(at - NEAR_MS, at)
  return change === undefined ? Number.NEGATIVE_INFINITY : change + zone.offsetAt(change - SECOND_MS)
}
