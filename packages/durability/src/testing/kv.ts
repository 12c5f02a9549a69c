import { SimulatedCrash } from './errors.ts'
import type { KvTable } from './kv-table.ts'
import { type Life, never } from './life.ts'

/** `ctx.storage.kv`. */
export class SimulatedKv implements SyncKvStorage {
  readonly #table: KvTable
  readonly #life: Life

  constructor(table: KvTable, life: Life) {
    this.#table = table
    this.#life = life
  }

  get<T = unknown>(key: string): T | undefined {
    return this.#living().get<T>(keyOf('SyncKvStorage', 'get', key))
  }

  list<T = unknown>(options?: SyncKvListOptions): IterableIterator<[string, T]> {
    return this.#living().list<T>(options).values()
  }

  put<T>(key: string, value: T): void {
    this.#living().put(keyOf('SyncKvStorage', 'put', key), value)
  }

  delete(key: string): boolean {
    return this.#living().delete(keyOf('SyncKvStorage', 'delete', key))
  }

  #living(): KvTable {
    if (this.#life.buried) throw new SimulatedCrash()
    return this.#table
  }
}

const STORAGE = 'DurableObjectStorage'

type Key = string | readonly string[]

/** The calls of `ctx.storage`, and of a transaction, that take or give values by key. */
export class KeyedCalls {
  readonly #table: KvTable
  readonly #life: Life

  constructor(table: KvTable, life: Life) {
    this.#table = table
    this.#life = life
  }

  /** With several keys, a map of those that exist, in the order of the keys. */
  get(key: Key): Promise<unknown> {
    return this.#call('get', () => {
      if (!isSeveral(key)) return this.#table.get(keyOf(STORAGE, 'get', key))
      const found = new Map<string, unknown>()
      for (const one of key.map(String).sort(byBytes)) {
        const entry = this.#table.find(one)
        if (entry !== undefined) found.set(one, entry.value)
      }
      return found
    })
  }

  /** Of several, those that are `undefined` are left out. */
  put(key: string | Readonly<Record<string, unknown>>, value?: unknown): Promise<void> {
    return this.#call('put', () => {
      if (typeof key === 'object') {
        for (const [name, one] of Object.entries(key)) if (one !== undefined) this.#table.put(name, one)
      } else {
        if (value === undefined) throw new TypeError('put() called with undefined value.')
        this.#table.put(keyOf(STORAGE, 'put', key), value)
      }
    })
  }

  /** Whether the key existed; with several, how many did. */
  delete(key: Key): Promise<boolean | number> {
    return this.#call('delete', () =>
      isSeveral(key)
        ? key.filter((one) => this.#table.delete(String(one))).length
        : this.#table.delete(keyOf(STORAGE, 'delete', key)),
    )
  }

  list(options?: DurableObjectListOptions): Promise<Map<string, unknown>> {
    return this.#call('list', () => new Map(this.#table.list(options)))
  }

  /** In the same turn, as in the runtime: what fails rejects. */
  #call<T>(kind: 'get' | 'put' | 'delete' | 'list', work: () => T): Promise<T> {
    const life = this.#life
    if (life.buried) return never()
    try {
      const result = work()
      return life.sameTurn(kind, () => result)
    } catch (error) {
      return Promise.reject(error)
    }
  }
}

/** `null` is none of several, but a key like any other. */
function isSeveral(key: Key): key is readonly string[] {
  return typeof key === 'object' && key !== null
}

/** Anything but nothing is made a text of, as in the runtime. */
function keyOf(type: string, method: string, key: unknown): string {
  if (key !== undefined) return String(key)
  throw new TypeError(`Failed to execute '${method}' on '${type}': parameter 1 is not of type 'string'.`)
}

/** The order in which SQLite has the keys: that of their bytes. */
function byBytes(one: string, other: string): number {
  return Buffer.compare(Buffer.from(one), Buffer.from(other))
}
