import { describeThrown } from './thrown.ts'

/**
 * Writes one JSON line to `console.error`. For what has no caller to throw at: a hook that failed, a write that will
 * be tried again, an outcome that is given up.
 */
export function report(event: string, error: unknown, details: object = {}): void {
  console.error(JSON.stringify({ event: `durability.${event}`, error: describeThrown(error), ...details }))
}

/** Calls a user's hook for its effect only: it may throw, reject or hang, and nothing else is changed by that. */
export function callHook<Argument>(
  hook: ((argument: Argument) => unknown) | undefined,
  argument: Argument,
): void {
  // An async function runs its first part, the call, at once.
  ;(async () => hook?.(argument))().catch((error: unknown) => report('hook_failed', error))
}
