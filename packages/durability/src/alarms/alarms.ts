import { checkInteger, checkObject, checkText, shown } from '../core/checks.ts'
import { delayAfter } from '../core/delays.ts'
import type { SchedulerPort } from '../core/helper.ts'
import { MAX_ALARM_NAME_LENGTH, MAX_DUE_AT } from '../core/limits.ts'
import { persist } from '../core/persist.ts'
import { callHook, report } from '../core/report.ts'
import { type DescribedError, describeThrown } from '../core/thrown.ts'
import { within } from '../core/timers.ts'
import { AlarmTable, type PendingAlarm } from './alarm-table.ts'
import type { NamedAlarmEvent } from './events.ts'
import {
  checkHandlers,
  type DurabilityAlarmsOptions,
  type NamedAlarmInfo,
  type NamedAlarmSettings,
} from './options.ts'

/** What `get` answers. Instants are epoch ms. */
export interface NamedAlarm<Name extends string = string> {
  readonly name: Name
  readonly scheduledTime: number
  /** Attempts that were begun. */
  readonly attempt: number
  readonly nextAttemptAt: number
}

type Ending = { readonly error: unknown } | undefined

/**
 * Named one-shot alarms that share the object's alarm with everything else on its scheduler. Each occurrence runs at
 * least once: attempts are counted before they begin and retried with back-off, also over crashes.
 *
 * @throws TypeError or RangeError at construction, naming the option; Error when the scheduler has alarms already.
 */
export class DurabilityAlarms<Name extends string = string> {
  readonly #port: SchedulerPort
  readonly #table: AlarmTable
  readonly #settings: Map<string, NamedAlarmSettings>
  readonly #hook: ((event: NamedAlarmEvent) => unknown) | undefined
  /** Names with an attempt under way in this instance, or one that waits for a permit. */
  readonly #running = new Set<string>()
  /** How often a name without a handler came due in this instance. */
  readonly #missing = new Map<string, number>()

  constructor(options: DurabilityAlarmsOptions<Name>) {
    checkObject('options', options)
    checkObject('scheduler', options.scheduler)
    this.#settings = checkHandlers(options)
    this.#hook = options.onLifecycleEvent
    this.#port = options.scheduler.attach({
      name: 'alarms',
      nextAt: () => this.#nextAt(),
      run: (now) => this.#startDue(now),
    })
    this.#table = new AlarmTable(this.#port.context)
  }

  /**
   * Sets `name` for `at` (epoch ms; a past time runs at once), replacing what was pending under it. If it is running,
   * the handler finishes and the new occurrence runs after it. Written before the first await.
   *
   * Rejects with TypeError or RangeError for a name without a handler or a bad time.
   */
  async set(name: Name, at: number): Promise<void> {
    this.#checkKnown(name)
    checkInteger('at', at, 0, MAX_DUE_AT)
    this.#port.transaction(() => {
      this.#table.set({
        name,
        occurrence: crypto.randomUUID(),
        scheduledTime: at,
        attempt: 0,
        nextAttemptAt: at,
      })
    })
    this.#port.clearFailure()
    await this.#port.reconcile()
  }

  /** Removes what is pending under `name`; resolves to whether there was anything. A running handler finishes. */
  async cancel(name: Name): Promise<boolean> {
    const pending = this.#find(name)
    if (pending !== undefined) this.#port.transaction(() => this.#table.finish(pending))
    await this.#port.reconcile()
    return pending !== undefined
  }

  /** What is pending under `name`, a running occurrence included. */
  get(name: Name): NamedAlarm<Name> | undefined {
    const pending = this.#find(name)
    if (pending === undefined) return undefined
    const { scheduledTime, attempt, nextAttemptAt } = pending
    return { name, scheduledTime, attempt, nextAttemptAt }
  }

  /** A stored name whose handler is gone can still be read and cancelled. */
  #find(name: string): PendingAlarm | undefined {
    checkText('name', name, MAX_ALARM_NAME_LENGTH)
    const pending = this.#table.find(name)
    if (pending === undefined) this.#checkKnown(name)
    return pending
  }

  #checkKnown(name: string): void {
    checkText('name', name, MAX_ALARM_NAME_LENGTH)
    if (!this.#settings.has(name))
      throw new RangeError(`name must be one of the handlers, got ${shown(name)}`)
  }

  #nextAt(): number | undefined {
    let earliest: number | undefined
    for (const { name, nextAttemptAt } of this.#table.all()) {
      if (!this.#running.has(name)) earliest = Math.min(earliest ?? nextAttemptAt, nextAttemptAt)
    }
    return earliest
  }

  #startDue(now: number): void {
    for (const { name, nextAttemptAt } of this.#table.all()) {
      if (nextAttemptAt > now || this.#running.has(name)) continue
      this.#running.add(name)
      this.#port.hold(this.#attemptOnce(name))
    }
  }

  /** One attempt of whatever is due under the name by the time there is a permit. */
  async #attemptOnce(name: string): Promise<void> {
    const release = await this.#port.acquirePermit()
    try {
      const pending = this.#table.find(name)
      if (pending === undefined || pending.nextAttemptAt > this.#port.clock.now()) return
      const settings = this.#settings.get(name)
      if (settings === undefined) return this.#putOff(pending)
      await this.#attempt(pending, settings)
    } finally {
      release()
      this.#running.delete(name)
    }
  }

  async #attempt(pending: PendingAlarm, settings: NamedAlarmSettings): Promise<void> {
    const { clock, context } = this.#port
    if (pending.attempt >= settings.maxAttempts) {
      return this.#giveUp(pending, {
        name: 'AlarmInterruptedError',
        message: 'The object died during the last attempt',
      })
    }
    const attempt = pending.attempt + 1
    const delayMs = delayAfter('retries.delay', settings.delay, attempt)
    // Counted first: an attempt that kills the object is one that was made.
    this.#port.transaction(() => this.#table.update(pending, attempt, clock.now() + delayMs))
    await Promise.all([context.storage.sync(), this.#port.alarmTaken()])
    const counted = { ...pending, attempt }
    this.#emit(counted, { type: 'started' })
    const ending = await this.#call(counted, settings)
    if (ending === undefined) {
      await persist(this.#port, 'The end of an alarm', () => this.#table.finish(pending))
      this.#emit(counted, { type: 'completed' })
      return
    }
    const error = describeThrown(ending.error)
    if (attempt >= settings.maxAttempts) return this.#giveUp(counted, error)
    const nextAttemptAt = clock.now() + delayMs
    const kept = await persist(this.#port, 'A failed alarm', () =>
      this.#table.update(pending, attempt, nextAttemptAt),
    )
    if (kept) this.#emit(counted, { type: 'retry', error, nextAttemptAt })
  }

  async #call(pending: PendingAlarm, settings: NamedAlarmSettings): Promise<Ending> {
    const { attemptTimeoutMs, handler } = settings
    const controller = new AbortController()
    const { name, scheduledTime, attempt } = pending
    const info: NamedAlarmInfo = {
      name,
      scheduledTime,
      attempt,
      idempotencyKey: this.#keyOf(pending),
      signal: controller.signal,
    }
    try {
      const ended = await within(this.#port.clock, attemptTimeoutMs, (async () => handler(info))())
      if (!ended.late) return undefined
      const error = new AlarmTimeoutError(name, attemptTimeoutMs)
      controller.abort(error)
      return { error }
    } catch (error) {
      return { error }
    }
  }

  /** A deploy removed the handler: the alarm is kept for the one that brings it back. */
  #putOff(pending: PendingAlarm): void {
    const misses = (this.#missing.get(pending.name) ?? 0) + 1
    this.#missing.set(pending.name, misses)
    const nextAttemptAt =
      this.#port.clock.now() + delayAfter('retries.delay', () => 1_000 * 2 ** Math.min(misses, 12), misses)
    this.#port.transaction(() => this.#table.update(pending, pending.attempt, nextAttemptAt))
    const error = new Error(`No handler is named ${shown(pending.name)}`)
    report('durability.alarms.no_handler', 'The alarm is kept and tried again', error, {
      name: pending.name,
      nextAttemptAt,
    })
  }

  async #giveUp(pending: PendingAlarm, error: DescribedError): Promise<void> {
    await persist(this.#port, 'The end of an alarm', () => this.#table.finish(pending))
    const { name, scheduledTime, attempt } = pending
    const about = { name, scheduledTime, attempt, idempotencyKey: this.#keyOf(pending) }
    console.error(JSON.stringify({ event: 'durability.alarms.dead_lettered', ...about, error }))
    this.#emit(pending, { type: 'dead_lettered', error })
  }

  #keyOf({ name, occurrence }: PendingAlarm): string {
    return `${this.#port.context.id.toString()}:${name}:${occurrence}`
  }

  #emit(pending: PendingAlarm, what: EventDetails): void {
    const { name, scheduledTime, attempt } = pending
    const timestamp = this.#port.clock.now()
    const about = {
      entityKind: 'alarm' as const,
      name,
      idempotencyKey: this.#keyOf(pending),
      timestamp,
      scheduledTime,
      attempt,
    }
    callHook('onLifecycleEvent', this.#hook, { ...about, ...what })
  }
}

type EventDetails =
  | { readonly type: 'started' | 'completed' }
  | { readonly type: 'retry'; readonly error: DescribedError; readonly nextAttemptAt: number }
  | { readonly type: 'dead_lettered'; readonly error: DescribedError }

/** An attempt took longer than `attemptTimeoutMs`. The reason of its aborted `signal`; the attempt counts as failed. */
export class AlarmTimeoutError extends Error {
  override readonly name: string = 'AlarmTimeoutError'
  readonly code: string = 'alarm_timeout'

  constructor(name: string, timeoutMs: number) {
    super(`The handler of alarm ${shown(name)} exceeded its attemptTimeoutMs of ${timeoutMs}`)
  }
}
