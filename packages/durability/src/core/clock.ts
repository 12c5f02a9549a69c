/** A pending timer, with the one thing that can be done to it. */
export interface Timer {
  cancel(): void
}

/**
 * Where every class of this package takes its time from. The default is the runtime's own clock and timers; a test
 * passes one that moves only when told.
 */
export interface Clock {
  /** The current instant, epoch ms. */
  now(): number
  /** Calls `fire` once, not before `delayMs` from now by the runtime's timers (which may disagree with `now()`). */
  setTimer(fire: () => void, delayMs: number): Timer
}

/** A longer delay would overflow the runtime's 32-bit timer and fire at once. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1

/** The runtime's clock. Nothing else in this package reads the time or sets a timer. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(fire, delayMs) {
    const id = setTimeout(fire, Math.min(Math.max(delayMs, 0), MAX_TIMER_MS))
    return { cancel: () => clearTimeout(id) }
  },
}
