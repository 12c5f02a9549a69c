import type { Life } from './life.ts'
import type { DurableStore, Savepoint } from './store.ts'

/** The part of `ctx.storage` that can be used by way of a transaction too. */
export type TransactionCalls = Pick<
  DurableObjectTransaction,
  'get' | 'put' | 'delete' | 'list' | 'getAlarm' | 'setAlarm' | 'deleteAlarm'
>

/** The asynchronous transactions of one instance: one after the other, and those within another at once. */
export class Transactions {
  readonly #life: Life
  readonly #store: DurableStore
  readonly #calls: TransactionCalls
  #last: Promise<unknown> = Promise.resolve()

  constructor(life: Life, store: DurableStore, calls: TransactionCalls) {
    this.#life = life
    this.#store = store
    this.#calls = calls
  }

  run<T>(closure: (txn: DurableObjectTransaction) => Promise<T>): Promise<T> {
    const { gate } = this.#life
    gate.close()
    const result = this.#store.isHeld ? this.#run(closure) : this.#last.then(() => this.#run(closure))
    const ended = result.then(
      () => gate.open(),
      () => gate.open(),
    )
    if (!this.#store.isHeld) this.#last = ended
    return result
  }

  async #run<T>(closure: (txn: DurableObjectTransaction) => Promise<T>): Promise<T> {
    const life = this.#life
    await life.laterTurn('transaction', () => undefined)
    const release = this.#store.hold(life)
    const txn = new Transaction(this.#store.savepoint(life), this.#calls)
    try {
      const result = await closure(txn)
      txn.commit()
      return result
    } catch (error) {
      txn.undo()
      throw error
    } finally {
      release()
      await life.laterTurn('transaction', () => undefined)
    }
  }
}

/** What the closure of `transaction()` is given. Its calls are those of storage: all are in the transaction anyway. */
class Transaction implements TransactionCalls {
  readonly #savepoint: Savepoint
  readonly #calls: TransactionCalls
  #isRolledBack = false

  constructor(savepoint: Savepoint, calls: TransactionCalls) {
    this.#savepoint = savepoint
    this.#calls = calls
  }

  // Each has the overloads of the call that it passes on.
  get get(): TransactionCalls['get'] {
    return this.#call('get')
  }

  get put(): TransactionCalls['put'] {
    return this.#call('put')
  }

  get delete(): TransactionCalls['delete'] {
    return this.#call('delete')
  }

  get list(): TransactionCalls['list'] {
    return this.#call('list')
  }

  get getAlarm(): TransactionCalls['getAlarm'] {
    return this.#call('getAlarm')
  }

  get setAlarm(): TransactionCalls['setAlarm'] {
    return this.#call('setAlarm')
  }

  get deleteAlarm(): TransactionCalls['deleteAlarm'] {
    return this.#call('deleteAlarm')
  }

  /** Undoes what the transaction has written; what its closure writes after that is kept. */
  rollback(): void {
    if (this.#isRolledBack) return
    this.#isRolledBack = true
    this.#savepoint.rollBack()
  }

  commit(): void {
    if (!this.#isRolledBack) this.#savepoint.release()
  }

  undo(): void {
    this.rollback()
  }

  #call<Name extends keyof TransactionCalls>(name: Name): TransactionCalls[Name] {
    if (!this.#isRolledBack) return this.#calls[name].bind(this.#calls) as TransactionCalls[Name]
    const refused = () => Promise.reject(new Error(`Cannot ${name}() on rolled back transaction`))
    return refused as unknown as TransactionCalls[Name]
  }
}
