import { DurabilityAlarms } from '../../src/alarms/alarms.ts'
import type { DurabilityAlarmsOptions, NamedAlarmInfo } from '../../src/alarms/options.ts'
import type { Clock } from '../../src/core/clock.ts'
import { DurabilityScheduler, type DurabilitySchedulerOptions } from '../../src/core/scheduler.ts'
import type { ObjectState } from '../../src/core/state.ts'
import type { DurabilityScheduleOptions } from '../../src/experimental/options.ts'
import type { OutcomeRun, RunOutcome, ScheduledRun } from '../../src/experimental/outcome.ts'
import { DurabilitySchedule } from '../../src/experimental/schedule.ts'
import type { SimulatedLife } from '../../src/testing/index.ts'
import { nextOccurrence } from './expressions.ts'
import type { Faults } from './faults.ts'
import type { NamedAlarms } from './named-alarms.ts'
import type { OutsideWorld } from './outside-world.ts'

/** What a handler, a receiver or a named alarm does when it is called. */
export interface Behaviour {
  /** ms it takes; default 0. */
  readonly takesMs?: number
  /** `crash` kills the object in the turn of the call. Default `return`. */
  readonly ends?: 'return' | 'throw' | 'hang' | 'crash'
  /** Goes on after its signal was aborted. */
  readonly ignoresAbort?: boolean
  /** Something it does while it runs. */
  readonly does?: (subject: Subject) => unknown
}

/** How the object of a history is set up and what the world around it does. */
export interface SubjectOptions {
  readonly schedule?: Partial<Omit<DurabilityScheduleOptions, 'scheduler' | 'run' | 'onOutcome'>>
  readonly scheduler?: Partial<Omit<DurabilitySchedulerOptions, 'context' | 'clock'>>
  readonly run?: (run: ScheduledRun) => Behaviour
  /** `delivery` counts the deliveries of this outcome over all instances, from 1; `false` leaves `onOutcome` out. */
  readonly receive?: ((run: OutcomeRun, delivery: number) => Behaviour) | false
  readonly hasAlarms?: boolean
  /** False: the code has no handler for `ping`. Default true. */
  readonly handlesAlarms?: boolean
  /** Of the named alarm `ping`. */
  readonly alarms?: Partial<Omit<DurabilityAlarmsOptions, 'scheduler' | 'handlers'>>
  readonly alarm?: (attempt: number) => Behaviour
}

/** What an object tells of itself. */
export interface SubjectHost {
  readonly options: SubjectOptions
  readonly faults: Faults
  readonly outside: OutsideWorld
  readonly invariants: { readonly alarms: NamedAlarms }
  failed(what: string, isAlarm: boolean): void
}

/** A Durable Object class as a user would write it. */
export class Subject {
  readonly scheduler: DurabilityScheduler
  readonly schedule: DurabilitySchedule
  readonly alarms: DurabilityAlarms | undefined
  readonly ctx: ObjectState
  openPasses = 0
  readonly #clock: Clock
  readonly #life: SimulatedLife
  readonly #host: SubjectHost
  readonly #options: SubjectOptions
  readonly #number: number

  constructor(ctx: ObjectState, clock: Clock, life: SimulatedLife, host: SubjectHost) {
    const { options, outside } = host
    this.ctx = ctx
    this.#clock = clock
    this.#life = life
    this.#host = host
    this.#options = options
    this.#number = outside.instanceStarted(life)
    this.scheduler = new DurabilityScheduler({
      onAlarmRetry: ({ error, helper }) => life.dead || host.failed(`${helper} failed: ${error}`, false),
      ...options.scheduler,
      context: ctx,
      clock,
    })
    const { receive } = options
    this.schedule = new DurabilitySchedule({
      nextOccurrence: (expression, after) => {
        host.faults.onSearch()
        return nextOccurrence(expression, after)
      },
      outcomeRetries: { delay: () => 1_000 },
      onLifecycleEvent: (event) => life.dead || outside.lifecycleEvent(event),
      ...options.schedule,
      scheduler: this.scheduler,
      run: life.guard((run: ScheduledRun) => this.#run(run)),
      ...(receive === false
        ? {}
        : { onOutcome: life.guard((run: OutcomeRun, outcome: RunOutcome) => this.#receive(run, outcome)) }),
    })
    const ping = life.guard((info: NamedAlarmInfo) => this.#ping(info))
    if (options.hasAlarms) {
      this.alarms = new DurabilityAlarms<string>({
        retries: { delay: () => 1_000 },
        ...options.alarms,
        scheduler: this.scheduler,
        handlers: options.handlesAlarms === false ? { other: () => undefined } : { ping },
      })
    }
  }

  async alarm(info?: { readonly scheduledTime: number }): Promise<void> {
    this.openPasses += 1
    if (!this.#life.dead) this.#host.outside.hasActed = true
    try {
      await this.scheduler.alarm(info)
    } catch (error) {
      if (!this.#life.dead) this.#host.failed(`alarm() rejected: ${error}`, true)
      throw error
    } finally {
      this.openPasses -= 1
    }
  }

  async #run(run: ScheduledRun): Promise<void> {
    const handler = this.#host.outside.runStarted(run, this.#number)
    const { signal } = run
    try {
      await this.#behave('run', this.#options.run?.(run) ?? {}, signal)
    } catch (error) {
      if (!this.#life.dead) handler.ended('threw', signal.aborted)
      throw error
    }
    if (!this.#life.dead) handler.ended('returned', signal.aborted)
  }

  async #receive(run: OutcomeRun, outcome: RunOutcome): Promise<void> {
    const delivery = this.#host.outside.deliveryStarted(run, outcome, this.#number)
    const { receive } = this.#options
    const behaviour = receive === undefined || receive === false ? {} : receive(run, delivery.count)
    if (behaviour.ends === 'crash') delivery.kills()
    try {
      await this.#behave('receive', behaviour, undefined)
      if (!this.#life.dead) delivery.acknowledged()
    } finally {
      if (!this.#life.dead) delivery.over()
    }
  }

  async #ping(info: NamedAlarmInfo): Promise<void> {
    this.#host.outside.pings += 1
    const completed = this.#host.invariants.alarms.called(info, this.#clock.now())
    await this.#behave('ping', this.#options.alarm?.(info.attempt) ?? {}, info.signal)
    if (!this.#life.dead && !info.signal.aborted) completed()
  }

  async #behave(what: string, behaviour: Behaviour, signal: AbortSignal | undefined): Promise<void> {
    const { takesMs = 0, ends = 'return', ignoresAbort = false, does } = behaviour
    if (ends === 'crash') await this.#life.crash()
    await this.#life.seam(`${what} called`)
    if (does !== undefined) await does(this)
    if (takesMs > 0) await this.#sleep(takesMs, ignoresAbort ? undefined : signal)
    if (ends === 'hang') await this.#hang(ignoresAbort ? undefined : signal)
    if (ends === 'throw') throw new Error(`${what} failed`)
    await this.#life.seam(`${what} returns`)
  }

  #sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.setTimer(resolve, ms)
      signal?.addEventListener('abort', () => {
        timer.cancel()
        reject(signal.reason)
      })
    })
  }

  #hang(signal: AbortSignal | undefined): Promise<never> {
    return new Promise((_resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason))
    })
  }
}
