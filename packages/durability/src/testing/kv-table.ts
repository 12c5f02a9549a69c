import { deserialize, serialize } from 'node:v8'
import type { ExecObserver, SimulatedDatabase } from './database.ts'

/** The values kept by key, in a table that no object's SQL may use. It is created with the first value, as in the runtime. */
export class KvTable {
  readonly #database: SimulatedDatabase
  readonly #observer: ExecObserver

  constructor(database: SimulatedDatabase, observer: ExecObserver) {
    this.#database = database
    this.#observer = observer
  }

  get<T>(key: string): T | undefined {
    return this.find<T>(key)?.value
  }

  /** Tells a value that is `undefined` from none. */
  find<T>(key: string): { readonly value: T } | undefined {
    if (!this.#exists()) return undefined
    this.#observer.onRead(1)
    const [row] = this.#database.internal('SELECT value FROM _cf_KV WHERE key = ?', key)
    return row === undefined ? undefined : { value: fromBytes<T>(row[0]) }
  }

  put(key: string, value: unknown): void {
    const bytes = toBytes(value)
    this.#observer.onWriting()
    if (!this.#exists()) {
      this.#database.createInternal('CREATE TABLE _cf_KV (key TEXT PRIMARY KEY, value BLOB) WITHOUT ROWID')
    }
    this.#database.internal('INSERT OR REPLACE INTO _cf_KV VALUES (?, ?)', key, bytes)
    this.#observer.onWritten(1)
  }

  /** Whether there was such a key. */
  delete(key: string): boolean {
    if (!this.#exists()) return false
    this.#observer.onWriting()
    const deleted = this.#database.internal('DELETE FROM _cf_KV WHERE key = ? RETURNING 1', key).length > 0
    if (deleted) this.#observer.onWritten(1)
    return deleted
  }

  list<T>(options: SyncKvListOptions = {}): [string, T][] {
    const { start, startAfter, end, prefix, reverse, limit } = options
    if (start !== undefined && startAfter !== undefined) {
      throw new TypeError('list() cannot be called with both start and startAfter values.')
    }
    if (limit !== undefined && !(Math.floor(limit) > 0)) throw new TypeError('List limit must be positive.')
    if (!this.#exists()) return []
    const conditions = [
      start !== undefined && 'key >= ?',
      startAfter !== undefined && 'key > ?',
      end !== undefined && 'key < ?',
      prefix !== undefined && 'substr(key, 1, length(?)) = ?',
    ]
    const where = conditions.filter((condition) => condition !== false).join(' AND ') || 'true'
    const order = `ORDER BY key${reverse ? ' DESC' : ''} LIMIT ${limit === undefined ? -1 : Math.floor(limit)}`
    const values = [start, startAfter, end, prefix, prefix].filter((value) => value !== undefined).map(String)
    const rows = this.#database.internal(`SELECT key, value FROM _cf_KV WHERE ${where} ${order}`, ...values)
    this.#observer.onRead(rows.length)
    return rows.map(([key, value]) => [String(key), fromBytes<T>(value)])
  }

  #exists(): boolean {
    return this.#database.internal("SELECT 1 FROM sqlite_schema WHERE name = '_cf_KV'").length > 0
  }
}

function toBytes(value: unknown): Uint8Array {
  try {
    return serialize(value)
  } catch (error) {
    // What cannot be cloned is refused with the error that the platform has for it.
    structuredClone(value)
    throw error
  }
}

function fromBytes<T>(bytes: unknown): T {
  // The caller says what it has stored there; nothing can check it, here or in the runtime.
  return deserialize(bytes as Uint8Array) as T
}
