import type { ObjectState } from '../core/state.ts'
import type { Life } from './life.ts'
import { SimulatedStorage, type StorageParts } from './storage.ts'

/** `ctx` as one instance sees it: the parts of a `DurableObjectState` that storage, alarms and crashes touch. */
export class SimulatedState implements ObjectState {
  readonly id: { readonly name: string; toString(): string }
  readonly storage: SimulatedStorage
  readonly #life: Life
  #blocks = 0

  constructor(id: string, parts: StorageParts) {
    this.id = { name: id, toString: () => id }
    this.storage = new SimulatedStorage(parts)
    this.#life = parts.life
  }

  /** No alarm is delivered while one of these is pending. As in the runtime, a failure resets the object. */
  async blockConcurrencyWhile<T>(work: () => Promise<T>): Promise<T> {
    this.#blocks++
    try {
      return await work()
    } catch (error) {
      this.#life.kill()
      throw error
    } finally {
      this.#blocks--
    }
  }

  get blocked(): boolean {
    return this.#blocks > 0
  }

  /** Accepted and ignored, as in an object, which stays alive for as long as it has work. */
  waitUntil(_promise: Promise<unknown>): void {}

  /** Kills the instance; this turn's writes are lost. */
  abort(_reason?: string): void {
    this.#life.kill()
  }
}
