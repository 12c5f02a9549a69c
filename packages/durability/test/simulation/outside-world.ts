import type { ScheduledRunEvent } from '../../src/experimental/events.ts'
import type { OutcomeRun, RunOutcome, ScheduledRun } from '../../src/experimental/outcome.ts'
import type { SimulatedLife } from '../../src/testing/index.ts'
import type { Settings } from './settings.ts'
import { RUNNING, type StoredRun } from './stored.ts'
import { emptyTally, type Tally, type TroubleKind } from './tally.ts'
import { at, type Trace } from './trace.ts'

/** A run from its record to the end of its row: what was seen of both, the stored and the outside. */
export interface KnownRun {
  readonly id: number
  readonly scheduledTime: number
  readonly recordedBy: number
  /** On the clock's time line. */
  readonly recordedMs: number
  readonly waited: boolean
  /** As its row was last seen. */
  row: StoredRun
  /** The instance that called its handler. */
  invokedBy: number | undefined
  startedMs: number
  ended: 'returned' | 'threw' | undefined
  deliveries: number
  received: string | undefined
  acknowledged: boolean
  /** Crashes since it was recorded, without those that a delivery of it made. */
  cutOff: number
  /** Writes of its row, since it was recorded. */
  writes: number
  readonly troubles: Set<TroubleKind>
}

/** One call of the handler, kept for tests of exact times. */
export interface Invocation {
  readonly scheduledTime: number
  readonly startedAt: number
}

/** One call of `onOutcome`, kept for tests of exact times. */
export interface Delivery {
  readonly scheduledTime: number
  readonly attempt: number
  readonly outcome: string
  readonly at: number
}

export interface OutsideWorldOptions {
  readonly now: () => number
  readonly elapsedMs: () => number
  /** Of the live instance; a deploy changes them. */
  readonly settings: () => Settings
  readonly keepsAll: boolean
  readonly trace: Trace
  /** The stored row of a run, as the running turn sees it. */
  readonly rowOf: (scheduledTime: number) => StoredRun | undefined
}

const FAILURES_KEPT = 32

/** Everything that outlives the object and knows of it: who was called, what was received, what may not be. */
export class OutsideWorld {
  readonly trace: Trace
  readonly tally: Tally = emptyTally()
  readonly violations: string[] = []
  /** The runs whose rows are there, by nominal time. */
  readonly runs: Map<number, KnownRun> = new Map()
  readonly invocations: Invocation[] = []
  readonly deliveries: Delivery[] = []
  readonly events: ScheduledRunEvent[] = []
  pings = 0
  /** Failures of helpers and of `alarm()`, writes and alarms that were refused. */
  failures = 0
  /** When one of them happened last, on the clock's time line. */
  failedMs: number = Number.NEGATIVE_INFINITY
  /** When the last of them happened, by both clocks: each is tried again after a while by one of them. */
  readonly #failedAt: { readonly at: number; readonly ms: number }[] = []
  /** The live instance has made a pass, or answered a call that puts things right. */
  hasActed = false
  /** Handlers of the live instance that have not ended, those that timed out included. */
  inFlight = 0
  /** Deliveries that the live instance makes, by nominal time: when they began on the clock's time line. */
  readonly #receiving = new Map<number, number>()
  #instances = 0
  #life: SimulatedLife | undefined
  #lastStarted = Number.NEGATIVE_INFINITY
  readonly #options: OutsideWorldOptions

  constructor(options: OutsideWorldOptions) {
    this.#options = options
    this.trace = options.trace
  }

  get instances(): number {
    return this.#instances
  }

  /** Whether the last instance is dead. */
  get dead(): boolean {
    return this.#life?.dead === true
  }

  note(what: string): void {
    this.trace.note(what)
  }

  violate(what: string): void {
    this.trace.note(`VIOLATION ${what}`)
    this.violations.push(`${at(this.#options.now())} ${what}`)
  }

  instanceStarted(life: SimulatedLife): number {
    this.#life = life
    this.#instances += 1
    this.hasActed = false
    this.inFlight = 0
    this.#receiving.clear()
    this.note(`instance ${this.#instances} starts`)
    return this.#instances
  }

  /** Something happened to every run that there is. */
  trouble(kind: TroubleKind): void {
    for (const known of this.runs.values()) {
      known.troubles.add(kind)
      if (kind === 'crash') known.cutOff += 1
    }
  }

  failed(): void {
    this.failures += 1
    this.#failedAt.push({ at: this.#options.now(), ms: this.elapsedMs })
    if (this.#failedAt.length > FAILURES_KEPT) this.#failedAt.shift()
    this.failedMs = this.elapsedMs
  }

  runStarted(
    run: ScheduledRun,
    instance: number,
  ): { ended(how: 'returned' | 'threw', aborted: boolean): void } {
    const { scheduledTime } = run
    const { now, rowOf, settings } = this.#options
    this.note(`run ${at(scheduledTime)} v${run.version} called`)
    const known = this.runs.get(scheduledTime)
    if (known?.invokedBy !== undefined) this.violate(`the handler of ${at(scheduledTime)} was invoked twice`)
    else if (scheduledTime <= this.#lastStarted) {
      this.violate(`${at(scheduledTime)} was started after ${at(this.#lastStarted)}`)
    }
    this.#lastStarted = Math.max(this.#lastStarted, scheduledTime)
    const row = rowOf(scheduledTime)
    if (known === undefined || row?.state !== RUNNING) {
      this.violate(`${at(scheduledTime)} runs without its row`)
    } else if (row.dueAt !== run.dueAt || row.version !== run.version) {
      this.violate(`${at(scheduledTime)} is told dueAt ${at(run.dueAt)} and version ${run.version}`)
    }
    if (known !== undefined) {
      known.invokedBy = instance
      known.startedMs = this.elapsedMs
    }
    if (this.#options.keepsAll) this.invocations.push({ scheduledTime, startedAt: now() })
    this.inFlight += 1
    if (this.inFlight > settings().maxConcurrentRuns) this.violate(`${this.inFlight} handlers are in flight`)
    return {
      ended: (how, aborted) => {
        if (this.#instances === instance) this.inFlight -= 1
        if (known !== undefined) known.ended = how
        this.note(`run ${at(scheduledTime)} ${how}${aborted ? ' after its timeout' : ''}`)
      },
    }
  }

  deliveryStarted(
    run: OutcomeRun,
    outcome: RunOutcome,
    instance: number,
  ): { readonly count: number; acknowledged(): void; over(): void; kills(): void } {
    const { scheduledTime, attempt } = run
    const text = JSON.stringify(outcome)
    this.note(`outcome of ${at(scheduledTime)} received, attempt ${attempt}: ${text}`)
    if (this.#options.keepsAll) {
      this.deliveries.push({ scheduledTime, attempt, outcome: text, at: this.#options.now() })
    }
    const known = this.runs.get(scheduledTime)
    const row = this.#options.rowOf(scheduledTime)
    if (known === undefined || row === undefined) {
      this.violate(`the outcome of ${at(scheduledTime)} is delivered without its row`)
      return { count: 1, acknowledged: ignore, over: ignore, kills: ignore }
    }
    if (row.state <= RUNNING || row.outcome !== text) {
      this.violate(`the outcome of ${at(scheduledTime)} is delivered, ${row.outcome} is stored`)
    }
    if (known.received !== undefined && known.received !== text) {
      this.violate(`the outcome of ${at(scheduledTime)} changed`)
    }
    if (row.attempts + 1 !== attempt) {
      this.violate(`attempt ${attempt} of ${at(scheduledTime)} follows ${row.attempts} failed ones`)
    }
    if (known.received === undefined) this.#checkOutcome(known, outcome, instance)
    known.received = text
    known.deliveries += 1
    // One that kills the object does not count when it had no mark; the next one has.
    if (known.deliveries > 2 * this.#options.settings().maxAttempts + known.cutOff) {
      this.violate(`the outcome of ${at(scheduledTime)} is delivered over and over`)
    }
    if (this.isReceiving(scheduledTime)) {
      this.violate(`the outcome of ${at(scheduledTime)} is delivered twice at once`)
    }
    const startedMs = this.elapsedMs
    this.#receiving.set(scheduledTime, startedMs)
    let inFlight = 0
    for (const time of this.#receiving.keys()) if (this.isReceiving(time)) inFlight += 1
    if (inFlight > this.#options.settings().maxConcurrentDeliveries) {
      this.violate(`${inFlight} deliveries are in flight`)
    }
    return {
      count: known.deliveries,
      acknowledged: () => {
        // The answer of a delivery that has timed out is ignored.
        const isLate = !this.isReceiving(scheduledTime) || this.#receiving.get(scheduledTime) !== startedMs
        if (!isLate) known.acknowledged = true
        this.note(`outcome of ${at(scheduledTime)} acknowledged${isLate ? ', too late' : ''}`)
      },
      kills: () => {
        known.cutOff -= 1
      },
      over: () => {
        if (this.#receiving.get(scheduledTime) === startedMs) this.#receiving.delete(scheduledTime)
      },
    }
  }

  /** Whether a delivery of it is in flight that has not timed out. */
  isReceiving(scheduledTime: number): boolean {
    const startedMs = this.#receiving.get(scheduledTime)
    if (startedMs === undefined) return false
    return this.elapsedMs < startedMs + this.#options.settings().outcomeTimeoutMs
  }

  /** Whether something failed within this time before now, so that it need not have been tried again. */
  hasJustFailed(withinMs: number): boolean {
    const now = this.#options.now()
    const { elapsedMs } = this
    return this.#failedAt.some(
      ({ at, ms }) => (at <= now && now <= at + withinMs) || elapsedMs <= ms + withinMs,
    )
  }

  /** Whether any delivery is in flight, or times out in this moment. */
  get receives(): boolean {
    const since = this.elapsedMs - this.#options.settings().outcomeTimeoutMs
    for (const startedMs of this.#receiving.values()) if (startedMs >= since) return true
    return false
  }

  /** Whether anything was refused, or failed, since the run was recorded or in that moment. */
  hasFailedSince({ recordedMs }: KnownRun): boolean {
    return this.failedMs >= recordedMs
  }

  get elapsedMs(): number {
    return this.#options.elapsedMs()
  }

  /** Whether the handler of a run has had its time. */
  isTimedOut({ startedMs }: KnownRun): boolean {
    return this.elapsedMs >= startedMs + this.#options.settings().runTimeoutMs
  }

  lifecycleEvent(event: ScheduledRunEvent): void {
    if (this.#options.keepsAll) this.events.push(event)
    if (event.type === 'dead_lettered') this.tally.deadLetters += 1
    this.note(`event ${event.type} ${at(event.scheduledTime)}`)
  }

  /** The instance that had to call its handler is gone, or could not: its alarm was refused. */
  isOrphan(known: KnownRun, instance: number): boolean {
    if (known.invokedBy !== undefined) return known.invokedBy !== instance
    return known.recordedBy !== instance || this.hasFailedSince(known)
  }

  /** What an outcome says is what happened to the handler. */
  #checkOutcome(known: KnownRun, { status, error }: RunOutcome, instance: number): void {
    const isRight =
      status === 'complete'
        ? known.ended === 'returned'
        : error.name === 'ScheduledRunInterruptedError'
          ? this.isOrphan(known, instance)
          : error.name === 'ScheduledRunTimeoutError'
            ? this.isTimedOut(known)
            : known.ended === 'threw'
    if (!isRight) {
      this.violate(
        `the outcome of ${at(known.scheduledTime)} is ${error?.name ?? status}, its handler ${known.ended}`,
      )
    }
  }
}

function ignore(): void {}
