import { type Clock, MAX_TIMER_MS, type Timer } from './clock.ts'

/**
 * Calls `fire` once the clock has reached `at`. A timer of the runtime may fire before the wall clock is there (two
 * clocks, a step back, a wait longer than a timer holds): the clock is read again and the rest is waited for.
 */
export function fireAt(clock: Clock, at: number, fire: () => void): Timer {
  let timer: Timer
  const wait = () => {
    timer = clock.setTimer(
      () => (clock.now() < at ? wait() : fire()),
      Math.min(Math.max(at - clock.now(), 1), MAX_TIMER_MS),
    )
  }
  wait()
  return { cancel: () => timer.cancel() }
}

/** Resolves once the clock has reached `at`. */
export function waitUntil(clock: Clock, at: number): Promise<void> {
  return new Promise((resolve) => {
    if (clock.now() >= at) resolve()
    else fireAt(clock, at, resolve)
  })
}

/** Resolves after `ms` of the runtime's own timer, whatever the wall clock does meanwhile. */
export function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(resolve, ms)
  })
}

/** What became of work with a time limit: `late` is true when the limit came first. */
export type Limited<T> = { readonly late: false; readonly value: T } | { readonly late: true }

/** Waits for `work`, at most `ms`. The work itself goes on; its rejection after the limit is the caller's to handle. */
export async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<Limited<T>> {
  let timer: Timer | undefined
  const limit = new Promise<Limited<T>>((resolve) => {
    timer = clock.setTimer(() => resolve({ late: true }), ms)
  })
  try {
    return await Promise.race([work.then((value): Limited<T> => ({ late: false, value })), limit])
  } finally {
    timer?.cancel()
  }
}
