import { ALARM_AHEAD_MS, ALARM_HORIZON_MS } from './limits.ts'

/** What is known in one synchronous turn about who needs the object when. Instants are epoch ms. */
export interface AlarmNeeds {
  readonly now: number
  /** The earliest time anything becomes due; it may have passed. */
  readonly exactAt: number | undefined
  /** Any alarm up to here will do: it finds work in flight again should the instance die. */
  readonly fallbackAt: number | undefined
  /** The alarm as it stands: `null` when there is none, `undefined` when this instance does not know yet. */
  readonly armedAt: number | null | undefined
  /** Whether an invocation of `alarm()` is open. The platform fires an alarm that passes meanwhile when it ends. */
  readonly passOpen: boolean
}

/** What to do with the physical alarm. `exact` tells whether the alarm then stands for what is due, not as a fallback. */
export type AlarmPlan =
  | { readonly action: 'keep' | 'delete'; readonly exact: boolean }
  | { readonly action: 'set'; readonly at: number; readonly exact: boolean }

/** Decides where the one alarm belongs. An alarm that is right where it is costs nothing: it is kept. */
export function planAlarm({ now, exactAt, fallbackAt, armedAt, passOpen }: AlarmNeeds): AlarmPlan {
  const armed = isAlive(armedAt, now, passOpen) ? armedAt : null
  const earliest = now + ALARM_AHEAD_MS
  const horizon = now + ALARM_HORIZON_MS

  if (fallbackAt !== undefined && (exactAt === undefined || exactAt > fallbackAt)) {
    if (armed !== null && armed <= fallbackAt) return { action: 'keep', exact: false }
    return { action: 'set', at: Math.max(fallbackAt, earliest), exact: false }
  }
  if (exactAt === undefined) {
    // An alarm this instance has not read yet is left to the next reconciliation: it may not be there at all.
    const standing = armedAt !== null && armedAt !== undefined
    return { action: standing ? 'delete' : 'keep', exact: true }
  }
  if (exactAt > horizon) {
    const farEnough = armed !== null && armed > now + ALARM_HORIZON_MS / 2 && armed <= horizon
    return farEnough ? { action: 'keep', exact: true } : { action: 'set', at: horizon, exact: true }
  }
  // Work that is due while a pass is open waits for its end; so does the alarm that stood for it.
  if (exactAt <= now && armed !== null && armed <= now) return { action: 'keep', exact: true }
  const at = Math.max(exactAt, earliest)
  return armed === at ? { action: 'keep', exact: true } : { action: 'set', at, exact: true }
}

/** Outside a pass an alarm in the past is taken as lost: the platform may be backing off for minutes. */
function isAlive(armedAt: number | null | undefined, now: number, passOpen: boolean): armedAt is number {
  return armedAt !== null && armedAt !== undefined && (armedAt > now || passOpen)
}
