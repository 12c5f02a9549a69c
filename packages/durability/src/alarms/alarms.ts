import { checkInteger, checkText, checkType, shown } from '../core/checks.ts'
import { delayAfter } from '../core/delays.ts'
import { DurabilityError } from '../core/errors.ts'
import type { SchedulerPort } from '../core/helper.ts'
import { MAX_ALARM_NAME_LENGTH, MAX_DUE_AT } from '../core/limits.ts'
import { persist } from '../core/persist.ts'
import { callHook, report } from '../core/report.ts'
import { exponential } from '../core/retry.ts'
import { describeThrown } from '../core/thrown.ts'
import { earlier, within } from '../core/timers.ts'
import { AlarmTable, type PendingAlarm } from './alarm-table.ts'
import type { NamedAlarmEvent, NamedAlarmEventDetails } from './events.ts'
import { checkHandlers, type DurabilityAlarmsOptions, type NamedAlarmSettings } from './options.ts'

/** What `get` answers. Instants are epoch ms. */
export interface NamedAlarm<Name extends string = string> {
  readonly name: Name
  readonly scheduledTime: number
  /** Attempts that were begun. */
  readonly attempt: number
  readonly nextAttemptAt: number
}

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
  /** Times at which names without a handler came due in this instance. */
  #missed = 0

  constructor(options: DurabilityAlarmsOptions<Name>) {
    checkType('options', options, 'object')
    checkType('scheduler', options.scheduler, 'object')
    this.#settings = checkHandlers(options)
    this.#hook = options.onLifecycleEvent
    this.#port = options.scheduler.attach({
      name: 'alarms',
      nextAt: () =>
        this.#idle().reduce<number | undefined>(
          (at, { nextAttemptAt }) => earlier(at, nextAttemptAt),
          undefined,
        ),
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
    this.#port.transaction(() => this.#table.set(name, at))
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
    const pending = typeof name === 'string' ? this.#table.find(name) : undefined
    if (pending === undefined) this.#checkKnown(name)
    return pending
  }

  #checkKnown(name: string): void {
    checkText('name', name, MAX_ALARM_NAME_LENGTH)
    if (!this.#settings.has(name))
      throw new RangeError(`name must be one of the handlers, got ${shown(name)}`)
  }

  /** What no attempt of this instance is looking after. */
  #idle(): PendingAlarm[] {
    return this.#table.all().filter(({ name }) => !this.#running.has(name))
  }

  #startDue(now: number): void {
    for (const { name, nextAttemptAt } of this.#idle()) {
      if (nextAttemptAt > now) continue
      this.#running.add(name)
      this.#port.hold(this.#runDue(name))
    }
  }

  /** One attempt of whatever is due under the name by the time there is a permit. */
  async #runDue(name: string): Promise<void> {
    const release = await this.#port.acquirePermit()
    try {
      const pending = this.#table.find(name)
      if (pending !== undefined && pending.nextAttemptAt <= this.#port.clock.now())
        await this.#attempt(pending)
    } finally {
      release()
      this.#running.delete(name)
    }
  }

  async #attempt(pending: PendingAlarm): Promise<void> {
    const { clock, context, transaction } = this.#port
    const { name } = pending
    const settings = this.#settings.get(name)
    if (settings === undefined) {
      // A deploy removed the handler: the alarm is kept for the one that brings it back.
      this.#missed += 1
      const retryAt = clock.now() + exponential(this.#missed)
      transaction(() => this.#table.update(pending, pending.attempt, retryAt))
      return report('alarms.no_handler', new Error(`No handler is named ${shown(name)}`), { name, retryAt })
    }
    if (pending.attempt >= settings.maxAttempts)
      return this.#giveUp(pending, new Error('The object died during the last attempt'))
    const attempt = pending.attempt + 1
    const delayMs = delayAfter(settings.delay, attempt)
    // Counted first: an attempt that kills the object is one that was made.
    transaction(() => this.#table.update(pending, attempt, clock.now() + delayMs))
    await context.storage.sync()
    const counted = { ...pending, attempt }
    this.#emit(counted, { type: 'started' })
    try {
      await this.#call(counted, settings)
    } catch (error) {
      if (attempt >= settings.maxAttempts) return this.#giveUp(counted, error)
      const nextAttemptAt = clock.now() + delayMs
      const isKept = await persist(this.#port, () => this.#table.update(pending, attempt, nextAttemptAt))
      if (isKept) this.#emit(counted, { type: 'retry', error: describeThrown(error), nextAttemptAt })
      return
    }
    await persist(this.#port, () => this.#table.finish(pending))
    this.#emit(counted, { type: 'completed' })
  }

  async #call(pending: PendingAlarm, { attemptTimeoutMs, handler }: NamedAlarmSettings): Promise<void> {
    const { name, scheduledTime, attempt } = pending
    const controller = new AbortController()
    const { signal } = controller
    const info = { name, scheduledTime, attempt, idempotencyKey: this.#keyOf(pending), signal }
    const handling = (async () => {
      await handler(info)
    })()
    await within(this.#port.clock, attemptTimeoutMs, handling, () => {
      const timeout = new DurabilityError(
        'AlarmTimeoutError',
        'alarm_timeout',
        `The attempt exceeded its attemptTimeoutMs of ${attemptTimeoutMs}`,
      )
      callHook(() => controller.abort(timeout), undefined)
      return Promise.reject(timeout)
    })
  }

  async #giveUp(pending: PendingAlarm, thrown: unknown): Promise<void> {
    // One that was cancelled or replaced meanwhile is not what is given up.
    const wasPending = await persist(this.#port, () => this.#table.finish(pending))
    if (wasPending) this.#emit(pending, { type: 'dead_lettered', error: describeThrown(thrown) })
  }

  #keyOf({ name, occurrence }: PendingAlarm): string {
    return `${this.#port.context.id}:${name}:${occurrence}`
  }

  /** Tells the user's hook. What is dropped is also logged: it must be findable without a hook. */
  #emit(pending: PendingAlarm, details: NamedAlarmEventDetails): void {
    const { name, scheduledTime, attempt } = pending
    const about = {
      name,
      scheduledTime,
      attempt,
      idempotencyKey: this.#keyOf(pending),
      timestamp: this.#port.clock.now(),
    }
    const event: NamedAlarmEvent = { entityKind: 'alarm', ...about, ...details }
    if (details.type === 'dead_lettered')
      console.error(JSON.stringify({ event: 'durability.alarms.dead_lettered', ...event }))
    callHook(this.#hook, event)
  }
}
