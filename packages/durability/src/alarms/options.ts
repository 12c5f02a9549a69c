import { check, type OptionRules, optionsOf } from '../core/checks.ts'
import { ALARM_WALL_LIMIT_MS, MAX_ALARM_NAME_LENGTH } from '../core/limits.ts'
import { defaultDelay, type Retries, retryRules } from '../core/retries.ts'
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

/** The options, checked and with their defaults. */
export interface AlarmsSettings extends MethodSettings {
  readonly scheduler: DurabilityScheduler
  readonly handlers: object
  readonly methods: object
  readonly onLifecycleEvent: ((event: NamedAlarmEvent) => unknown) | null
}

interface MethodSettings {
  readonly retries: Retries
  readonly attemptTimeoutMs: number
}

/** One name's handler with its settings. */
export interface HandlerSettings extends MethodSettings {
  readonly handler: NamedAlarmHandler
}

/** @throws TypeError or RangeError naming the option and its value. */
export function settingsOf(options: unknown): AlarmsSettings {
  return optionsOf<AlarmsSettings>(options, {
    scheduler: ['object'],
    handlers: ['object'],
    methods: ['object', {}],
    onLifecycleEvent: ['function', null],
    ...methodRules({
      retries: { maxAttempts: 5, delay: defaultDelay },
      attemptTimeoutMs: ALARM_WALL_LIMIT_MS,
    }),
  })
}

/** The settings of each name. @throws TypeError or RangeError naming the option and its value. */
export function handlersOf({ handlers, methods, ...shared }: AlarmsSettings): Map<string, HandlerSettings> {
  const settings = new Map<string, HandlerSettings>()
  for (const [name, handler] of Object.entries(handlers)) {
    check(`handlers.${name}`, name, 'string', 0, MAX_ALARM_NAME_LENGTH)
    check(`handlers.${name}`, handler, 'function')
    settings.set(name, { handler, ...shared })
  }
  for (const [name, method = {}] of Object.entries(methods)) {
    const own = settings.get(name)
    if (!own) throw new RangeError(`methods.${name} has no handler`)
    settings.set(name, { ...own, ...optionsOf(method, methodRules(own), `methods.${name}`) })
  }
  return settings
}

function methodRules({ retries, attemptTimeoutMs }: MethodSettings): OptionRules<MethodSettings> {
  return { retries: retryRules(retries), attemptTimeoutMs: ['number', attemptTimeoutMs] }
}
