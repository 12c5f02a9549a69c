import type { Clock, Timer } from 'durability'

/** Time goes on between the question how long a timer is to be and the setting of it. */
const SLACK_MS = 1_000

/** Limits of runs and passes are longer: an hour of ticks passes in a second, and they are not to end any. */
const LONGEST_FIRED_MS = 5 * 60_000

/**
 * The wall clock, which can be moved on: so that thousands of ticks, minutes apart, follow each other at once. Times
 * and timers are the runtime's own, for what they cost is part of what a schedule costs.
 */
export class BenchClock implements Clock {
  #aheadMs = 0
  readonly #timers = new Set<PendingTimer>()

  now(): number {
    return Date.now() + this.#aheadMs
  }

  setTimer(fire: () => void, delayMs: number): Timer {
    const timers = this.#timers
    const timer: PendingTimer = {
      delayMs,
      dueAt: this.now() + delayMs,
      fire() {
        timer.cancel()
        fire()
      },
      cancel() {
        clearTimeout(id)
        timers.delete(timer)
      },
    }
    const id = setTimeout(timer.fire, delayMs)
    timers.add(timer)
    return timer
  }

  /** Moves the clock, and fires the timers that wait for a tick until then. */
  moveTo(at: number): void {
    this.#aheadMs = at - Date.now()
    for (const { delayMs, dueAt, fire } of [...this.#timers])
      if (delayMs <= LONGEST_FIRED_MS && dueAt <= at + SLACK_MS) fire()
  }
}

interface PendingTimer extends Timer {
  readonly delayMs: number
  readonly dueAt: number
  readonly fire: () => void
}
