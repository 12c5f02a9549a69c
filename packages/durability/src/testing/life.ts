import type { Clock, Timer } from '../core/clock.ts'
import type { SimulatedClock } from './clock.ts'
import type { CostCounter } from './costs.ts'
import type { CrashPlan, SimulatedSeam } from './crash-plan.ts'
import { runAs } from './globals.ts'
import { InputGate } from './input-gate.ts'
import type { SimulatedLife } from './object-options.ts'
import type { TurnQueue } from './turns.ts'

/** What a life needs of the object that it is one instance of. */
export interface LifeHost {
  readonly clock: SimulatedClock
  readonly turns: TurnQueue
  readonly plan: CrashPlan
  readonly costs: CostCounter
  onDeath(life: Life): void
}

/** One instance from its construction to its crash: the only thing that dies, and everything that dies with it. */
export class Life implements SimulatedLife {
  /** The instance's clock. Its timers die with it. */
  readonly clock: Clock
  readonly gate: InputGate
  readonly #host: LifeHost
  readonly #timers = new Set<Timer>()
  readonly #mourners = new Set<() => void>()
  #dead = false
  #buried = false
  #reason: unknown

  constructor(host: LifeHost) {
    this.#host = host
    this.gate = new InputGate({ clock: host.clock, turns: host.turns, reset: (reason) => this.kill(reason) })
    this.clock = {
      now: () => host.clock.now(),
      setTimer: (fire, delayMs) => this.#setTimer(fire, delayMs),
    }
  }

  get dead(): boolean {
    return this.#dead
  }

  /** Dead, and its last turn is over: from now on its state refuses every call. */
  get buried(): boolean {
    return this.#buried
  }

  /** What the object itself died of; `undefined` for a crash from outside. */
  get reason(): unknown {
    return this.#reason
  }

  kill(reason?: unknown): void {
    if (this.#dead) return
    this.#dead = true
    this.#reason = reason
    for (const timer of this.#timers) timer.cancel()
    this.#timers.clear()
    this.gate.abandon()
    this.#host.onDeath(this)
    for (const mourn of this.#mourners) mourn()
    this.#mourners.clear()
  }

  bury(): void {
    this.#buried = true
  }

  crash(): Promise<never> {
    this.kill()
    return never()
  }

  /** Counts a seam, and dies at it when that is the plan. True when the instance lives on. */
  passSeam(kind: SimulatedSeam['kind'], name?: string): boolean {
    if (!this.#dead && this.#host.plan.seam(kind, name)) this.kill()
    return !this.#dead
  }

  seam(name: string): Promise<void> {
    return this.laterTurn('announced', () => undefined, name)
  }

  /** Runs code of this instance: timers that it sets by a global function are the instance's. */
  run<Result>(code: () => Result): Result {
    return runAs(this, code)
  }

  committed(): void {
    this.#host.costs.add('commits', 1)
  }

  guard<Args extends readonly unknown[], Result>(
    handler: (...args: Args) => Result | PromiseLike<Result>,
  ): (...args: Args) => Promise<Result> {
    return (...args) =>
      new Promise((resolve, reject) => {
        if (this.#dead) return
        const ifAlive =
          <T>(settle: (value: T) => void) =>
          (value: T): void => {
            if (!this.#dead) settle(value)
          }
        // The function given to a promise's constructor turns what the handler throws into a rejection.
        Promise.resolve(handler(...args)).then(ifAlive(resolve), ifAlive(reject))
      })
  }

  /** A promise that resolves within this turn, unless the instance dies first. */
  sameTurn<T>(kind: SimulatedSeam['kind'], value: () => T): Promise<T> {
    if (this.#dead) return never()
    return new Promise((resolve) => {
      queueMicrotask(() => {
        if (this.passSeam(kind)) resolve(value())
      })
    })
  }

  /** A promise that resolves in a turn of its own after this one, unless the instance dies first. */
  laterTurn<T>(kind: SimulatedSeam['kind'], value: () => T, name?: string): Promise<T> {
    if (this.#dead) return never()
    return new Promise((resolve) => {
      this.#host.turns.post(() => {
        if (this.passSeam(kind, name)) resolve(value())
      })
    })
  }

  /** Calls `mourn` once when the instance dies. Returns a function that takes the wish back. */
  onDeath(mourn: () => void): () => void {
    this.#mourners.add(mourn)
    return () => this.#mourners.delete(mourn)
  }

  #setTimer(fire: () => void, delayMs: number): Timer {
    if (this.#dead) return { cancel: () => undefined }
    const { closure } = this.gate
    const inner = this.#host.clock.setTimer(() => this.gate.pass(event, closure), delayMs)
    const event = (): void => {
      this.#timers.delete(timer)
      if (this.passSeam('timer')) this.#callBack(fire)
    }
    const timer: Timer = {
      cancel: () => {
        this.#timers.delete(timer)
        inner.cancel()
      },
    }
    this.#timers.add(timer)
    return timer
  }

  /** What a callback throws is the test's to see, but not the end of one that has just killed its instance. */
  #callBack(fire: () => void): void {
    try {
      this.run(fire)
    } catch (error) {
      if (!this.#dead) throw error
    }
  }
}

/** What a dead instance awaits. */
export function never(): Promise<never> {
  return new Promise(() => undefined)
}
