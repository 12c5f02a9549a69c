import { alarmTarget } from './alarm-target.ts'
import { check, optionsOf, shown } from './checks.ts'
import { type Clock, systemClock, type Timer } from './clock.ts'
import type { AlarmRetry, SchedulerHelper, SchedulerPort } from './helper.ts'
import { ALARM_AHEAD_MS, ALARM_WALL_LIMIT_MS, NEVER } from './limits.ts'
import { permits } from './permits.ts'
import { physicalAlarm } from './physical-alarm.ts'
import { callHook, report } from './report.ts'
import type { AlarmInfo, ObjectState } from './state.ts'
import { timerIfAny, wait } from './timers.ts'

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
  readonly #scheduler: Scheduler

  constructor(options: DurabilitySchedulerOptions) {
    this.#scheduler = schedulerOf(options)
  }

  /**
   * Adds a helper. Call it in the object's constructor.
   *
   * @throws TypeError or RangeError for a helper without the needed members, Error when its name is already attached.
   */
  attach(helper: SchedulerHelper): SchedulerPort {
    return this.#scheduler.attach(helper)
  }

  /**
   * One pass: runs what is due, waits for what is in flight, arms the next alarm. Called by the object's `alarm()`;
   * calling it while a pass is open joins that pass. It rejects only when the alarm cannot be armed.
   */
  alarm(info?: AlarmInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }
}

type Scheduler = Pick<DurabilityScheduler, 'alarm' | 'attach'>

/** One helper and what the live instance knows of it. */
interface Attached {
  readonly helper: SchedulerHelper
  /** Pieces of its work that hold the pass. */
  inFlight: number
  /** It is about to run, or the promise of its run is pending. */
  busy: boolean
  failures: number
  /** Epoch ms before which it is left out, 0 for never. */
  retryAt: number
}

function schedulerOf(options: DurabilitySchedulerOptions): Scheduler {
  const settings = optionsOf<Required<DurabilitySchedulerOptions>>(options, {
    context: ['object'],
    clock: ['object', systemClock],
    liveTimers: ['boolean', false],
    onAlarmRetry: ['function', (retry: AlarmRetry) => report('helper_failed', retry.error, retry)],
    alarmConcurrency: ['number', 10],
    alarmHandoffMs: ['number', 14 * 60_000, 1, ALARM_WALL_LIMIT_MS - 1],
    alarmMinDelayMs: ['number', 15_000, 1_000, 15_000],
  })
  const { context, clock, alarmMinDelayMs } = settings
  const { storage } = context
  check('options.context.storage', storage, 'object')
  const acquirePermit = permits(settings.alarmConcurrency)
  const helpers: Attached[] = []
  /** The open calls of `alarm()`. Each is resolved by its hand-off, and rejected when the alarm cannot be armed. */
  const passes = new Set<PromiseWithResolvers<void>>()
  /** Resolves when the last work in flight has ended. */
  let idle = Promise.withResolvers<void>()
  let timer: Timer | undefined
  /** What that timer was set to, infinite for no timer; 0 once everything is asked again. */
  let timerMs = NEVER
  /** Work was started outside a pass: the alarm at this instant joins and holds it. */
  let joinAt = NEVER
  /** When anything is next due, and when the object is next needed, as of the last arming. */
  let exactAt = NEVER
  let timedAt = NEVER
  let neededAt = NEVER
  let earlyPasses = 0
  /** The alarm stands for the next due time, as far as anything has been told since; not for a fallback. */
  let armedExactly = false
  let armError: unknown
  let passInfo: AlarmInfo | undefined

  const isOpen = () => passes.size > 0
  const isHeld = () => helpers.some(({ inFlight }) => inFlight)
  /** Something keeps the object in memory. */
  const isAwake = () => isOpen() || isHeld()
  /** Those that memory starts at their exact time. A pass that only waits, for it came early, delays nobody. */
  const isTimed = ({ helper }: Attached) => settings.liveTimers || helper.timed || !isHeld()

  /**
   * While something keeps the object alive, work that wants its exact time gets it from a timer in memory. One that
   * comes before the wall clock finds nothing due, and is set again.
   */
  const setTimer = (delayMs: number) => {
    const ms = isAwake() ? Math.max(delayMs, 1) : NEVER
    // What is due is not put off by whatever else happens in the same moment, however often it does.
    if (ms === timerMs) return
    timerMs = ms
    timer?.cancel()
    if (ms < NEVER) timer = timerIfAny(clock, ms, () => orAlarmLost(() => runDue(true)))
  }

  /** The platform does not retry a pass that has armed once: while work is held, memory does. */
  const armLater = () => setTimer(Math.min(timedAt - clock.now(), alarmMinDelayMs))

  /** The one failure that `alarm()` passes on: the platform then tries the whole pass again. */
  const alarmLost = (error: unknown) => {
    if (!isOpen()) report('alarm_lost', error)
    armLater()
    for (const pass of passes) pass.reject(error)
  }
  const physical = physicalAlarm(storage, alarmLost)

  const orAlarmLost = (action: () => unknown) => {
    try {
      action()
    } catch (error) {
      alarmLost(error)
    }
  }

  const failed = (attached: Attached, error: unknown) => {
    if (armError !== undefined && error === armError) return
    armedExactly = false
    earlyPasses = 0
    attached.failures += 1
    const retryAt = clock.now() + alarmMinDelayMs
    attached.retryAt = retryAt
    callHook(settings.onAlarmRetry, {
      error,
      helper: attached.helper.name,
      consecutiveFailures: attached.failures,
      retryAt,
      info: passInfo,
    })
  }

  const clearFailure = (attached: Attached) => {
    attached.failures = attached.retryAt = 0
  }

  /** When a helper next needs the object, its back-off included. One that cannot say has failed. */
  const needAt = (attached: Attached, now: number) => {
    if (attached.busy) return NEVER
    // A clock that went back would leave it out for as long as the step.
    const leftOutUntil = now < attached.retryAt - alarmMinDelayMs ? 0 : attached.retryAt
    try {
      const at = attached.helper.nextAt(now)
      if (!Number.isFinite(at ?? 0)) throw new RangeError(`nextAt() returned ${at}`)
      return Math.max(at ?? NEVER, leftOutUntil)
    } catch (error) {
      if (leftOutUntil <= now) failed(attached, error)
      return attached.retryAt
    }
  }

  /** Writes the alarm where it belongs, from what the helpers say in this very turn. */
  const arm = () => {
    const now = clock.now()
    let fallbackAt = joinAt
    exactAt = timedAt = NEVER
    for (const attached of helpers) {
      const at = needAt(attached, now)
      exactAt = Math.min(exactAt, at)
      if (isTimed(attached)) timedAt = Math.min(timedAt, at)
      let withinMs: number | undefined = attached.inFlight ? alarmMinDelayMs : NEVER
      try {
        if (attached.helper.fallbackWithinMs) withinMs = attached.helper.fallbackWithinMs(now, isOpen())
      } catch {
        // What keeps it from answering keeps `nextAt` from answering too, and is reported there.
      }
      const foundAt = now + (withinMs ?? NEVER)
      // Not `Math.min`: an answer that is no number must not undo what another helper needs.
      if (foundAt < fallbackAt) fallbackAt = foundAt
    }
    neededAt = Math.min(exactAt, fallbackAt)
    armedExactly = fallbackAt === NEVER
    const target = alarmTarget(now, exactAt, fallbackAt, physical.at, isOpen())
    try {
      // An alarm this instance has not read yet is deleted by the next reconciliation: it may not be there at all.
      if (target !== physical.at && (target < NEVER || physical.at !== undefined)) physical.write(target)
    } catch (error) {
      // Remembered, for a helper may swallow what its transaction throws; the pass must not.
      armError = error
      armLater()
      throw error
    }
    setTimer(timedAt - now)
  }

  /** Work that is still due after it ran would be run again at once, for ever: that is a failure, with its back-off. */
  const ran = (attached: Attached, now: number) => {
    clearFailure(attached)
    if (needAt(attached, now) <= now) failed(attached, new Error('run() left work that is due'))
  }

  const hold = (attached: Attached, work: Promise<unknown>) => {
    if (!isHeld()) idle = Promise.withResolvers()
    attached.inFlight += 1
    // Whatever a helper gives: the hold must end.
    Promise.resolve(work)
      .catch((error: unknown) => failed(attached, error))
      .then(() => {
        attached.inFlight -= 1
        if (!isHeld()) idle.resolve()
        // A helper that says itself how it is found again arms whatever its work changes, except what failed.
        if (attached.failures || !attached.helper.fallbackWithinMs || !isAwake()) orAlarmLost(arm)
      })
  }

  const run = (attached: Attached, now: number) => {
    attached.busy = false
    try {
      const running = attached.helper.run(now, passInfo)
      if (!running) return ran(attached, now)
      // It is not run again before its promise settles.
      attached.busy = true
      hold(
        attached,
        Promise.resolve(running)
          .finally(() => {
            attached.busy = false
          })
          .then(() => ran(attached, now)),
      )
    } catch (error) {
      failed(attached, error)
    }
  }

  const dueAt = (now: number) => helpers.filter((attached) => needAt(attached, now) <= now)

  /** Runs every helper of these that is due, side by side, and arms the alarm. Answers whether any was due. */
  const runDue = (timedOnly = false) => {
    timerMs = 0
    const now = clock.now()
    const due = dueAt(now).filter((attached) => !timedOnly || isTimed(attached))
    const isAnyDue = due.length > 0
    if (isAnyDue && !isOpen() && !timedOnly) joinAt = now + ALARM_AHEAD_MS
    // Until its turn comes a helper is not asked when it needs the alarm: it arms for itself.
    for (const attached of due) attached.busy = true
    armError = undefined
    for (const attached of due) run(attached, now)
    if (armError !== undefined) throw armError
    if (isAnyDue) earlyPasses = 0
    arm()
    return isAnyDue
  }

  /** Rows and alarm are one unit: when either cannot be written, neither is. */
  const transaction = <T>(write: () => T): T => {
    try {
      return storage.transactionSync(() => {
        const result = write()
        arm()
        return result
      })
    } catch (error) {
      physical.forget()
      throw error
    }
  }

  return {
    attach(helper) {
      const { name } = optionsOf<Pick<SchedulerHelper, 'name' | 'nextAt' | 'run'>>(
        helper,
        { name: ['string', undefined, 1, 200], nextAt: ['function'], run: ['function'] },
        'helper',
      )
      if (helpers.some((attached) => attached.helper.name === name))
        throw new Error(`helper.name ${shown(name)} is already attached`)
      const attached: Attached = { helper, inFlight: 0, busy: false, failures: 0, retryAt: 0 }
      helpers.push(attached)
      return {
        context,
        clock,
        alarmMinDelayMs,
        transaction,
        acquirePermit,
        hold: (work) => hold(attached, work),
        clearFailure: () => clearFailure(attached),
        alarmTaken: () => physical.taken,
        async reconcile() {
          // The caller's own transaction may yet undo what was written, the alarm included.
          physical.at = undefined
          await undefined
          await physical.refresh()
          // During a pass the work that is not timed waits for its end.
          runDue(isOpen())
          await physical.taken
        },
      }
    },

    async alarm(info) {
      const pass = Promise.withResolvers<void>()
      // Whoever waits sees the rejection; when nobody does there is nobody left to tell.
      pass.promise.catch(() => {})
      let isOver = false
      const handoff = timerIfAny(clock, settings.alarmHandoffMs, () => {
        isOver = true
        pass.resolve()
      })
      passes.add(pass)
      joinAt = NEVER
      passInfo = info
      /** The alarm already stands right, so that the end of an ordinary pass reads and writes nothing. */
      let standsRight = false
      const { at: believedAt } = physical
      try {
        // The platform has taken the alarm that it fired, and what is due moves it.
        if (dueAt(clock.now())[0]) physical.forget()
        else await physical.refresh()
        const isIdle = !runDue() && !isHeld()
        const expectedAt = believedAt !== undefined && believedAt < NEVER ? believedAt : exactAt
        // A pass with nothing to do that came before the alarm it was armed for is early: the clocks differ. The second
        // in a row waits, whatever the hand-off, so that it cannot spin.
        if (isIdle && neededAt < NEVER && expectedAt < NEVER && expectedAt > clock.now()) {
          earlyPasses += 1
          if (earlyPasses > 1) {
            // Where no timer is to be had it is armed again all the same.
            await wait(clock, Math.min(neededAt - clock.now(), alarmMinDelayMs)).catch(() => {})
            runDue()
          }
        }
        // Until nothing is in flight and nothing is due, or it has to hand over.
        do {
          while (isHeld() && !isOver) await Promise.race([pass.promise, idle.promise])
          const isUnmoved = await physical.refresh()
          standsRight = isUnmoved && armedExactly && (physical.at ?? 0) > clock.now()
        } while (!isOver && (isHeld() || (!standsRight && runDue())))
      } catch (error) {
        // From here on nothing holds what is in flight.
        passes.delete(pass)
        if (isHeld()) orAlarmLost(arm)
        throw error
      } finally {
        handoff?.cancel()
        passes.delete(pass)
        if (!isAwake()) setTimer(NEVER)
      }
      // A call may have started work in the moment in which the pass was ending.
      if (!standsRight || isHeld()) arm()
      await physical.taken
    },
  }
}
