import { checkText, checkType, integersOf } from '../core/checks.ts'
import { defaultDelay } from '../core/delays.ts'
import { ALARM_WALL_LIMIT_MS, MAX_ALARM_NAME_LENGTH } from '../core/limits.ts'
import type { DurabilityScheduler } from '../core/scheduler.ts'
import type { NamedAlarmEvent } from './events.ts'

/** What a handler is called with. */
export interface NamedAlarmInfo {
  readonly name: string
  /** Epoch ms, as given to `set`. */
  readonly scheduledTime: number
  /** From 1. */
  readonly attempt: number
  /** The same over the attempts of one occurrence. Deduplicate by it. */
  readonly idempotencyKey: string
  /** Aborted after `attemptTimeoutMs`. */
  readonly signal: AbortSignal
}

export type NamedAlarmHandler = (info: NamedAlarmInfo) => unknown

export interface NamedAlarmRetries {
  /** Attempts of one occurrence, the first included. From 1; default 5. */
  readonly maxAttempts?: number
  /** ms to wait after failed attempt number `attempt` (from 1). Default: 1 s doubling up to 5 minutes, half of it random. */
  readonly delay?: (attempt: number) => number
}

/** Settings that can differ by name. */
export interface NamedAlarmMethod {
  readonly retries?: NamedAlarmRetries
  /** ms after which an attempt counts as failed. Default 15 minutes. */
  readonly attemptTimeoutMs?: number
}

export interface DurabilityAlarmsOptions<Name extends string = string> extends NamedAlarmMethod {
  readonly scheduler: DurabilityScheduler
  /** What each name does. */
  readonly handlers: Readonly<Record<Name, NamedAlarmHandler>>
  /** Overrides of `retries` and `attemptTimeoutMs` for single names. */
  readonly methods?: Readonly<Partial<Record<Name, NamedAlarmMethod>>>
  /** Told what happens to alarms. Best effort. */
  readonly onLifecycleEvent?: (event: NamedAlarmEvent) => unknown
}

/** One name's handler with its settings. */
export interface NamedAlarmSettings {
  readonly handler: NamedAlarmHandler
  readonly maxAttempts: number
  readonly delay: (attempt: number) => number
  readonly attemptTimeoutMs: number
}

/** @throws TypeError or RangeError naming the option and its value. */
export function checkHandlers(options: DurabilityAlarmsOptions): Map<string, NamedAlarmSettings> {
  const { handlers, methods = {}, onLifecycleEvent } = options
  checkType('handlers', handlers, 'object')
  checkType('methods', methods, 'object')
  if (onLifecycleEvent !== undefined) checkType('onLifecycleEvent', onLifecycleEvent, 'function')
  const shared = checkMethod('', options, {
    maxAttempts: 5,
    delay: defaultDelay,
    attemptTimeoutMs: ALARM_WALL_LIMIT_MS,
  })
  const settings = new Map<string, NamedAlarmSettings>()
  for (const [name, handler] of Object.entries(handlers)) {
    checkText('handlers: a name', name, MAX_ALARM_NAME_LENGTH)
    checkType(`handlers.${name}`, handler, 'function')
    settings.set(name, { handler, ...shared })
  }
  for (const [name, method] of Object.entries(methods)) {
    const own = settings.get(name)
    if (own === undefined) throw new RangeError(`methods.${name} has no handler`)
    if (method !== undefined) settings.set(name, { ...own, ...checkMethod(`methods.${name}.`, method, own) })
  }
  return settings
}

type MethodSettings = Omit<NamedAlarmSettings, 'handler'>

function checkMethod(prefix: string, method: NamedAlarmMethod, byDefault: MethodSettings): MethodSettings {
  checkType(`${prefix}options`, method, 'object')
  const { retries = {} } = method
  checkType(`${prefix}retries`, retries, 'object')
  const { delay = byDefault.delay } = retries
  checkType(`${prefix}retries.delay`, delay, 'function')
  return {
    delay,
    ...integersOf(retries, { maxAttempts: [byDefault.maxAttempts] }, `${prefix}retries.`),
    ...integersOf(method, { attemptTimeoutMs: [byDefault.attemptTimeoutMs] }, prefix),
  }
}
