import { describeThrown } from './thrown.ts'

/**
 * Writes one JSON line to `console.error`. For what has no caller to throw at: a hook that failed, a write that will
 * be tried again, an outcome that is given up.
 */
export function report(event: string, message: string, error: unknown, details: object = {}): void {
  console.error(JSON.stringify({ event, message, error: describeThrown(error), ...details }))
}

/** Calls a user's hook for its effect only: it may throw, reject or hang, and nothing else is changed by that. */
export function callHook<Argument>(
  name: string,
  hook: ((argument: Argument) => unknown) | undefined,
  argument: Argument,
): void {
  if (hook === undefined) return
  const failed = (error: unknown) =>
    report('durability.hook_failed', `${name} failed; nothing else changed`, error)
  try {
    const answer = hook(argument)
    if (isThenable(answer)) Promise.resolve(answer).catch(failed)
  } catch (error) {
    failed(error)
  }
}

/** Whether a user's function answered with something to wait for. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    'then' in value &&
    typeof value.then === 'function'
  )
}
