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

/**
 * Where the one alarm belongs: an instant, or `null` for nowhere. An alarm that is right where it is costs nothing:
 * the answer then is that instant.
 */
export function alarmTarget({ now, exactAt, fallbackAt, armedAt, passOpen }: AlarmNeeds): number | null {
  // Outside a pass an alarm in the past is taken as lost: the platform may be backing off for minutes.
  const armed = armedAt != null && (armedAt > now || passOpen) ? armedAt : undefined
  const earliest = now + ALARM_AHEAD_MS
  const horizon = now + ALARM_HORIZON_MS

  if (fallbackAt !== undefined && fallbackAt < (exactAt ?? Number.POSITIVE_INFINITY)) {
    return armed !== undefined && armed <= fallbackAt ? armed : Math.max(fallbackAt, earliest)
  }
  if (exactAt === undefined) return null
  if (armed !== undefined) {
    // Work that is due while a pass is open waits for its end; so does the alarm that stood for it.
    if (exactAt <= now && armed <= now) return armed
    if (exactAt > horizon && armed > now + ALARM_HORIZON_MS / 2 && armed <= horizon) return armed
  }
  return Math.min(Math.max(exactAt, earliest), horizon)
}
