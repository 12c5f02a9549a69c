import { checkDuration, checkFunction, checkInteger, checkObject, checkText } from '../core/checks.ts'
import { defaultDelay } from '../core/delays.ts'
import { ALARM_WALL_LIMIT_MS, MAX_ALARM_NAME_LENGTH, MAX_DURATION_MS } from '../core/limits.ts'
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
  checkObject('handlers', options.handlers)
  if (options.methods !== undefined) checkObject('methods', options.methods)
  checkFunction('onLifecycleEvent', options.onLifecycleEvent, false)
  const shared = checkMethod('', options)
  const settings = new Map<string, NamedAlarmSettings>()
  for (const [name, handler] of Object.entries(options.handlers)) {
    checkText('handlers: a name', name, MAX_ALARM_NAME_LENGTH)
    checkFunction(`handlers.${name}`, handler)
    const method = Object.hasOwn(options.methods ?? {}, name) ? options.methods?.[name] : undefined
    settings.set(name, {
      handler,
      ...resolve(shared, method === undefined ? {} : checkMethod(`methods.${name}.`, method)),
    })
  }
  for (const name of Object.keys(options.methods ?? {})) {
    if (!settings.has(name)) throw new RangeError(`methods.${name} has no handler of that name`)
  }
  return settings
}

function checkMethod(prefix: string, method: NamedAlarmMethod): NamedAlarmMethod {
  checkObject(`${prefix}options`, method)
  const { retries, attemptTimeoutMs } = method
  if (retries !== undefined) {
    checkObject(`${prefix}retries`, retries)
    if (retries.maxAttempts !== undefined) {
      checkInteger(`${prefix}retries.maxAttempts`, retries.maxAttempts, 1, MAX_DURATION_MS)
    }
    checkFunction(`${prefix}retries.delay`, retries.delay, false)
  }
  if (attemptTimeoutMs !== undefined) checkDuration(`${prefix}attemptTimeoutMs`, attemptTimeoutMs)
  return method
}

function resolve(shared: NamedAlarmMethod, own: NamedAlarmMethod): Omit<NamedAlarmSettings, 'handler'> {
  return {
    maxAttempts: own.retries?.maxAttempts ?? shared.retries?.maxAttempts ?? 5,
    delay: own.retries?.delay ?? shared.retries?.delay ?? defaultDelay,
    attemptTimeoutMs: own.attemptTimeoutMs ?? shared.attemptTimeoutMs ?? ALARM_WALL_LIMIT_MS,
  }
}
