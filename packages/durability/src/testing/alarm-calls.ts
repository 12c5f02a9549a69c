import type { SimulatedSeam } from './crash-plan.ts'
import { never } from './life.ts'
import type { StorageParts } from './storage.ts'
import { NO_ALARM } from './store.ts'

/** Documented is that no alarm is held after the year 2189; what the runtime refuses begins later. */
const LATEST_ALARM_AT = 7_000_000_000_000

/** `getAlarm`, `setAlarm` and `deleteAlarm` of one instance's storage. */
export class AlarmCalls {
  readonly #parts: StorageParts
  readonly #wrote: () => void

  constructor(parts: StorageParts, wrote: () => void) {
    this.#parts = parts
    this.#wrote = wrote
  }

  getAlarm(): Promise<number | null> {
    const { at, delivering, isStale } = this.#parts.store.alarm
    return this.#resolved('getAlarm', delivering && !isStale ? null : at)
  }

  setAlarm(scheduledTime: number | Date): Promise<void> {
    const { life, store, faults, costs } = this.#parts
    if (life.buried) return never()
    const refusal = refusedTime(scheduledTime) ?? (life.dead ? undefined : faults.onSetAlarm())
    if (refusal !== undefined) return Promise.reject(refusal)
    store.begin(life)
    const at = Math.max(Math.floor(Number(scheduledTime)), life.clock.now())
    store.setAlarm({ at, delivering: false })
    if (!life.dead) costs.add('alarmsSet', 1)
    this.#wrote()
    return this.#resolved('setAlarm', undefined)
  }

  deleteAlarm(): Promise<void> {
    const { life, store, costs } = this.#parts
    if (life.buried) return never()
    if (store.alarm.at !== null) {
      store.begin(life)
      store.setAlarm(NO_ALARM)
      if (!life.dead) costs.add('alarmsDeleted', 1)
      this.#wrote()
    }
    return this.#resolved('deleteAlarm', undefined)
  }

  #resolved<T>(kind: SimulatedSeam['kind'], value: T): Promise<T> {
    const { life, alarmCalls } = this.#parts
    return alarmCalls === 'same turn' ? life.sameTurn(kind, () => value) : life.laterTurn(kind, () => value)
  }
}

function refusedTime(scheduledTime: unknown): TypeError | undefined {
  if (typeof scheduledTime !== 'number' && !(scheduledTime instanceof Date)) {
    return new TypeError(
      "Failed to execute 'setAlarm' on 'DurableObjectStorage': parameter 1 is not of type 'date'.",
    )
  }
  const at = Math.floor(Number(scheduledTime))
  if (!Number.isFinite(at)) {
    return new TypeError('The value cannot be converted because it is not a valid Date.')
  }
  if (at <= 0) return new TypeError('setAlarm() cannot be called with an alarm time <= 0')
  return at > LATEST_ALARM_AT ? new TypeError("This API doesn't support dates after 2189.") : undefined
}
