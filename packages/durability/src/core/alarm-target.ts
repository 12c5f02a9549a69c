import { ALARM_AHEAD_MS, ALARM_HORIZON_MS, NEVER } from './limits.ts'

/**
 * Where the one alarm belongs, from what is known in one synchronous turn: an instant, or infinity for nowhere. An
 * alarm that is right where it is costs nothing: the answer then is that instant. All instants are epoch ms.
 *
 * @param exactAt the earliest time anything becomes due; it may have passed
 * @param fallbackAt any alarm up to here will do: it finds work in flight again should the instance die
 * @param armedAt the alarm as it stands; `undefined` when this instance does not know yet
 * @param passOpen the platform fires an alarm that passes while an invocation of `alarm()` is open when that ends
 */
export function alarmTarget(
  now: number,
  exactAt: number,
  fallbackAt: number,
  armedAt: number | undefined,
  passOpen: boolean,
): number {
  // Outside a pass an alarm in the past is taken as lost: the platform may be backing off for minutes.
  const armed = armedAt !== undefined && (armedAt > now || passOpen) ? armedAt : NEVER
  const earliest = now + ALARM_AHEAD_MS
  const horizon = now + ALARM_HORIZON_MS

  if (fallbackAt < exactAt) return armed <= fallbackAt ? armed : Math.max(fallbackAt, earliest)
  if (exactAt === NEVER) return NEVER
  // Work that is due while a pass is open waits for its end; so does the alarm that stood for it.
  if (exactAt <= now && armed <= now) return armed
  if (exactAt > horizon && armed > now + ALARM_HORIZON_MS / 2 && armed <= horizon) return armed
  return Math.min(Math.max(exactAt, earliest), horizon)
}
