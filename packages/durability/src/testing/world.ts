import { checkInteger } from '../core/checks.ts'
import { checkOneOf } from './checks.ts'
import { SimulatedClock } from './clock.ts'
import { durationMs, type SimulatedDuration } from './duration.ts'
import { installGlobals, type Living } from './globals.ts'
import { TurnQueue } from './turns.ts'

/** More events than this in one `advance` are an object that re-arms its alarm for now, over and over. */
const MAX_STEPS = 1_000_000

/** Something besides timers that happens at times of its own: an object's alarm service. */
export interface SimulatedEventSource {
  /** When it acts next, on the clock's time line. */
  readonly nextMs: number | undefined
  act(): void
}

interface NextEvent {
  readonly atMs: number
  happen(): void
}

export interface SimulatedWorldOptions {
  /** Epoch ms at which the clocks start. Default: 2026-01-01T00:00:00Z. */
  readonly startAt?: number
  /** What goes first of timers and alarms due at the same instant; the runtime promises neither. Default: timers. */
  readonly ties?: 'timers first' | 'alarms first'
  /** After so many timers and alarms `advance` gives up on an object that goes round in circles. Default: 1,000,000. */
  readonly maxSteps?: number
}

/** One clock, the objects that live by it, and the order in which things happen: the same in every run. */
export class SimulatedWorld {
  readonly clock: SimulatedClock
  /** @internal */
  readonly turns: TurnQueue = new TurnQueue()
  /** @internal The living instances of the world's objects. */
  readonly lives: Set<Living> = new Set()
  readonly #sources = new Set<SimulatedEventSource>()
  readonly #alarmsFirst: boolean
  readonly #maxSteps: number

  /** @throws RangeError for an option out of range, naming it and its value. */
  constructor(options: SimulatedWorldOptions = {}) {
    const { ties = 'timers first', maxSteps = MAX_STEPS } = options
    checkOneOf('options.ties', ties, ['timers first', 'alarms first'])
    checkInteger('options.maxSteps', maxSteps, 1, Number.MAX_SAFE_INTEGER)
    this.clock = new SimulatedClock(options.startAt === undefined ? {} : { startAt: options.startAt })
    this.#alarmsFirst = ties === 'alarms first'
    this.#maxSteps = maxSteps
  }

  /**
   * Puts this world's time in the place of the global `Date`, `setTimeout`, `setInterval` and their `clear…`, for code
   * that uses them instead of a clock. Timers that an instance sets die with it. Returns a function that puts the
   * globals back; until then the test itself lives in simulated time too. What else tells or waits for time
   * (`performance.now`, `AbortSignal.timeout`) stays real.
   *
   * @throws Error while a world's time is installed already.
   */
  installGlobals(): () => void {
    return installGlobals(this.clock, () => (this.lives.size === 1 ? [...this.lives][0] : undefined))
  }

  /** Adds what `advance` shall drive besides the timers. Returns a function that removes it. */
  add(source: SimulatedEventSource): () => void {
    this.#sources.add(source)
    return () => this.#sources.delete(source)
  }

  /**
   * Moves time on, from one due timer or alarm to the next. Before each, all code runs until it waits for something,
   * and every turn is committed. Resolves when nothing is left to do until the new time; what a timer throws rejects.
   * Code that waits for the world outside of the simulation, such as a real request, is not waited for.
   *
   * @throws RangeError for what is no duration, naming it.
   */
  async advance(duration: SimulatedDuration): Promise<void> {
    const untilMs = this.clock.elapsedMs + durationMs(duration)
    await this.#run(() => untilMs)
    this.clock.moveTo(untilMs)
  }

  /** Moves time on for as long as something is due within `horizon` of what happened last, and stops there. */
  async runToIdle(horizon: SimulatedDuration): Promise<void> {
    const horizonMs = durationMs(horizon, 'horizon')
    await this.#run(() => this.clock.elapsedMs + horizonMs)
  }

  /** Lets all code run until it waits for time or for the test, and every turn commit. No time passes. */
  settle(): Promise<void> {
    return this.turns.drain()
  }

  async #run(untilMs: () => number): Promise<void> {
    await this.settle()
    for (let step = 0; ; step++) {
      const event = this.#nextEvent()
      if (event === undefined || event.atMs > untilMs()) return
      if (step === this.#maxSteps) {
        throw new Error(
          `Stopped after ${step} timers and alarms at ${this.clock.elapsedMs} ms: something re-arms for now`,
        )
      }
      this.clock.moveTo(event.atMs)
      event.happen()
      await this.settle()
    }
  }

  #nextEvent(): NextEvent | undefined {
    const timerMs = this.clock.nextTimerMs
    let next: NextEvent | undefined
    if (timerMs !== undefined) next = { atMs: timerMs, happen: () => this.clock.fireNextTimer() }
    for (const source of this.#sources) {
      const atMs = source.nextMs
      if (atMs === undefined) continue
      const beatsTimer = this.#alarmsFirst && atMs === timerMs && next?.atMs === timerMs
      if (next === undefined || atMs < next.atMs || beatsTimer) next = { atMs, happen: () => source.act() }
    }
    return next
  }
}
