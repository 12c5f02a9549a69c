import { vi } from 'vitest'

/** Polls until `holds` answers true; fails after `withinMs` of real time, whatever the clock of a test says. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + withinMs
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Not within ${withinMs} ms: ${what}`)
    await realTime(5)
  }
}

/** Lets that much real time pass: a window in which something must not happen, never a wait for something. */
export function realTime(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** A wall clock that stands still until it is moved. */
export interface FrozenClock {
  now(): number
  moveTo(at: number): void
  moveBy(ms: number): void
}

/**
 * Stops the wall clock at an instant years ahead. The platform's alarms keep real time, so none fires by itself: a
 * test decides when the object is called.
 */
export function freezeClock(at: number = FAR_AHEAD): FrozenClock {
  vi.useFakeTimers({ toFake: ['Date'], now: at })
  return {
    now: () => Date.now(),
    moveTo: (instant) => vi.setSystemTime(instant),
    moveBy: (ms) => vi.setSystemTime(Date.now() + ms),
  }
}

/** 2100-01-01T00:00:00Z: a whole minute, hour and day. */
export const FAR_AHEAD = 4_102_444_800_000

/** Puts the running wall clock that far from the real one; the platform's alarms and all timers keep real time. */
export function shiftClock(byMs: number): void {
  const offsetMs = Math.round(byMs)
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + offsetMs)
}

const realNow = Date.now.bind(Date)

/** How late the machine itself makes a timer of the same runtime: what a busy machine adds to every start. */
export interface LagProbe {
  /** Ends the probe; answers the largest lateness seen, ms. */
  stop(): number
}

export function probeLag(): LagProbe {
  let largest = 0
  let last = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    largest = Math.max(largest, now - last - 5)
    last = now
  }, 5)
  return {
    stop: () => {
      clearInterval(timer)
      return Math.max(largest, performance.now() - last - 5, 0)
    },
  }
}
