import { DurabilityAlarms } from '../../src/alarms/alarms.ts'
import type { Clock } from '../../src/core/clock.ts'
import { DurabilityScheduler, type DurabilitySchedulerOptions } from '../../src/core/scheduler.ts'
import type { ObjectState } from '../../src/core/state.ts'
import type { DurabilityScheduleOptions } from '../../src/experimental/options.ts'
import type { OutcomeRun, RunOutcome, ScheduledRun } from '../../src/experimental/outcome.ts'
import { DurabilitySchedule } from '../../src/experimental/schedule.ts'
import type { SimulatedLife } from '../../src/testing/index.ts'
import { nextOccurrence } from './expressions.ts'
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
  readonly alarm?: (attempt: number) => Behaviour
  readonly hasAlarms?: boolean
  /** Changes the state that the object is given, to make it fail. */
  readonly context?: (state: ObjectState) => ObjectState
}

/** A Durable Object class as a user would write it. */
export class Subject {
  readonly scheduler: DurabilityScheduler
  readonly schedule: DurabilitySchedule
  readonly alarms: DurabilityAlarms<'ping'> | undefined
  readonly ctx: ObjectState
  openPasses = 0
  readonly #clock: Clock
  readonly #life: SimulatedLife
  readonly #outside: OutsideWorld
  readonly #options: SubjectOptions
  readonly #number: number

  constructor(
    ctx: ObjectState,
    clock: Clock,
    life: SimulatedLife,
    { outside, options }: { readonly outside: OutsideWorld; readonly options: SubjectOptions },
  ) {
    this.ctx = options.context?.(ctx) ?? ctx
    this.#clock = clock
    this.#life = life
    this.#outside = outside
    this.#options = options
    this.#number = outside.instanceStarted(life)
    this.scheduler = new DurabilityScheduler({
      onAlarmRetry: ({ error }) => life.dead || outside.helperFailed(error),
      ...options.scheduler,
      context: this.ctx,
      clock,
    })
    const { receive } = options
    this.schedule = new DurabilitySchedule({
      nextOccurrence,
      outcomeRetries: { delay: () => 1_000 },
      onLifecycleEvent: (event) => life.dead || outside.lifecycleEvent(event),
      ...options.schedule,
      scheduler: this.scheduler,
      run: life.guard((run: ScheduledRun) => this.#run(run)),
      ...(receive === false
        ? {}
        : { onOutcome: life.guard((run: OutcomeRun, outcome: RunOutcome) => this.#receive(run, outcome)) }),
    })
    if (options.hasAlarms) {
      this.alarms = new DurabilityAlarms({
        scheduler: this.scheduler,
        handlers: { ping: life.guard((info: { attempt: number }) => this.#ping(info.attempt)) },
        retries: { delay: () => 1_000 },
      })
    }
  }

  async alarm(info?: { readonly scheduledTime: number }): Promise<void> {
    this.openPasses += 1
    try {
      await this.scheduler.alarm(info)
    } catch (error) {
      if (!this.#life.dead) this.#outside.alarmRejected(error)
      throw error
    } finally {
      this.openPasses -= 1
    }
  }

  async #run(run: ScheduledRun): Promise<void> {
    const handler = this.#outside.runStarted(run, this.#number)
    try {
      await this.#behave('run', this.#options.run?.(run) ?? {}, run.signal)
    } finally {
      if (!this.#life.dead) handler.ended(run.signal.aborted)
    }
  }

  async #receive(run: OutcomeRun, outcome: RunOutcome): Promise<void> {
    const delivery = this.#outside.deliveryStarted(run, outcome, this.#number)
    const { receive } = this.#options
    const behaviour = receive === undefined || receive === false ? {} : receive(run, delivery.count)
    await this.#behave('receive', behaviour, undefined)
    if (!this.#life.dead) delivery.acknowledged()
  }

  async #ping(attempt: number): Promise<void> {
    this.#outside.pinged(attempt)
    await this.#behave('ping', this.#options.alarm?.(attempt) ?? {}, undefined)
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
