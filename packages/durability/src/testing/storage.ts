import { AlarmCalls } from './alarm-calls.ts'
import type { CostCounter } from './costs.ts'
import type { CrashPlan } from './crash-plan.ts'
import { SimulatedCursor } from './cursor.ts'
import type { ExecObserver } from './database.ts'
import { SimulatedCrash } from './errors.ts'
import type { SimulatedFaults } from './faults.ts'
import { KeyedCalls, SimulatedKv } from './kv.ts'
import { KvTable } from './kv-table.ts'
import { type Life, never } from './life.ts'
import { notSimulated } from './not-simulated.ts'
import type { AlarmCallTiming } from './object-options.ts'
import type { DurableStore } from './store.ts'
import { Transactions } from './transactions.ts'

export interface StorageParts {
  readonly life: Life
  readonly store: DurableStore
  readonly plan: CrashPlan
  readonly costs: CostCounter
  readonly faults: SimulatedFaults
  readonly alarmCalls: AlarmCallTiming
}

/** `ctx.storage` of one instance. After the instance's death it does nothing: calls throw, awaits never resolve. */
export class SimulatedStorage implements DurableObjectStorage {
  readonly sql: SqlStorage
  readonly kv: SimulatedKv
  readonly #parts: StorageParts
  readonly #observer: ExecObserver
  readonly #alarms: AlarmCalls
  readonly #keyed: KeyedCalls
  readonly #transactions: Transactions

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
      // Named by code that asks what something is an instance of; nobody can construct one.
      Cursor: SimulatedCursor as unknown as SqlStorage['Cursor'],
      Statement: class {},
    }
    const table = new KvTable(store.database, this.#observer)
    this.kv = new SimulatedKv(table, life)
    this.#keyed = new KeyedCalls(table, life)
    this.#alarms = new AlarmCalls(parts, () => this.#wrote())
    this.#transactions = new Transactions(life, store, this)
  }

  transactionSync<T>(write: () => T): T {
    this.#refuseDead()
    return this.#parts.store.transaction(this.#parts.life, write)
  }

  /** Nothing but what is in `closure` is written in the transaction: everything from outside waits until it has ended. */
  transaction<T>(closure: (txn: DurableObjectTransaction) => Promise<T>): Promise<T> {
    return this.#parts.life.buried ? never() : this.#transactions.run(closure)
  }

  getAlarm(): Promise<number | null> {
    return this.#alarms.getAlarm()
  }

  /** A time in the past counts as now. */
  setAlarm(scheduledTime: number | Date): Promise<void> {
    return this.#alarms.setAlarm(scheduledTime)
  }

  deleteAlarm(): Promise<void> {
    return this.#alarms.deleteAlarm()
  }

  get<T = unknown>(key: string, options?: DurableObjectGetOptions): Promise<T | undefined>
  get<T = unknown>(keys: string[], options?: DurableObjectGetOptions): Promise<Map<string, T>>
  // What a key holds is for the caller to know; the same goes for the methods below.
  get<T>(key: string | string[]): Promise<T | undefined> & Promise<Map<string, T>> {
    return this.#keyed.get(key) as Promise<T | undefined> & Promise<Map<string, T>>
  }

  put<T>(key: string, value: T, options?: DurableObjectPutOptions): Promise<void>
  put<T>(entries: Record<string, T>, options?: DurableObjectPutOptions): Promise<void>
  put(key: string | Record<string, unknown>, value?: unknown): Promise<void> {
    return this.#keyed.put(key, value)
  }

  delete(key: string, options?: DurableObjectPutOptions): Promise<boolean>
  delete(keys: string[], options?: DurableObjectPutOptions): Promise<number>
  delete(key: string | string[]): Promise<boolean> & Promise<number> {
    return this.#keyed.delete(key) as Promise<boolean> & Promise<number>
  }

  list<T = unknown>(options?: DurableObjectListOptions): Promise<Map<string, T>> {
    return this.#keyed.list(options) as Promise<Map<string, T>>
  }

  /** Resolves once this turn's writes are committed, in a turn of its own. */
  sync(): Promise<void> {
    return this.#parts.life.laterTurn('sync', () => undefined)
  }

  /** Removes all tables, all values and the alarm. As in the runtime it is durable at once, and no part of a turn. */
  deleteAll(): Promise<void> {
    const { life, store, plan } = this.#parts
    if (life.buried) return never()
    if (store.isHeld || store.isInTransactionSync) {
      return Promise.reject(new Error('Cannot call deleteAll() within a transaction'))
    }
    const crash = life.dead ? undefined : plan.write()
    if (crash === 'before') life.kill()
    store.begin(life)
    store.wrote(false)
    store.deleteAll(life)
    if (crash === 'after') life.kill()
    return life.laterTurn('deleteAll', () => undefined)
  }

  getCurrentBookmark(): never {
    throw notSimulated('storage.getCurrentBookmark()')
  }

  getBookmarkForTime(): never {
    throw notSimulated('storage.getBookmarkForTime()')
  }

  onNextSessionRestoreBookmark(): never {
    throw notSimulated('storage.onNextSessionRestoreBookmark()')
  }

  #exec<Row extends Record<string, SqlStorageValue>>(
    query: string,
    bindings: readonly unknown[],
  ): SimulatedCursor<Row> {
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

  #refuseDead(): void {
    if (this.#parts.life.buried) throw new SimulatedCrash()
  }
}
