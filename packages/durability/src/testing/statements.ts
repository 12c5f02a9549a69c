import process from 'node:process'
import { type DatabaseSync, StatementSync } from 'node:sqlite'
import type { RawRow } from './cursor.ts'
import { isIntegerTooLarge, sqlError } from './sql-errors.ts'
import { MAX_PARAMETERS, type StatementText } from './sql-text.ts'

/** What node:sqlite binds; an object binds an `ArrayBuffer` where Node wants a view. */
export type BoundValue = string | number | null | Uint8Array

/** The values of a statement as node:sqlite wants them: those of named placeholders in one object, before the others. */
export type Bindings = readonly (BoundValue | Record<string, BoundValue>)[]

/** A prepared statement. What its columns are called is asked for only where it matters: it takes as long as to run it. */
export class Prepared {
  readonly statement: StatementSync
  #columnNames: readonly string[] | undefined

  constructor(statement: StatementSync) {
    statement.setReturnArrays(true)
    this.statement = statement
  }

  get columnNames(): readonly string[] {
    this.#columnNames ??= this.statement.columns().map((column) => column.name)
    return this.#columnNames
  }
}

/** Prepared statements of one database by their text, and which of them are still being read. */
export class StatementCache {
  readonly #sqlite: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()
  readonly #open = new Set<OpenRows>()
  readonly #isForgotten = new WeakSet<OpenRows>()

  constructor(sqlite: DatabaseSync) {
    if (!('setReturnArrays' in StatementSync.prototype)) {
      throw new Error(`durability/testing needs Node 22.16 or newer, not ${process.version}`)
    }
    this.#sqlite = sqlite
  }

  /** A statement that nobody is stepping through. */
  get(text: string): Prepared {
    const cached = this.#prepared.get(text)
    if (cached !== undefined) return cached
    const prepared = new Prepared(this.#sqlite.prepare(text))
    this.#prepared.set(text, prepared)
    return prepared
  }

  /** Starts reading. Until the rows are read to the end, the statement is theirs alone. */
  open(text: string, bindings: Bindings): OpenRows {
    const prepared = this.get(text)
    this.#prepared.delete(text)
    const rows = new OpenRows(this, text, prepared, bindings)
    this.#open.add(rows)
    return rows
  }

  /** The statement of a query that is over can be used again, unless its kind has been forgotten meanwhile. */
  giveBack(rows: OpenRows, text: string, prepared: Prepared): void {
    this.#open.delete(rows)
    if (!this.#isForgotten.has(rows)) this.#prepared.set(text, prepared)
  }

  /** The query once more, for integers that a number cannot hold. */
  restart(text: string, bindings: Bindings): Iterator<unknown> {
    const { statement } = new Prepared(this.#sqlite.prepare(text))
    statement.setReadBigInts(true)
    return statement.iterate(...spread(bindings))
  }

  /** Ends all reading: an open statement keeps a table from being dropped. Whoever reads on gets `error`, if given. */
  closeAll(error?: Error): void {
    for (const rows of [...this.#open]) rows.close(error)
  }

  /** What was prepared on a table whose creation is undone cannot be run again, nor prepared anew by node:sqlite. */
  forget(): void {
    this.#prepared.clear()
    for (const rows of this.#open) this.#isForgotten.add(rows)
  }
}

/** The rows of a running query. */
export class OpenRows implements Iterator<RawRow> {
  readonly #cache: StatementCache
  readonly #text: string
  readonly #prepared: Prepared
  readonly #bindings: Bindings
  #steps: Iterator<unknown>
  #taken = 0
  #ended = false
  #error: Error | undefined

  constructor(cache: StatementCache, text: string, prepared: Prepared, bindings: Bindings) {
    this.#cache = cache
    this.#text = text
    this.#prepared = prepared
    this.#bindings = bindings
    this.#steps = prepared.statement.iterate(...spread(bindings))
  }

  get columnNames(): readonly string[] {
    return this.#prepared.columnNames
  }

  next(): IteratorResult<RawRow> {
    if (this.#error !== undefined) throw this.#error
    if (this.#ended) return END
    try {
      const step = this.#step()
      if (step.done) {
        this.close()
        return END
      }
      this.#taken++
      // node:sqlite's types do not know that these rows are arrays.
      return { done: false, value: step.value as RawRow }
    } catch (error) {
      this.close()
      throw sqlError(error)
    }
  }

  return(): IteratorResult<RawRow> {
    this.close()
    return END
  }

  /** Ends the query; `next` throws `error` from now on, or has no more rows. */
  close(error?: Error): void {
    this.#error = error
    if (this.#ended) return
    this.#ended = true
    this.#steps.return?.()
    this.#cache.giveBack(this, this.#text, this.#prepared)
  }

  #step(): IteratorResult<unknown> {
    try {
      return this.#steps.next()
    } catch (error) {
      if (!isIntegerTooLarge(error)) throw error
      this.#steps.return?.()
      this.#steps = this.#cache.restart(this.#text, this.#bindings)
      for (let skipped = 0; skipped < this.#taken; skipped++) this.#steps.next()
      return this.#steps.next()
    }
  }
}

const END: IteratorResult<never> = { done: true, value: undefined }

/** The values of an `exec`. Throws for those that are refused whatever the query is. */
export function boundValues(values: readonly unknown[]): readonly BoundValue[] {
  return values.length === 0 ? NONE : values.map(toBound)
}

/** Why the runtime would not run the statement. */
export function refusalOf({ parameters, refusal }: StatementText): string | undefined {
  return parameters.length > MAX_PARAMETERS ? 'too many SQL variables: SQLITE_ERROR' : refusal
}

/** The values as node:sqlite wants them. */
export function bindingsOf({ parameters, hasNames }: StatementText, bound: readonly BoundValue[]): Bindings {
  if (!hasNames) return bound
  const named: Record<string, BoundValue> = {}
  for (const [index, name] of parameters.entries()) {
    if (name !== undefined) named[name] = bound[index] ?? null
  }
  return [named, ...bound.filter((_value, index) => parameters[index] === undefined)]
}

/** node:sqlite's types know the object for named placeholders only as an argument of its own. */
export function spread(bindings: Bindings): BoundValue[] {
  return bindings as BoundValue[]
}

const NONE: readonly BoundValue[] = []

/** What the types do not allow is turned into text, as the runtime does; `undefined` is null. */
function toBound(value: unknown): BoundValue {
  if (typeof value === 'string' || typeof value === 'number') return value
  if (value === null || value === undefined) return null
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  if (ArrayBuffer.isView(value)) return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  if (typeof value === 'bigint') throw new TypeError('Cannot convert a BigInt value to a number')
  if (typeof value === 'symbol') throw new TypeError('Cannot convert a Symbol value to a string')
  return String(value)
}
