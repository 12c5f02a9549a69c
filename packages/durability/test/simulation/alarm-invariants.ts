import { type Excuses, LATE_MS } from './excuses.ts'
import type { OutsideWorld } from './outside-world.ts'
import type { Settings } from './settings.ts'
import { RUNNING, type Stored, WAITING } from './stored.ts'
import { at } from './trace.ts'

/** How the object stands, where everything has settled. */
export interface Standing {
  readonly now: number
  readonly alarmAt: number | null
  readonly inAlarm: boolean
  readonly alive: boolean
  /** Calls of `alarm()` of the live instance that have not ended. */
  readonly openPasses: number
}

/** Invariant 6: what is not done will be, however the object dies now. */
export function checkAlarm(
  stored: Stored,
  standing: Standing,
  settings: Settings,
  outside: OutsideWorld,
  excuses: Excuses,
): void {
  const { now, alarmAt, inAlarm } = standing
  if (excuses.alarm || (inAlarm && alarmAt === null)) return
  if (outside.hasJustFailed(settings.minDelayMs)) return
  const wantedAt = wanted(stored, standing, settings, outside.hasActed)
  if (wantedAt === Number.POSITIVE_INFINITY) return
  if (alarmAt === null) outside.violate(`no alarm is armed, one is wanted at ${at(wantedAt)}`)
  else if (alarmAt > Math.max(wantedAt, now + 1)) {
    outside.violate(`the alarm at ${at(alarmAt)} is too late, it is wanted at ${at(wantedAt)}`)
  }
}

/** The latest time at which an alarm still keeps every promise, should the object die now. */
function wanted(
  { definition, runs, alarms }: Stored,
  standing: Standing,
  settings: Settings,
  hasActed: boolean,
): number {
  const { now, alive, openPasses } = standing
  const { minDelayMs, interruptedWithinMs } = settings
  const nextTime = definition?.nextTime ?? undefined
  const tickAt = nextTime === undefined ? undefined : nextTime + (definition?.jitterMs ?? 0)
  let wantedAt = tickAt ?? Number.POSITIVE_INFINITY
  // Within a pass, and after it was cut off, the next tick is soon enough; work outside one is held sooner.
  const isHeldOutside = alive && openPasses === 0 && hasActed
  for (const { nextAttemptAt, state } of runs) {
    if (tickAt === undefined || isHeldOutside) {
      wantedAt = Math.min(wantedAt, Math.max(nextAttemptAt, now + minDelayMs))
    }
    if (state === RUNNING) wantedAt = Math.min(wantedAt, now + interruptedWithinMs)
  }
  // While a pass is held, what comes due waits for its end.
  for (const { nextAttemptAt } of alarms)
    wantedAt = Math.min(wantedAt, Math.max(nextAttemptAt, now + minDelayMs))
  return wantedAt
}

/** What an open pass has to be doing: nothing that could go on waits. */
export function checkProgress(
  { runs }: Stored,
  { now, openPasses, alive }: Standing,
  settings: Settings,
  outside: OutsideWorld,
  excuses: Excuses,
): void {
  if (!alive || openPasses === 0 || excuses.alarm) return
  if (outside.hasJustFailed(settings.minDelayMs)) return
  let isAnyDue = false
  for (const { scheduledTime, state, nextAttemptAt } of runs) {
    const known = outside.runs.get(scheduledTime)
    if (known === undefined) continue
    if (state === WAITING && outside.inFlight < settings.maxConcurrentRuns) {
      outside.violate(`${at(scheduledTime)} waits, and a slot is free`)
    }
    if (state === RUNNING && known.invokedBy !== outside.instances) {
      outside.violate(`${at(scheduledTime)} is marked as running and is not`)
    }
    // Others may come first in the moment in which it is due; where a clock was set, its timer may be late.
    const isDue = nextAttemptAt + LATE_MS < now
    if (state > RUNNING && isDue && !known.troubles.has('clock')) isAnyDue = true
  }
  if (isAnyDue && settings.hasReceiver && !outside.receives) {
    outside.violate('an outcome is due, and nobody delivers')
  }
}
