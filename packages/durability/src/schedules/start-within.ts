import { StartTimeoutError } from './errors.ts'
import type { EngineParts } from './parts.ts'

/** Settles as the start does; rejects when it takes longer than `startTimeoutMs`, or when `late` resolves. */
export function startWithin<T>(
  { clock, startTimeoutMs }: EngineParts,
  late: Promise<unknown>,
  start: () => T | Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new StartTimeoutError(startTimeoutMs))
    const timer = clock.setTimer(giveUp, startTimeoutMs)
    late.then(giveUp, giveUp)
    // An async function runs its first part, the call, at once; what it throws is a rejection like any other.
    ;(async () => start())()
      .then(resolve, reject)
      .finally(() => timer.cancel())
  })
}
