import { check, shown } from '../core/checks.ts'
import type { Registered, RegisteredHandler, RegisteredOutside } from './registered.ts'
import type { ScheduleStore } from './store.ts'

/** A function that is called in this object, alone or with options. */
export type HandlerWorkflow =
  | RegisteredHandler['handler']
  | {
      readonly handler: RegisteredHandler['handler']
      /** Throws to refuse an input. */
      readonly validate?: RegisteredHandler['validate']
      /** ms. Default: the engine's. */
      readonly runTimeoutMs?: number
    }

/** What can be registered under a name: a handler, `workflow(binding)` or `dispatch(send)`. */
export type WorkflowLike = HandlerWorkflow | RegisteredOutside

/**
 * @throws TypeError or RangeError naming the workflow and what is wrong; also when a handler is registered with a store
 * that belongs to no object: nothing could say whether its runs are alive.
 */
export function registeredOf(workflows: unknown, store: ScheduleStore): ReadonlyMap<string, Registered> {
  check('options.workflows', workflows, 'object')
  const registered = new Map<string, Registered>()
  for (const [name, given] of Object.entries(workflows as object)) {
    const at = `options.workflows[${shown(name)}]`
    check(`the name of ${at}`, name, 'string', 1, 200)
    const one = registeredAs(at, given)
    if (one.kind === 'handler' && store.boundTo === undefined) {
      throw new TypeError(
        `${at} is a handler, and the store ${shown(store.name)} belongs to no object that could run it`,
      )
    }
    registered.set(name, one)
  }
  return registered
}

function registeredAs(at: string, given: unknown): Registered {
  // What it was given for.
  if (typeof given === 'function') return { kind: 'handler', handler: given as RegisteredHandler['handler'] }
  check(at, given, 'object')
  const { kind, handler, validate, runTimeoutMs, start } = given as Partial<
    RegisteredOutside & RegisteredHandler
  >
  if (validate !== undefined) check(`${at}.validate`, validate, 'function')
  if (kind === 'workflow' || (kind as string) === 'dispatch') {
    check(`${at}.start`, start, 'function')
    return given as RegisteredOutside
  }
  check(`${at}.handler`, handler, 'function')
  if (runTimeoutMs !== undefined) check(`${at}.runTimeoutMs`, runTimeoutMs, 'number')
  return { kind: 'handler', handler: handler as RegisteredHandler['handler'], validate, runTimeoutMs }
}
