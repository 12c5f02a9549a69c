import type { ScheduledRunEvent } from '../../src/experimental/events.ts'
import type { OutcomeRun, RunOutcome, ScheduledRun } from '../../src/experimental/outcome.ts'
import type { SimulatedLife } from '../../src/testing/index.ts'
import { START_AT } from './expressions.ts'

/** One call of the handler. `endedAt` stays undefined when the instance died first. */
export interface Invocation {
  readonly scheduledTime: number
  readonly dueAt: number
  readonly version: number
  readonly instance: number
  readonly startedAt: number
  endedAt: number | undefined
  aborted: boolean
}

/** One call of `onOutcome`. */
export interface Delivery {
  readonly scheduledTime: number
  readonly attempt: number
  readonly outcome: string
  readonly instance: number
  readonly at: number
  acknowledged: boolean
}

/**
 * Everything that outlives the object and knows of it: who was called, what was received. It notes what must never
 * happen as a violation, and keeps a history to print with it.
 */
export class OutsideWorld {
  readonly invocations: Invocation[] = []
  readonly deliveries: Delivery[] = []
  readonly events: ScheduledRunEvent[] = []
  readonly violations: string[] = []
  readonly history: string[] = []
  pings = 0
  failures = 0
  /** When an alarm was refused last: it is tried again after a while. */
  refusedAt: number = Number.NEGATIVE_INFINITY
  #instances = 0
  #life: SimulatedLife | undefined
  readonly #now: () => number
  readonly #maxConcurrentRuns: number
  readonly #rowOf: (scheduledTime: number) => { state: number } | undefined

  constructor(options: {
    readonly now: () => number
    readonly maxConcurrentRuns: number
    /** The stored row of a run. */
    readonly rowOf: (scheduledTime: number) => { state: number } | undefined
  }) {
    this.#now = options.now
    this.#maxConcurrentRuns = options.maxConcurrentRuns
    this.#rowOf = options.rowOf
  }

  get instances(): number {
    return this.#instances
  }

  /** Whether the last instance is dead. */
  get dead(): boolean {
    return this.#life?.dead === true
  }

  note(what: string): void {
    this.history.push(`${at(this.#now())} ${what}`)
  }

  violate(what: string): void {
    this.note(`VIOLATION ${what}`)
    this.violations.push(`${at(this.#now())} ${what}`)
  }

  instanceStarted(life: SimulatedLife): number {
    this.#life = life
    this.#instances += 1
    this.note(`instance ${this.#instances} starts`)
    return this.#instances
  }

  runStarted(run: ScheduledRun, instance: number): { ended(aborted: boolean): void } {
    const { scheduledTime, dueAt, version } = run
    this.note(`run ${at(scheduledTime)} called`)
    const earlier = this.invocations.at(-1)
    if (this.invocations.some((other) => other.scheduledTime === scheduledTime)) {
      this.violate(`the handler of ${at(scheduledTime)} was invoked twice`)
    } else if (earlier !== undefined && earlier.scheduledTime >= scheduledTime) {
      this.violate(`${at(scheduledTime)} was started after ${at(earlier.scheduledTime)}`)
    }
    if (this.#rowOf(scheduledTime)?.state !== 1) this.violate(`${at(scheduledTime)} runs without its row`)
    const invocation: Invocation = {
      scheduledTime,
      dueAt,
      version,
      instance,
      startedAt: this.#now(),
      endedAt: undefined,
      aborted: false,
    }
    this.invocations.push(invocation)
    const inFlight = this.invocations.filter(
      (other) => other.instance === instance && other.endedAt === undefined,
    )
    if (inFlight.length > this.#maxConcurrentRuns) this.violate(`${inFlight.length} handlers are in flight`)
    return {
      ended: (aborted) => {
        invocation.endedAt = this.#now()
        invocation.aborted = aborted
        this.note(`run ${at(scheduledTime)} ended`)
      },
    }
  }

  deliveryStarted(
    run: OutcomeRun,
    outcome: RunOutcome,
    instance: number,
  ): { readonly count: number; acknowledged(): void } {
    const { scheduledTime, attempt } = run
    const text = JSON.stringify(outcome)
    this.note(`outcome of ${at(scheduledTime)} received, attempt ${attempt}: ${text}`)
    const before = this.deliveries.filter((other) => other.scheduledTime === scheduledTime)
    if (before.some((other) => other.outcome !== text)) {
      this.violate(`the outcome of ${at(scheduledTime)} changed`)
    }
    const state = this.#rowOf(scheduledTime)?.state
    if (state !== (outcome.status === 'complete' ? 2 : 3)) {
      this.violate(`the outcome of ${at(scheduledTime)} is delivered while its row is in state ${state}`)
    }
    const delivery: Delivery = {
      scheduledTime,
      attempt,
      outcome: text,
      instance,
      at: this.#now(),
      acknowledged: false,
    }
    this.deliveries.push(delivery)
    return {
      count: before.length + 1,
      acknowledged: () => {
        delivery.acknowledged = true
        this.note(`outcome of ${at(scheduledTime)} acknowledged`)
      },
    }
  }

  lifecycleEvent(event: ScheduledRunEvent): void {
    this.events.push(event)
    this.note(`event ${event.type} ${at(event.scheduledTime)}`)
  }

  pinged(attempt: number): void {
    this.pings += 1
    this.note(`ping, attempt ${attempt}`)
  }

  helperFailed(error: unknown): void {
    this.failures += 1
    this.note(`a helper failed: ${error}`)
  }

  alarmRejected(error: unknown): void {
    this.failures += 1
    this.refusedAt = this.#now()
    this.note(`alarm() rejected: ${error}`)
  }
}

/** An instant as a history shows it: seconds from the start. */
export function at(instant: number | null | undefined): string {
  return instant === null || instant === undefined ? 'never' : `${(instant - START_AT) / 1_000}s`
}
