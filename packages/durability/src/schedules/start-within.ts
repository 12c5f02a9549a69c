import type { Clock } from '../core/clock.ts'
import { timerIfAny } from '../core/timers.ts'
import { StartTimeoutError } from './errors.ts'
import { STATUS_TIMEOUT_MS } from './limits.ts'
import type { EngineParts } from './parts.ts'
import type { OutsideStatus, Registered } from './registered.ts'

/** Settles as the start does; rejects when it takes longer than `startTimeoutMs`, or when `late` resolves. */
export function startWithin<T>(
  { clock, startTimeoutMs }: Pick<EngineParts, 'clock' | 'startTimeoutMs'>,
  late: Promise<unknown>,
  start: () => T | Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(new StartTimeoutError(startTimeoutMs))
    const timer = timerIfAny(clock, startTimeoutMs, giveUp)
    late.then(giveUp, giveUp)
    // An async function runs its first part, the call, at once; what it throws is a rejection like any other.
    ;(async () => start())()
      .then(resolve, reject)
      .finally(() => timer?.cancel())
  })
}

/** Resolves when `work` has settled, at the latest after `ms`. */
export function settledWithin(clock: Clock, ms: number, work: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const timer = timerIfAny(clock, ms, resolve)
    // The runtime allows 10,000 timeouts at once, and when it is busy they are late: none is left behind.
    const settled = () => {
      timer?.cancel()
      resolve()
    }
    work.then(settled, settled)
  })
}

/** What a run's Workflow says of it; `undefined` where nobody can be asked. Rejects when there is no answer in time. */
export async function statusWithin(
  { clock }: EngineParts,
  registered: Registered | undefined,
  runId: string,
): Promise<OutsideStatus | undefined> {
  if (registered === undefined || registered.kind === 'handler' || registered.status === undefined)
    return undefined
  const { status } = registered
  return startWithin({ clock, startTimeoutMs: STATUS_TIMEOUT_MS }, new Promise(() => {}), () => status(runId))
}
