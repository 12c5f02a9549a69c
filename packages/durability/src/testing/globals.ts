import { AsyncLocalStorage } from 'node:async_hooks'
import type { Clock, Timer } from '../core/clock.ts'

/** An instance whose timers are its own. */
export interface Living {
  readonly clock: Clock
}

const GLOBALS = ['Date', 'setTimeout', 'clearTimeout', 'setInterval', 'clearInterval'] as const

/** Whose code is running, over its awaits. */
const running = new AsyncLocalStorage<Living>()
let isInstalled = false

/** Runs `code` such that timers set in it, by global functions, are those of `life`. */
export function runAs<Result>(life: Living, code: () => Result): Result {
  return isInstalled ? running.run(life, code) : code()
}

/** Replaces the globals that have to do with time. A timer set by nobody in particular belongs to `otherwise()`, if any. */
export function installGlobals(clock: Clock, otherwise: () => Living | undefined): () => void {
  if (isInstalled) {
    throw new Error(
      'The globals are those of a simulated world already: put them back before installing another',
    )
  }
  isInstalled = true
  const originals = GLOBALS.map((name) => [name, Object.getOwnPropertyDescriptor(globalThis, name)] as const)
  const timers = globalTimers(() => (running.getStore() ?? otherwise() ?? { clock }).clock)
  for (const [name, value] of Object.entries({ Date: simulatedDate(clock), ...timers })) {
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false })
  }
  let isBack = false
  return () => {
    if (isBack) return
    isBack = true
    isInstalled = false
    for (const [name, descriptor] of originals) {
      if (descriptor !== undefined) Object.defineProperty(globalThis, name, descriptor)
    }
  }
}

function simulatedDate(clock: Clock): DateConstructor {
  return new Proxy(Date, {
    construct: (date, args, newTarget) =>
      Reflect.construct(date, args.length === 0 ? [clock.now()] : args, newTarget),
    apply: (date) => new date(clock.now()).toString(),
    get: (date, name) => (name === 'now' ? () => clock.now() : Reflect.get(date, name)),
  })
}

type Callback = (...args: unknown[]) => void

/** As in Workers, a timer is known by a number. */
function globalTimers(clockOf: () => Clock) {
  const timers = new Map<number, Timer>()
  let last = 0
  const clear = (id: unknown): void => {
    if (typeof id !== 'number') return
    timers.get(id)?.cancel()
    timers.delete(id)
  }
  const set = (isRepeated: boolean, callback: Callback, delayMs: unknown, args: unknown[]): number => {
    const id = ++last
    const clock = clockOf()
    const everyMs = Math.max(Number(delayMs) || 0, isRepeated ? 1 : 0)
    const start = (): void => {
      const fire = (): void => {
        if (isRepeated) start()
        else timers.delete(id)
        callback(...args)
      }
      timers.set(id, clock.setTimer(fire, everyMs))
    }
    start()
    return id
  }
  return {
    setTimeout: (callback: Callback, delayMs?: unknown, ...args: unknown[]) =>
      set(false, callback, delayMs, args),
    setInterval: (callback: Callback, everyMs?: unknown, ...args: unknown[]) =>
      set(true, callback, everyMs, args),
    clearTimeout: clear,
    clearInterval: clear,
  }
}
