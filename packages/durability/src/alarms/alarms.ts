import { check, shown } from '../core/checks.ts'
import { DurabilityError } from '../core/errors.ts'
import { MAX_ALARM_NAME_LENGTH, MAX_DUE_AT, NEVER } from '../core/limits.ts'
import { persist } from '../core/persist.ts'
import { eventsTo, report } from '../core/report.ts'
import { delayAfter } from '../core/retries.ts'
import { exponential } from '../core/retry.ts'
import { type Row, replace, select, update } from '../core/sql.ts'
import { describeThrown } from '../core/thrown.ts'
import { earliest, within } from '../core/timers.ts'
import type { NamedAlarmEventDetails } from './events.ts'
import { type DurabilityAlarmsOptions, handlersOf, type NamedAlarmInfo, settingsOf } from './options.ts'

const TABLE = 'durability_alarms'

/** The pending occurrence of one name: its row. Instants are epoch ms. */
type PendingAlarm = {
  readonly name: string
  /** A random id: tells an occurrence from the one that replaces it. */
  readonly occurrence: string
  readonly scheduledTime: number
  /** Attempts that were begun. */
  readonly attempt: number
  readonly nextAttemptAt: number
}

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
  readonly #alarms: Alarms<Name>

  constructor(options: DurabilityAlarmsOptions<Name>) {
    this.#alarms = alarmsOf(options)
  }

  /**
   * Sets `name` for `at` (epoch ms; a past time runs at once), replacing what was pending under it. If it is running,
   * the handler finishes and the new occurrence runs after it. Written before the first await.
   *
   * Rejects with TypeError or RangeError for a name without a handler or a bad time.
   */
  set(name: Name, at: number): Promise<void> {
    return this.#alarms.set(name, at)
  }

  /** Removes what is pending under `name`; resolves to whether there was anything. A running handler finishes. */
  cancel(name: Name): Promise<boolean> {
    return this.#alarms.cancel(name)
  }

  /** What is pending under `name`, a running occurrence included. */
  get(name: Name): NamedAlarm<Name> | undefined {
    return this.#alarms.get(name)
  }
}

type Alarms<Name extends string> = Pick<DurabilityAlarms<Name>, 'set' | 'cancel' | 'get'>

function alarmsOf<Name extends string>(options: DurabilityAlarmsOptions<Name>): Alarms<Name> {
  const settings = settingsOf(options)
  check('options.scheduler.attach', settings.scheduler.attach, 'function')
  const handlers = handlersOf(settings)
  /** Names with an attempt under way in this instance, or one that waits for a permit. */
  const running = new Set<string>()
  /** Times at which names without a handler came due in this instance. */
  let missed = 0

  const port = settings.scheduler.attach({
    name: 'alarms',
    nextAt() {
      const at = earliest(idle())
      return at < NEVER ? at : undefined
    },
    run(now) {
      for (const { name, nextAttemptAt } of idle()) if (nextAttemptAt <= now) port.hold(runDue(name))
    },
  })
  const { context, clock, transaction } = port
  const emit = eventsTo<Omit<NamedAlarmInfo, 'signal'>, NamedAlarmEventDetails>(
    clock,
    settings.onLifecycleEvent,
    'alarm',
    'alarms.dead_lettered',
  )

  const checkKnown = (name: string) => {
    check('name', name, 'string', 0, MAX_ALARM_NAME_LENGTH)
    if (!handlers.has(name)) throw new RangeError(`No handler is named ${shown(name)}`)
  }

  const stored = (name: string) => select<PendingAlarm>(context, TABLE, 'WHERE name = ?', name)[0]

  /** A stored name whose handler is gone can still be read and cancelled. */
  const find = (name: string) => {
    const pending = typeof name === 'string' ? stored(name) : undefined
    if (!pending) checkKnown(name)
    return pending
  }

  /** What no attempt of this instance is looking after. */
  const idle = () => select<PendingAlarm>(context, TABLE).filter(({ name }) => !running.has(name))

  /** Moves this very occurrence on, or removes it; does nothing to one that replaced it. Answers whether it was there. */
  const change = ({ name, occurrence }: PendingAlarm, columns?: Row) =>
    update(context, TABLE, { name, occurrence }, columns)

  /** One attempt of whatever is due under the name by the time there is a permit. */
  const runDue = async (name: string) => {
    running.add(name)
    const release = await port.acquirePermit()
    try {
      const pending = stored(name)
      if (pending && pending.nextAttemptAt <= clock.now()) await attemptOnce(pending)
    } finally {
      release()
      running.delete(name)
    }
  }

  const attemptOnce = async (pending: PendingAlarm) => {
    const { name, occurrence, scheduledTime } = pending
    const known = handlers.get(name)
    if (!known) {
      // A deploy removed the handler: the alarm is kept for the one that brings it back.
      missed += 1
      const nextAttemptAt = clock.now() + exponential(missed)
      transaction(() => change(pending, { nextAttemptAt }))
      report('alarms.no_handler', new Error(`No handler is named ${shown(name)}`), { name, nextAttemptAt })
      return
    }
    const { handler, retries, attemptTimeoutMs } = known
    const isLeft = pending.attempt < retries.maxAttempts
    const attempt = pending.attempt + (isLeft ? 1 : 0)
    const info = { name, scheduledTime, attempt, idempotencyKey: `${context.id}:${name}:${occurrence}` }
    const delayMs = delayAfter(retries, attempt)
    let failure: unknown = new Error('The object died during the attempt')
    if (isLeft) {
      // Counted first: an attempt that kills the object is one that was made.
      transaction(() => change(pending, { attempt, nextAttemptAt: clock.now() + delayMs }))
      await context.storage.sync()
      emit(info, { type: 'started' })
      const late = () =>
        new DurabilityError(
          'AlarmTimeoutError',
          'alarm_timeout',
          `The attempt exceeded its attemptTimeoutMs of ${attemptTimeoutMs}`,
        )
      try {
        await within(clock, attemptTimeoutMs, handler, late, info)
        await persist(port, () => change(pending))
        return emit(info, { type: 'completed' })
      } catch (error) {
        failure = error
      }
    }
    const error = describeThrown(failure)
    const nextAttemptAt = clock.now() + delayMs
    const isLast = attempt >= retries.maxAttempts
    // One that was cancelled or replaced meanwhile is neither tried again nor given up.
    if (await persist(port, () => change(pending, isLast ? undefined : { nextAttemptAt })))
      emit(info, isLast ? { type: 'dead_lettered', error } : { type: 'retry', error, nextAttemptAt })
  }

  return {
    async set(name, at) {
      checkKnown(name)
      check('at', at, 'number', 0, MAX_DUE_AT)
      transaction(() => {
        const occurrence = crypto.randomUUID()
        const pending = { name, occurrence, scheduledTime: at + 0, attempt: 0, nextAttemptAt: at + 0 }
        context.storage.sql.exec(
          `CREATE TABLE IF NOT EXISTS ${TABLE} (${Object.keys(pending)}, PRIMARY KEY (name)) WITHOUT ROWID`,
        )
        replace(context, TABLE, pending)
      })
      port.clearFailure()
      await port.reconcile()
    },

    async cancel(name) {
      const pending = find(name)
      if (pending) transaction(() => change(pending))
      await port.reconcile()
      return pending !== undefined
    },

    get(name) {
      const pending = find(name)
      if (!pending) return undefined
      const { occurrence: _, ...alarm } = pending
      return { ...alarm, name }
    },
  }
}
