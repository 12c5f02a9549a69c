import type { Clock } from './clock.ts'
import { describeThrown } from './thrown.ts'

/**
 * Writes one JSON line to `console.error`. For what has no caller to throw at: a hook that failed, a write that will
 * be tried again, an outcome that is given up.
 */
export function report(event: string, error: unknown, details: object = {}): void {
  log({ event: `durability.${event}`, ...details, error: describeThrown(error) })
}

/** The console may be replaced by one that throws, and whoever logs has work to end: a slot to free, a write to repeat. */
function log(event: object): void {
  const line = JSON.stringify(event)
  try {
    console.error(line)
  } catch {}
}

/** Calls a user's hook for its effect only: it may throw, reject or hang, and nothing else is changed by that. */
export function callHook<Argument>(
  hook: ((argument: Argument) => unknown) | null | undefined,
  argument: Argument,
): void {
  // An async function runs its first part, the call, at once.
  ;(async () => hook?.(argument))().catch((error: unknown) => report('hook_failed', error))
}

/**
 * Answers a function that tells the user's hook what happened to something. What is given up is also logged, as
 * `deadLetter`: it must be findable without a hook.
 */
export function eventsTo<About extends object, Details extends { readonly type: string }>(
  clock: Clock,
  hook: ((event: never) => unknown) | null,
  entityKind: string,
  deadLetter: string,
  identityOf: (about: About) => object = (about) => about,
): (about: About, details: Details) => void {
  return (about, details) => {
    const isLogged = details.type === 'dead_lettered'
    if (!hook && !isLogged) return
    const event = { entityKind, timestamp: clock.now(), ...identityOf(about), ...details }
    if (isLogged) log({ event: `durability.${deadLetter}`, ...event })
    // The caller names in its types what its hook is told.
    callHook(hook as ((argument: unknown) => unknown) | null, event)
  }
}
