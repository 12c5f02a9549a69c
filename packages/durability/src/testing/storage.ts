import type { ObjectStorage, SqlValue } from '../core/state.ts'
import type { CostCounter } from './costs.ts'
import type { CrashPlan, SimulatedSeam } from './crash-plan.ts'
import type { SimulatedCursor } from './cursor.ts'
import type { ExecObserver } from './database.ts'
import { SimulatedCrash } from './errors.ts'
import type { SimulatedFaults } from './faults.ts'
import { type Life, never } from './life.ts'
import { type DurableStore, NO_ALARM } from './store.ts'

/** When the promises of the alarm calls resolve. */
export type AlarmCallTiming = 'same turn' | 'later turn'

export interface StorageParts {
  readonly life: Life
  readonly store: DurableStore
  readonly plan: CrashPlan
  readonly costs: CostCounter
  readonly faults: SimulatedFaults
  readonly alarmCalls: AlarmCallTiming
}

/** Documented is that no alarm is held after the year 2189; what the runtime refuses begins later. */
const LATEST_ALARM_AT = 7_000_000_000_000

/** `ctx.storage` of one instance. After the instance's death it does nothing: calls throw, awaits never resolve. */
export class SimulatedStorage implements ObjectStorage {
  readonly sql: {
    exec<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): SimulatedCursor<Row>
    readonly databaseSize: number
  }
  readonly #parts: StorageParts
  readonly #observer: ExecObserver

  constructor(parts: StorageParts) {
    this.#parts = parts
    const { life, store, costs } = parts
    this.#observer = {
      onWriting: () => store.begin(life),
      onWritten: (rows) => {
        if (!life.dead) costs.add('rowsWritten', rows)
        this.#wrote()
      },
      onRead: (rows) => {
        if (!life.dead) costs.add('rowsRead', rows)
      },
    }
    this.sql = {
      exec: (query, ...bindings) => this.#exec(query, bindings),
      get databaseSize() {
        return store.database.sizeInBytes
      },
    }
  }

  transactionSync<T>(write: () => T): T {
    this.#refuseDead()
    return this.#parts.store.transaction(this.#parts.life, write)
  }

  getAlarm(): Promise<number | null> {
    const { at, delivering } = this.#parts.store.alarm
    return this.#resolved('getAlarm', delivering ? null : at)
  }

  /** A time in the past counts as now. */
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

  /** Resolves once this turn's writes are committed, in a turn of its own. */
  sync(): Promise<void> {
    return this.#parts.life.laterTurn('sync', () => undefined)
  }

  /** Removes all tables and the alarm. */
  deleteAll(): Promise<void> {
    const { life, store } = this.#parts
    if (life.buried) return never()
    store.begin(life)
    store.database.dropAll()
    store.setAlarm(NO_ALARM)
    this.#wrote()
    return life.laterTurn('deleteAll', () => undefined)
  }

  #exec<Row extends Record<string, SqlValue>>(query: string, bindings: SqlValue[]): SimulatedCursor<Row> {
    this.#refuseDead()
    const { life, store, faults } = this.#parts
    const fault = life.dead ? undefined : faults.onExec(query)
    if (fault !== undefined) throw fault
    return store.database.exec(query, bindings, this.#observer)
  }

  /** Counts a durable write of the living and does what the crash plan says about it. */
  #wrote(): void {
    const { life, store, plan } = this.#parts
    if (life.dead) return
    const crash = plan.write()
    store.wrote(crash === 'after')
    if (crash === 'before') life.kill()
  }

  #resolved<T>(kind: SimulatedSeam['kind'], value: T): Promise<T> {
    const { life, alarmCalls } = this.#parts
    return alarmCalls === 'same turn' ? life.sameTurn(kind, () => value) : life.laterTurn(kind, () => value)
  }

  #refuseDead(): void {
    if (this.#parts.life.buried) throw new SimulatedCrash()
  }
}

function refusedTime(scheduledTime: number | Date): TypeError | undefined {
  const at = Number(scheduledTime)
  if (at > 0 && at <= LATEST_ALARM_AT) return undefined
  return new TypeError(
    `setAlarm() needs a time after 1970 began and before the year 2190, not "${scheduledTime}"`,
  )
}
