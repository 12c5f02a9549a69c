import { formatError, formatInstant, formatValue } from './format.ts'
import { type Call, type Exec, FromNow, lineOf, type Program, type Step, type Take } from './program.ts'

/** What a program acts on: the object's own `ctx`, real or simulated. */
export type PlayedState = Pick<DurableObjectState, 'storage' | 'abort'>

/** How time goes on where the program is played. */
export interface PlayedTime {
  now(): number
  /** Resolves in a later turn. */
  turn(): Promise<void>
  /** Resolves long after the program has ended: what waits for nothing at all, the runtime ends. */
  forever(): Promise<void>
}

/** A step that was played, and what it gave. */
export interface Played {
  readonly line: string
  readonly result: string
}

/** The calls of storage, and of a transaction, that programs make. */
type Callable = Record<Call['method'], (...args: readonly unknown[]) => unknown>
type Cursor = SqlStorageCursor<Record<string, SqlStorageValue>>

/** What requests are rejected with whose program aborts. */
export const ABORTED = 'A program aborts'

/** Plays the steps of one request in one instance. */
export class Player {
  readonly #ctx: PlayedState
  readonly #played: Played[]
  readonly #time: PlayedTime
  /** A cursor that nobody holds would be ended whenever garbage is collected. */
  readonly #made: Cursor[] = []
  readonly #cursors = new Map<number, Cursor>()
  readonly #raws = new Map<Cursor, IterableIterator<unknown>>()
  #txn: DurableObjectTransaction | undefined

  constructor(ctx: PlayedState, played: Played[], time: PlayedTime) {
    this.#ctx = ctx
    this.#played = played
    this.#time = time
  }

  async play(steps: Program): Promise<void> {
    for (const step of steps) {
      try {
        this.#note(step, await this.#playAny(step))
      } catch (error) {
        this.#note(step, formatError(error))
        if (step.uncaught) throw error
      }
    }
  }

  /** Reads to their ends the cursors that the program has left, and waits until all is durable. */
  async close(): Promise<void> {
    for (const cursor of this.#made) {
      try {
        cursor.toArray()
      } catch {}
    }
    await this.#ctx.storage.sync()
  }

  /** Awaits only where the program does: a turn is not to end for any other reason. */
  #playAny(step: Step): string | Promise<string> {
    switch (step.kind) {
      case 'sync':
        return this.#ctx.storage.sync().then(() => 'done')
      case 'turn':
        return this.#time.turn().then(() => 'done')
      case 'abort':
        this.#note(step, 'aborted')
        return this.#abort()
      case 'transaction':
        return this.#transaction(step.body, step.end)
      case 'call':
        return step.awaited ? this.#awaited(step) : this.#playSync(step)
      default:
        return this.#playSync(step)
    }
  }

  /** Nothing runs after this in the runtime; in the simulation it must be seen to. */
  #abort(): Promise<never> {
    try {
      this.#ctx.abort(ABORTED)
    } catch {}
    return new Promise(() => undefined)
  }

  #playSync(step: Step): string {
    switch (step.kind) {
      case 'exec':
        return this.#take(this.#exec(step), step.take)
      case 'resume': {
        const cursor = this.#cursors.get(step.slot)
        return cursor === undefined ? 'no cursor' : this.#take(cursor, step.take)
      }
      case 'transactionSync':
        return this.#transactionSync(step.body, step.throws)
      case 'call':
        return this.#unawaited(step)
      default:
        throw new Error(`A program has "${step.kind}" where nothing can be awaited`)
    }
  }

  #transactionSync(body: readonly Step[], throws: boolean): string {
    return this.#ctx.storage.transactionSync(() => {
      for (const step of body) {
        try {
          this.#note(step, this.#playSync(step))
        } catch (error) {
          this.#note(step, formatError(error))
          if (step.uncaught) throw error
        }
      }
      if (throws) throw new RangeError('thrown')
      return 'returned'
    })
  }

  #transaction(body: readonly Step[], end: 'return' | 'throw' | 'rollback'): Promise<string> {
    const outer = this.#txn
    return this.#ctx.storage.transaction(async (txn) => {
      this.#txn = txn
      try {
        await this.play(body)
        if (end === 'rollback') txn.rollback()
        if (end === 'throw') throw new RangeError('thrown')
        return end
      } finally {
        this.#txn = outer
      }
    })
  }

  async #awaited(call: Call): Promise<string> {
    return resultOf(call, await this.#call(call), this.#time.now())
  }

  #unawaited(call: Call): string {
    const result = this.#call(call)
    if (!(result instanceof Promise)) return resultOf(call, result, this.#time.now())
    result.catch(() => undefined)
    return 'not awaited'
  }

  #call({ on, method, args }: Call): unknown {
    const { storage } = this.#ctx
    const target = (on === 'kv' ? storage.kv : on === 'txn' ? this.#txn : storage) as
      | Partial<Callable>
      | undefined
    const values = args.map((arg) => (arg instanceof FromNow ? arg.at(this.#time.now()) : arg))
    return target?.[method]?.(...values)
  }

  #exec({ sql, bindings, slot }: Exec): Cursor {
    // Of any type, as code without types would pass them.
    const cursor = this.#ctx.storage.sql.exec(sql, ...(bindings as SqlStorageValue[]))
    this.#made.push(cursor)
    if (slot !== undefined) this.#cursors.set(slot, cursor)
    return cursor
  }

  #take(cursor: Cursor, take: Take): string {
    switch (take) {
      case 'nothing':
        return take
      case 'toArray':
      case 'one':
      case 'next':
        return formatValue(cursor[take]())
      case 'columnNames':
      case 'rowsWritten':
        return formatValue(cursor[take])
      case 'rowsRead':
        // A search that finds nothing has a price too, which only SQLite knows.
        return cursor.toArray().length === 0 ? 'no rows' : formatValue(cursor.rowsRead)
      case 'break':
        return firstOf(cursor)
      default:
        return this.#takeRaw(cursor, take)
    }
  }

  #takeRaw(cursor: Cursor, take: 'raw' | 'raw next' | 'raw break'): string {
    const raw = this.#raws.get(cursor) ?? cursor.raw()
    this.#raws.set(cursor, raw)
    if (take === 'raw next') return formatValue(raw.next())
    return take === 'raw break' ? firstOf(raw) : formatValue([...raw])
  }

  #note(step: Step, result: string): void {
    this.#played.push({ line: lineOf(step), result })
  }
}

function resultOf({ method }: Call, result: unknown, now: number): string {
  if (method === 'getAlarm' && typeof result === 'number') return formatInstant(result, now)
  const isList = method === 'list' && !(result instanceof Map)
  return formatValue(isList ? [...(result as Iterable<unknown>)] : result)
}

function firstOf(rows: Iterable<unknown>): string {
  for (const row of rows) return formatValue(row)
  return 'no row'
}
