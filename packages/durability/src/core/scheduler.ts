import { planAlarm } from './alarm-target.ts'
import { AttachedHelper } from './attached-helper.ts'
import { checkDuration, checkFunction, checkInteger, checkObject, checkText, shown } from './checks.ts'
import { type Clock, systemClock, type Timer } from './clock.ts'
import type { AlarmRetry, SchedulerHelper, SchedulerPort } from './helper.ts'
import { Invocation } from './invocation.ts'
import { ALARM_AHEAD_MS, ALARM_WALL_LIMIT_MS, MAX_DURATION_MS } from './limits.ts'
import { Permits } from './permits.ts'
import { PhysicalAlarm } from './physical-alarm.ts'
import { callHook, report } from './report.ts'
import type { AlarmInfo, ObjectState } from './state.ts'
import { fireAt, wait } from './timers.ts'

export interface DurabilitySchedulerOptions {
  /** The object's own `ctx`. */
  readonly context: ObjectState
  /** Permits of the pool that `DurabilityAlarms` and other helpers share. From 1; default 10. */
  readonly alarmConcurrency?: number
  /** ms after which a pass that is still held hands over to the next alarm. Below 15 minutes; default 14 minutes. */
  readonly alarmHandoffMs?: number
  /** ms, 1,000 to 15,000: the delay of a retry, a hand-off and a fallback alarm. Default 15,000. */
  readonly alarmMinDelayMs?: number
  /** While a pass is held, start other helpers' work at its exact time instead of at the end of the hold. Default false. */
  readonly liveTimers?: boolean
  /** Called each time a helper fails. Best effort: what it throws is logged and changes nothing. */
  readonly onAlarmRetry?: (retry: AlarmRetry) => unknown
  /** Where the time comes from. Default: the runtime. For tests. */
  readonly clock?: Clock
}

/**
 * Owns a Durable Object's one physical alarm and shares it among helpers. Construct it once per object instance, let
 * the class's `alarm(info)` return `scheduler.alarm(info)`, and let nothing else call `setAlarm`.
 *
 * @throws TypeError or RangeError at construction, naming the option and its value.
 */
export class DurabilityScheduler {
  readonly #clock: Clock
  readonly #context: ObjectState
  readonly #physical: PhysicalAlarm
  readonly #permits: Permits
  readonly #helpers: AttachedHelper[] = []
  readonly #invocations = new Set<Invocation>()
  readonly #handoffMs: number
  readonly #minDelayMs: number
  readonly #liveTimers: boolean
  readonly #onAlarmRetry: ((retry: AlarmRetry) => unknown) | undefined
  #timer: Timer | undefined
  /** Work was started outside a pass: the alarm at this instant joins and holds it. */
  #joinAt: number | undefined
  #earlyPasses = 0
  /** The alarm stands for the next due time, as far as anything has been told since; not for a fallback. */
  #armedExactly = false
  #armFailure: ArmFailure | undefined
  #info: AlarmInfo | undefined

  constructor(options: DurabilitySchedulerOptions) {
    checkObject('options', options)
    checkObject('context', options.context)
    const { context, alarmConcurrency = 10, alarmHandoffMs = 14 * 60_000, alarmMinDelayMs = 15_000 } = options
    const { liveTimers = false, onAlarmRetry, clock = systemClock } = options
    checkInteger('alarmConcurrency', alarmConcurrency, 1, MAX_DURATION_MS)
    checkDuration('alarmHandoffMs', alarmHandoffMs, 1, ALARM_WALL_LIMIT_MS - 1)
    checkDuration('alarmMinDelayMs', alarmMinDelayMs, 1_000, 15_000)
    if (typeof liveTimers !== 'boolean')
      throw new TypeError(`liveTimers must be a boolean, got ${shown(liveTimers)}`)
    checkFunction('onAlarmRetry', onAlarmRetry, false)
    this.#context = context
    this.#clock = clock
    this.#handoffMs = alarmHandoffMs
    this.#minDelayMs = alarmMinDelayMs
    this.#liveTimers = liveTimers
    this.#onAlarmRetry = onAlarmRetry
    this.#permits = new Permits(alarmConcurrency)
    this.#physical = new PhysicalAlarm(context.storage, (error) => this.#alarmLost(error))
  }

  /**
   * Adds a helper. Call it in the object's constructor.
   *
   * @throws TypeError or RangeError for a helper without the needed members, Error when its name is already attached.
   */
  attach(helper: SchedulerHelper): SchedulerPort {
    checkObject('helper', helper)
    checkText('helper.name', helper.name, 200)
    checkFunction('helper.nextAt', helper.nextAt)
    checkFunction('helper.run', helper.run)
    if (this.#helpers.some((attached) => attached.helper.name === helper.name)) {
      throw new Error(`A helper named ${shown(helper.name)} is already attached to this scheduler`)
    }
    const attached = new AttachedHelper(helper, {
      failed: (failing, error) => this.#helperFailed(failing, error),
      released: (needsChanged) => this.#workEnded(needsChanged),
    })
    this.#helpers.push(attached)
    return {
      context: this.#context,
      clock: this.#clock,
      alarmMinDelayMs: this.#minDelayMs,
      transaction: (write) => this.#transaction(write),
      hold: (work) => attached.hold(work),
      acquirePermit: () => this.#permits.acquire(),
      reconcile: () => this.#reconcile(),
      clearFailure: () => attached.clearFailure(),
      alarmTaken: () => this.#physical.taken(),
    }
  }

  /**
   * One pass: runs what is due, waits for what is in flight, arms the next alarm. Called by the object's `alarm()`;
   * calling it while a pass is open joins that pass. It rejects only when the alarm cannot be armed.
   */
  async alarm(info?: AlarmInfo): Promise<void> {
    const invocation = new Invocation(this.#clock, this.#handoffMs)
    this.#invocations.add(invocation)
    this.#joinAt = undefined
    this.#info = info
    let settled = false
    try {
      await this.#physical.refresh()
      await this.#startDueOrWait(invocation)
      settled = await this.#waitUntilSettled(invocation)
    } finally {
      invocation.end()
      this.#invocations.delete(invocation)
      this.#stopIdleTimer()
    }
    if (!settled) this.#arm()
  }

  /** Starts what is due. A pass with nothing to do came early; the second in a row waits, so that it cannot spin. */
  async #startDueOrWait(invocation: Invocation): Promise<void> {
    if (this.#runDue(this.#helpers) || this.#held()) return
    const now = this.#clock.now()
    const { exactAt, fallbackAt } = this.#needs(now)
    if (exactAt === undefined || fallbackAt !== undefined) return
    this.#earlyPasses += 1
    if (this.#earlyPasses === 1) return
    await invocation.race(wait(this.#clock, Math.min(exactAt - now, this.#minDelayMs)))
    this.#runDue(this.#helpers)
  }

  /**
   * Keeps the invocation open until nothing is in flight and nothing is due, or until it has to hand over. Answers
   * whether the alarm already stands right, so that the end of an ordinary pass reads and writes nothing.
   */
  async #waitUntilSettled(invocation: Invocation): Promise<boolean> {
    for (;;) {
      while (this.#held()) {
        if ((await invocation.race(invocation.released())) === 'handoff') return false
      }
      const unmoved = await invocation.race(this.#physical.refresh())
      if (unmoved === 'handoff') return false
      if (this.#held()) continue
      if (unmoved && this.#standsRight()) return true
      if (!this.#runDue(this.#helpers)) return false
    }
  }

  /** Whether the alarm was armed for the next due time, and nothing has come due or changed since. */
  #standsRight(): boolean {
    const armedAt = this.#physical.armedAt
    const ahead = armedAt === null || (armedAt !== undefined && armedAt > this.#clock.now())
    return ahead && this.#armedExactly
  }

  /** Runs every one of these helpers that is due, side by side, and arms the alarm. Answers whether any was due. */
  #runDue(helpers: readonly AttachedHelper[]): boolean {
    const now = this.#clock.now()
    const due = helpers.filter((attached) => attached.isDue(now))
    if (due.length > 0) this.#earlyPasses = 0
    for (const attached of due) attached.aboutToRun = true
    this.#armFailure = undefined
    for (const attached of due) attached.run(now, this.#info)
    this.#throwArmFailure()
    this.#arm()
    return due.length > 0
  }

  #throwArmFailure(): void {
    if (this.#armFailure !== undefined) throw this.#armFailure.error
  }

  /** Rows and alarm are one unit: when either cannot be written, neither is. */
  #transaction<T>(write: () => T): T {
    try {
      return this.#context.storage.transactionSync(() => {
        const result = write()
        this.#arm()
        return result
      })
    } catch (error) {
      this.#physical.forget()
      this.#armedExactly = false
      throw error
    }
  }

  /** Writes the alarm where it belongs, from what the helpers say in this very turn. */
  #arm(): void {
    const now = this.#clock.now()
    const needs = this.#needs(now)
    const plan = planAlarm({ now, ...needs, armedAt: this.#physical.armedAt, passOpen: this.#passOpen() })
    try {
      if (plan.action === 'set') this.#physical.set(plan.at)
      if (plan.action === 'delete') this.#physical.delete()
    } catch (error) {
      // Remembered, for a helper may swallow what its transaction throws; the pass must not.
      this.#armFailure = { error }
      throw error
    }
    this.#armedExactly = plan.exact
    this.#setTimer(now, needs.timedAt)
  }

  /** Who needs the object when, read now. */
  #needs(now: number): {
    exactAt: number | undefined
    timedAt: number | undefined
    fallbackAt: number | undefined
  } {
    let exactAt: number | undefined
    let timedAt: number | undefined
    let fallbackAt = this.#joinAt
    for (const attached of this.#helpers) {
      const at = attached.needAt(now)
      exactAt = earlier(exactAt, at)
      if (this.#isTimed(attached)) timedAt = earlier(timedAt, at)
      const withinMs = attached.fallbackWithinMs(now, this.#passOpen(), this.#minDelayMs)
      if (withinMs !== undefined) fallbackAt = earlier(fallbackAt, now + withinMs)
    }
    return { exactAt, timedAt, fallbackAt }
  }

  #isTimed(attached: AttachedHelper): boolean {
    return this.#liveTimers || attached.helper.timed === true
  }

  #passOpen(): boolean {
    return this.#invocations.size > 0
  }

  #held(): boolean {
    return this.#helpers.some((attached) => attached.inFlight > 0)
  }

  /** While something keeps the object alive, work that wants its exact time gets it from a timer in memory. */
  #setTimer(now: number, at: number | undefined): void {
    this.#timer?.cancel()
    this.#timer = undefined
    if (at === undefined || !(this.#passOpen() || this.#held())) return
    this.#timer = fireAt(this.#clock, Math.max(at, now + 1), () => {
      try {
        this.#runDue(this.#helpers.filter((attached) => this.#isTimed(attached)))
      } catch (error) {
        this.#alarmLost(error)
      }
    })
  }

  #stopIdleTimer(): void {
    if (this.#passOpen() || this.#held()) return
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** After a public call: repairs the alarm and, outside a pass, starts what is due with an alarm that joins it at once. */
  async #reconcile(): Promise<void> {
    await this.#physical.refresh()
    if (this.#passOpen()) {
      this.#runDue(this.#helpers.filter((attached) => this.#isTimed(attached)))
      return
    }
    const now = this.#clock.now()
    if (this.#helpers.some((attached) => attached.isDue(now))) this.#joinAt = now + ALARM_AHEAD_MS
    this.#runDue(this.#helpers)
  }

  #workEnded(needsChanged: boolean): void {
    const held = this.#held()
    if (!held) for (const invocation of this.#invocations) invocation.release()
    if (!needsChanged && (held || this.#passOpen())) return
    try {
      this.#arm()
    } catch (error) {
      this.#alarmLost(error)
    }
  }

  #helperFailed(attached: AttachedHelper, error: unknown): void {
    if (this.#armFailure?.error === error) return
    const now = this.#clock.now()
    const retryAt = now + this.#minDelayMs
    attached.leaveOut(now, retryAt)
    this.#armedExactly = false
    this.#earlyPasses = 0
    const helper = attached.helper.name
    const { consecutiveFailures } = attached
    if (this.#onAlarmRetry === undefined) {
      report('durability.helper_failed', `"${helper}" failed and is retried`, error, {
        helper,
        consecutiveFailures,
        retryAt,
      })
    }
    callHook('onAlarmRetry', this.#onAlarmRetry, {
      error,
      helper,
      consecutiveFailures,
      retryAt,
      info: this.#info,
    })
  }

  /** The one failure that `alarm()` passes on: the platform then tries the whole pass again. */
  #alarmLost(error: unknown): void {
    if (!this.#passOpen())
      report('durability.alarm_lost', 'The alarm could not be armed; the next call or pass repairs it', error)
    for (const invocation of this.#invocations) invocation.fail(error)
  }
}

interface ArmFailure {
  readonly error: unknown
}

function earlier(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other
  return Math.min(one, other)
}
