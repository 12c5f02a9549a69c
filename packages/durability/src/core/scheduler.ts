import { alarmTarget } from './alarm-target.ts'
import { checkText, checkType, integersOf, shown } from './checks.ts'
import { type Clock, systemClock, type Timer } from './clock.ts'
import type { AlarmRetry, SchedulerHelper, SchedulerPort } from './helper.ts'
import { Invocation } from './invocation.ts'
import { ALARM_AHEAD_MS, ALARM_WALL_LIMIT_MS } from './limits.ts'
import { Permits } from './permits.ts'
import { PhysicalAlarm } from './physical-alarm.ts'
import { callHook, report } from './report.ts'
import type { AlarmInfo, ObjectState } from './state.ts'
import { earlier, wait } from './timers.ts'

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
  readonly #options: DurabilitySchedulerOptions
  readonly #clock: Clock
  readonly #minDelayMs: number
  readonly #handoffMs: number
  readonly #permits: Permits
  readonly #physical: PhysicalAlarm
  readonly #helpers: Attached[] = []
  readonly #invocations = new Set<Invocation>()
  #timer: Timer | undefined
  /** Work was started outside a pass: the alarm at this instant joins and holds it. */
  #joinAt: number | undefined
  #earlyPasses = 0
  /** The alarm stands for the next due time, as far as anything has been told since; not for a fallback. */
  #armedExactly = false
  #armFailure: { readonly error: unknown } | undefined
  #info: AlarmInfo | undefined

  constructor(options: DurabilitySchedulerOptions) {
    checkType('options', options, 'object')
    checkType('context', options.context, 'object')
    const { liveTimers = false, onAlarmRetry, clock = systemClock } = options
    checkType('liveTimers', liveTimers, 'boolean')
    if (onAlarmRetry !== undefined) checkType('onAlarmRetry', onAlarmRetry, 'function')
    const { alarmConcurrency, alarmHandoffMs, alarmMinDelayMs } = integersOf(options, {
      alarmConcurrency: [10],
      alarmHandoffMs: [14 * 60_000, 1, ALARM_WALL_LIMIT_MS - 1],
      alarmMinDelayMs: [15_000, 1_000, 15_000],
    })
    this.#options = options
    this.#clock = clock
    this.#minDelayMs = alarmMinDelayMs
    this.#handoffMs = alarmHandoffMs
    this.#permits = new Permits(alarmConcurrency)
    this.#physical = new PhysicalAlarm(options.context.storage, (error) => this.#alarmLost(error))
  }

  /**
   * Adds a helper. Call it in the object's constructor.
   *
   * @throws TypeError or RangeError for a helper without the needed members, Error when its name is already attached.
   */
  attach(helper: SchedulerHelper): SchedulerPort {
    checkType('helper', helper, 'object')
    checkText('helper.name', helper.name, 200)
    checkType('helper.nextAt', helper.nextAt, 'function')
    checkType('helper.run', helper.run, 'function')
    if (this.#helpers.some((attached) => attached.helper.name === helper.name)) {
      throw new Error(`A helper named ${shown(helper.name)} is already attached to this scheduler`)
    }
    const attached: Attached = { helper, inFlight: 0, busy: false, failures: 0, failedAt: 0, retryAt: 0 }
    this.#helpers.push(attached)
    return {
      context: this.#options.context,
      clock: this.#clock,
      alarmMinDelayMs: this.#minDelayMs,
      transaction: (write) => this.#transaction(write),
      hold: (work) => this.#hold(attached, work),
      acquirePermit: () => this.#permits.acquire(),
      reconcile: () => this.#reconcile(),
      clearFailure: () => this.#clearFailure(attached),
      alarmTaken: () => this.#physical.taken,
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
    let standsRight = false
    const { armedAt } = this.#physical
    try {
      await this.#physical.refresh()
      await this.#startDueOrWait(armedAt)
      standsRight = await this.#waitUntilSettled(invocation)
    } finally {
      invocation.end()
      this.#invocations.delete(invocation)
      if (!this.#isAlive()) this.#timer?.cancel()
    }
    // A call may have started work in the moment in which the pass was ending.
    if (!standsRight || this.#isHeld()) this.#arm()
    await this.#physical.taken
  }

  /**
   * Starts what is due. A pass with nothing to do that came before the alarm it was armed for is early: the clocks
   * differ. The second in a row waits, whatever the hand-off, so that it cannot spin.
   */
  async #startDueOrWait(armedAt: number | null | undefined): Promise<void> {
    if (this.#runDue(this.#helpers) || this.#isHeld()) return
    const now = this.#clock.now()
    const { exactAt, fallbackAt } = this.#needs(now)
    const neededAt = earlier(exactAt, fallbackAt)
    if (neededAt === undefined || (armedAt ?? exactAt ?? now) <= now) return
    this.#earlyPasses += 1
    if (this.#earlyPasses < 2) return
    await wait(this.#clock, Math.min(neededAt - now, this.#minDelayMs))
    this.#runDue(this.#helpers)
  }

  /**
   * Keeps the invocation open until nothing is in flight and nothing is due, or until it has to hand over. Answers
   * whether the alarm already stands right, so that the end of an ordinary pass reads and writes nothing.
   */
  async #waitUntilSettled(invocation: Invocation): Promise<boolean> {
    for (;;) {
      while (this.#isHeld() && !invocation.over) {
        await invocation.wait(
          new Promise((resolve) => {
            invocation.release = resolve
          }),
        )
      }
      const unmoved = await this.#physical.refresh()
      if (invocation.over) return false
      if (this.#isHeld()) continue
      const { armedAt } = this.#physical
      const isAhead = armedAt === null || (armedAt !== undefined && armedAt > this.#clock.now())
      if (unmoved && isAhead && this.#armedExactly) return true
      if (!this.#runDue(this.#helpers)) return false
    }
  }

  /** Runs every one of these helpers that is due, side by side, and arms the alarm. Answers whether any was due. */
  #runDue(helpers: readonly Attached[]): boolean {
    const now = this.#clock.now()
    const due = helpers.filter((attached) => this.#isDue(attached, now))
    // Until its turn comes a helper is not asked when it needs the alarm: it arms for itself.
    for (const attached of due) attached.busy = true
    this.#armFailure = undefined
    for (const attached of due) this.#run(attached, now)
    this.#throwArmFailure()
    if (due.length > 0) this.#earlyPasses = 0
    this.#arm()
    return due.length > 0
  }

  #run(attached: Attached, now: number): void {
    attached.busy = false
    try {
      const running = attached.helper.run(now, this.#info)
      if (running === undefined) this.#ran(attached, now)
      else this.#hold(attached, this.#running(attached, now, running))
    } catch (error) {
      this.#failed(attached, error)
    }
  }

  /** A helper whose run is a promise is not run again before that settles. */
  async #running(attached: Attached, now: number, running: Promise<void>): Promise<void> {
    attached.busy = true
    try {
      await running
    } finally {
      attached.busy = false
    }
    this.#ran(attached, now)
  }

  /** Work that is still due after it ran would be run again at once, for ever: that is a failure, with its back-off. */
  #ran(attached: Attached, now: number): void {
    this.#clearFailure(attached)
    if (this.#isDue(attached, now))
      this.#failed(attached, new Error('It is still due after it ran: run() must record all due work'))
  }

  #hold(attached: Attached, work: Promise<unknown>): void {
    attached.inFlight += 1
    work
      .catch((error: unknown) => this.#failed(attached, error))
      .then(() => {
        attached.inFlight -= 1
        this.#workEnded(attached)
      })
  }

  #workEnded(attached: Attached): void {
    if (!this.#isHeld()) for (const invocation of this.#invocations) invocation.release()
    // A helper that says itself how it is found again arms whatever its work changes.
    if (this.#isAlive() && attached.helper.fallbackWithinMs !== undefined) return
    try {
      this.#arm()
    } catch (error) {
      this.#alarmLost(error)
    }
  }

  /** Rows and alarm are one unit: when either cannot be written, neither is. */
  #transaction<T>(write: () => T): T {
    try {
      return this.#options.context.storage.transactionSync(() => {
        const result = write()
        this.#arm()
        return result
      })
    } catch (error) {
      this.#physical.forget()
      throw error
    }
  }

  /** Writes the alarm where it belongs, from what the helpers say in this very turn. */
  #arm(): void {
    const now = this.#clock.now()
    const { exactAt, timedAt, fallbackAt } = this.#needs(now)
    const { armedAt } = this.#physical
    const target = alarmTarget({ now, exactAt, fallbackAt, armedAt, passOpen: this.#isOpen() })
    this.#armedExactly = fallbackAt === undefined
    try {
      // An alarm this instance has not read yet is deleted by the next reconciliation: it may not be there at all.
      if (target !== armedAt && (target ?? armedAt) !== undefined) this.#physical.write(target)
    } catch (error) {
      // Remembered, for a helper may swallow what its transaction throws; the pass must not.
      this.#armFailure = { error }
      this.#armLater()
      throw error
    }
    this.#setTimer(now, timedAt)
  }

  /** The platform does not retry a pass that has armed once: while work is held, memory does. */
  #armLater(): void {
    const now = this.#clock.now()
    this.#setTimer(now, now + this.#minDelayMs)
  }

  #throwArmFailure(): void {
    if (this.#armFailure !== undefined) throw this.#armFailure.error
  }

  /** While something keeps the object alive, work that wants its exact time gets it from a timer in memory. */
  #setTimer(now: number, at: number | undefined): void {
    this.#timer?.cancel()
    if (at === undefined || !this.#isAlive()) return
    this.#timer = this.#clock.setTimer(
      () => {
        try {
          // A timer that came before the wall clock finds nothing due, and is set again.
          this.#runDue(this.#timedHelpers())
        } catch (error) {
          this.#alarmLost(error)
        }
      },
      Math.max(at - now, 1),
    )
  }

  /** Who needs the object when, read now. */
  #needs(now: number): Record<'exactAt' | 'timedAt' | 'fallbackAt', number | undefined> {
    const passOpen = this.#isOpen()
    const timed = this.#timedHelpers()
    let exactAt: number | undefined
    let timedAt: number | undefined
    let fallbackAt = this.#joinAt
    for (const attached of this.#helpers) {
      const at = this.#needAt(attached, now)
      exactAt = earlier(exactAt, at)
      if (timed.includes(attached)) timedAt = earlier(timedAt, at)
      const withinMs = this.#fallbackWithinMs(attached, now, passOpen)
      fallbackAt = earlier(fallbackAt, withinMs === undefined ? undefined : now + withinMs)
    }
    return { exactAt, timedAt, fallbackAt }
  }

  /** When a helper next needs the object, its back-off included. One that cannot say has failed. */
  #needAt(attached: Attached, now: number): number | undefined {
    if (attached.busy) return undefined
    // A clock that went back would leave it out for as long as the step.
    const leftOutUntil = () => (now < attached.failedAt ? 0 : attached.retryAt)
    try {
      const at = attached.helper.nextAt(now)
      if (at === undefined) return undefined
      if (!Number.isFinite(at)) throw new RangeError(`nextAt() returned ${at}`)
      return Math.max(at, leftOutUntil())
    } catch (error) {
      if (leftOutUntil() <= now) this.#failed(attached, error)
      return leftOutUntil()
    }
  }

  #fallbackWithinMs({ helper, inFlight }: Attached, now: number, passOpen: boolean): number | undefined {
    if (helper.fallbackWithinMs === undefined) return inFlight > 0 ? this.#minDelayMs : undefined
    try {
      return helper.fallbackWithinMs(now, passOpen)
    } catch {
      // What keeps it from answering keeps `nextAt` from answering too, and is reported there.
      return undefined
    }
  }

  #isDue(attached: Attached, now: number): boolean {
    const at = this.#needAt(attached, now)
    return at !== undefined && at <= now
  }

  /** Those that memory starts at their exact time. A pass that only waits, for it came early, delays nobody. */
  #timedHelpers(): readonly Attached[] {
    return this.#options.liveTimers === true || !this.#isHeld()
      ? this.#helpers
      : this.#helpers.filter(({ helper }) => helper.timed)
  }

  #isOpen(): boolean {
    return this.#invocations.size > 0
  }

  #isHeld(): boolean {
    return this.#helpers.some(({ inFlight }) => inFlight > 0)
  }

  #isAlive(): boolean {
    return this.#isOpen() || this.#isHeld()
  }

  /** After a public call: repairs the alarm and, outside a pass, starts what is due with an alarm that joins it at once. */
  async #reconcile(): Promise<void> {
    await this.#physical.refresh()
    const now = this.#clock.now()
    if (this.#isOpen()) this.#runDue(this.#timedHelpers())
    else {
      if (this.#helpers.some((attached) => this.#isDue(attached, now))) this.#joinAt = now + ALARM_AHEAD_MS
      this.#runDue(this.#helpers)
    }
    await this.#physical.taken
  }

  #failed(attached: Attached, error: unknown): void {
    if (this.#armFailure?.error === error) return
    const { onAlarmRetry } = this.#options
    attached.failures += 1
    attached.failedAt = this.#clock.now()
    attached.retryAt = attached.failedAt + this.#minDelayMs
    this.#armedExactly = false
    this.#earlyPasses = 0
    const helper = attached.helper.name
    const retry = { helper, consecutiveFailures: attached.failures, retryAt: attached.retryAt }
    if (onAlarmRetry === undefined) report('helper_failed', error, retry)
    else callHook(onAlarmRetry, { ...retry, error, info: this.#info })
  }

  #clearFailure(attached: Attached): void {
    attached.failures = attached.failedAt = attached.retryAt = 0
  }

  /** The one failure that `alarm()` passes on: the platform then tries the whole pass again. */
  #alarmLost(error: unknown): void {
    if (!this.#isOpen()) report('alarm_lost', error)
    this.#armLater()
    for (const invocation of this.#invocations) invocation.fail(error)
  }
}

/** One helper and what the live instance knows of it. */
interface Attached {
  readonly helper: SchedulerHelper
  /** Pieces of its work that hold the pass. */
  inFlight: number
  /** It is about to run, or the promise of its run is pending. */
  busy: boolean
  failures: number
  /** Epoch ms, 0 for never. */
  failedAt: number
  retryAt: number
}
