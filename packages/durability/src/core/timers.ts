import { type Clock, MAX_TIMER_MS } from './clock.ts'

/** Resolves after `ms` of the runtime's own timer, whatever the wall clock does meanwhile. */
export function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(resolve, Math.min(ms, MAX_TIMER_MS))
  })
}

/**
 * Resolves once the clock has reached `at`: a timer may fire before the wall clock is there, and is then set again. A
 * clock that was set back meanwhile is not waited for.
 */
export async function waitUntil(clock: Clock, at: number): Promise<void> {
  let last = Number.POSITIVE_INFINITY
  for (let ms = at - clock.now(); ms > 0 && ms < last; ms = at - clock.now()) {
    last = ms
    await wait(clock, ms)
  }
}

/** Settles as `work` does, or as `late` answers when that takes longer than `ms`. The work itself goes on, unheeded. */
export function within<T>(
  clock: Clock,
  ms: number,
  work: Promise<T>,
  late: () => T | Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.setTimer(() => resolve(late()), ms)
    work.then(resolve, reject).finally(() => timer.cancel())
  })
}

/** The earlier of two times, or the shorter of two durations; `undefined` is never. */
export function earlier(one: number | undefined, other: number | undefined): number | undefined {
  return one === undefined || other === undefined ? (one ?? other) : Math.min(one, other)
}
