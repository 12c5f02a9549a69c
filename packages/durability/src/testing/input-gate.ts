import type { Timer } from '../core/clock.ts'
import type { SimulatedClock } from './clock.ts'
import type { TurnQueue } from './turns.ts'

/** The runtime resets an object that keeps its gate closed for longer. */
const MAX_CLOSED_MS = 30_000

export interface InputGateParts {
  readonly clock: SimulatedClock
  readonly turns: TurnQueue
  reset(reason: Error): void
}

/**
 * What comes from outside waits while `blockConcurrencyWhile` or an asynchronous transaction runs: requests, alarms,
 * and timers that were set before it began.
 */
export class InputGate {
  readonly #parts: InputGateParts
  readonly #waiting: (() => void)[] = []
  #closed = 0
  #closures = 0
  #limit: Timer | undefined

  constructor(parts: InputGateParts) {
    this.#parts = parts
  }

  get isClosed(): boolean {
    return this.#closed > 0
  }

  /** Names the closure that is going on, so that its own events can be told from others; 0 when there is none. */
  get closure(): number {
    return this.isClosed ? this.#closures : 0
  }

  close(): void {
    if (!this.isClosed) {
      this.#closures++
      this.#limit = this.#parts.clock.setTimer(() => this.#parts.reset(new Error(TOO_LONG)), MAX_CLOSED_MS)
    }
    this.#closed++
  }

  open(): void {
    this.#closed--
    if (this.isClosed) return
    this.#limit?.cancel()
    for (const event of this.#waiting.splice(0)) this.#parts.turns.post(() => this.pass(event))
  }

  /** The instance is gone: nothing passes any more. */
  abandon(): void {
    this.#limit?.cancel()
    this.#waiting.length = 0
  }

  /** Lets the event happen: now, or in a turn of its own once the gate is open. Those of the closure itself pass. */
  pass(event: () => void, closure = 0): void {
    if (this.isClosed && closure !== this.#closures) this.#waiting.push(event)
    else event()
  }
}

const TOO_LONG =
  'A call to blockConcurrencyWhile() in a Durable Object waited for too long. The call was canceled and the Durable Object was reset.'
