import { type Life, never } from './life.ts'
import { notSimulated } from './not-simulated.ts'
import { SimulatedStorage, type StorageParts } from './storage.ts'

/** `ctx` as one instance sees it. What has nothing to do with storage, alarms and crashes throws, by name. */
export class SimulatedState implements DurableObjectState {
  readonly id: SimulatedId
  readonly storage: SimulatedStorage
  readonly props: unknown = undefined
  readonly #life: Life

  constructor(id: string, parts: StorageParts) {
    this.id = new SimulatedId(id)
    this.storage = new SimulatedStorage(parts)
    this.#life = parts.life
  }

  /**
   * Runs `work` in a turn of its own; requests, alarms and older timers wait until it has ended. As in the runtime, a
   * failure resets the object.
   */
  async blockConcurrencyWhile<T>(work: () => Promise<T>): Promise<T> {
    const life = this.#life
    life.gate.close()
    try {
      await life.laterTurn('blockConcurrencyWhile', () => undefined)
      const result = await work()
      await life.laterTurn('blockConcurrencyWhile', () => undefined)
      return result
    } catch (error) {
      life.kill(error)
      return await never()
    } finally {
      life.gate.open()
    }
  }

  /** Ignored, as in an object, which stays alive for as long as it has work. */
  waitUntil(_promise: Promise<unknown>): void {}

  /**
   * Kills the instance: this turn's writes are lost, and nothing runs after the call, which throws. Requests that are
   * open are rejected with the reason; an alarm that was being handled has failed, and is retried.
   */
  abort(reason?: string): never {
    const error = new Error(reason ?? 'Application called abort() to reset Durable Object.')
    this.#life.kill(error)
    throw error
  }

  /** None: they cannot be accepted. */
  getWebSockets(_tag?: string): WebSocket[] {
    return []
  }

  get exports(): never {
    throw notSimulated('ctx.exports')
  }

  get facets(): never {
    throw notSimulated('ctx.facets')
  }

  acceptWebSocket(): never {
    throw notSimulated('ctx.acceptWebSocket()')
  }

  setWebSocketAutoResponse(): never {
    throw notSimulated('ctx.setWebSocketAutoResponse()')
  }

  getWebSocketAutoResponse(): never {
    throw notSimulated('ctx.getWebSocketAutoResponse()')
  }

  getWebSocketAutoResponseTimestamp(): never {
    throw notSimulated('ctx.getWebSocketAutoResponseTimestamp()')
  }

  setHibernatableWebSocketEventTimeout(): never {
    throw notSimulated('ctx.setHibernatableWebSocketEventTimeout()')
  }

  getHibernatableWebSocketEventTimeout(): never {
    throw notSimulated('ctx.getHibernatableWebSocketEventTimeout()')
  }

  getTags(): never {
    throw notSimulated('ctx.getTags()')
  }
}

/** Its text is its name, where the platform's is made of hexadecimal digits. */
class SimulatedId implements DurableObjectId {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }

  toString(): string {
    return this.name
  }

  equals(other: DurableObjectId): boolean {
    return String(other) === this.name
  }
}
