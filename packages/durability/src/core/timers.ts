import type { Clock, Timer } from './clock.ts'
import { NEVER } from './limits.ts'
import { callHook } from './report.ts'

/**
 * A timer that can be done without: the runtime allows 10,000 at once, and one that it refuses, because other code of the
 * object has them all, must stop neither a pass nor a run.
 */
export function timerIfAny(clock: Clock, ms: number, fire: () => void): Timer | undefined {
  try {
    return clock.setTimer(fire, ms)
  } catch {
    return undefined
  }
}

/** Resolves after `ms` of the runtime's own timer, whatever the wall clock does meanwhile. */
export function wait(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(resolve, ms)
  })
}

/**
 * Resolves once the clock has reached `at`: a timer may fire before the wall clock is there, and is then set again. A
 * clock that was set back meanwhile is not waited for.
 */
export async function waitUntil(clock: Clock, at: number): Promise<void> {
  let last = NEVER
  for (let ms = at - clock.now(); ms > 0 && ms < last; ms = at - clock.now()) {
    last = ms
    await wait(clock, ms)
  }
}

/**
 * Calls `handler` now, with `input` and a signal, and settles as it does, or rejects with the error of `late` when it
 * takes longer than `ms`. The handler itself goes on then, unheeded, with its signal aborted.
 *
 * Error and signal are made when somebody needs them: each costs as much as all the rest of this.
 */
export function within<Input extends object>(
  clock: Clock,
  ms: number,
  handler: (input: Input & { readonly signal: AbortSignal }) => unknown,
  late: () => Error,
  input: Input,
): Promise<unknown> {
  let made: AbortController | undefined
  const controller = () => (made ??= new AbortController())
  return new Promise((resolve, reject) => {
    const timer = timerIfAny(clock, ms, () => {
      const error = late()
      reject(error)
      // The runtime throws here what a listener of the signal throws.
      callHook(() => controller().abort(error), undefined)
    })
    // An async function runs its first part, the call, at once; what it throws is a rejection like any other.
    const call = async () =>
      handler({
        ...input,
        get signal() {
          return controller().signal
        },
      })
    call()
      .then(resolve, reject)
      .finally(() => timer?.cancel())
  })
}

/** The earliest of the next attempts, or never. There may be too many of them to be arguments of `Math.min`. */
export function earliest(items: readonly { readonly nextAttemptAt: number }[]): number {
  let at = NEVER
  for (const { nextAttemptAt } of items) at = Math.min(at, nextAttemptAt)
  return at
}
