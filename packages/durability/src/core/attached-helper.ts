import type { SchedulerHelper } from './helper.ts'
import { isThenable } from './report.ts'
import type { AlarmInfo } from './state.ts'

/** What an attached helper needs of its scheduler when something fails or ends. */
export interface HelperEvents {
  failed(helper: AttachedHelper, error: unknown): void
  /** Work of the helper ended. `needsChanged` is false when that cannot have changed when it needs the object. */
  released(needsChanged: boolean): void
}

/** One helper and what the live instance knows of it: its failures and its work in flight. */
export class AttachedHelper {
  readonly helper: SchedulerHelper
  readonly #events: HelperEvents
  /** Its turn in the present synchronous round is still to come: it will arm for itself. */
  aboutToRun = false
  consecutiveFailures = 0
  #failure: { readonly at: number; readonly retryAt: number } | undefined
  inFlight = 0
  #runPending = false

  constructor(helper: SchedulerHelper, events: HelperEvents) {
    this.helper = helper
    this.#events = events
  }

  /** When it next needs the object, its back-off included. A helper that cannot say has failed. */
  needAt(now: number): number | undefined {
    // Called again when its pending run ends: until then that run is what it waits for.
    if (this.#runPending) return undefined
    if (this.aboutToRun) return undefined
    try {
      const at = this.helper.nextAt(now)
      if (at === undefined) return undefined
      if (!Number.isFinite(at)) throw new RangeError(`nextAt of helper "${this.helper.name}" returned ${at}`)
      return Math.max(at, this.#leftOutUntil(now) ?? at)
    } catch (error) {
      if ((this.#leftOutUntil(now) ?? now) <= now) this.#events.failed(this, error)
      return this.#leftOutUntil(now)
    }
  }

  /** Counts a failure; until `retryAt` the helper is left out. */
  leaveOut(at: number, retryAt: number): void {
    this.consecutiveFailures += 1
    this.#failure = { at, retryAt }
  }

  /** A clock that went back would leave it out for as long as the step. */
  #leftOutUntil(now: number): number | undefined {
    return this.#failure === undefined || now < this.#failure.at ? undefined : this.#failure.retryAt
  }

  isDue(now: number): boolean {
    const at = this.needAt(now)
    return at !== undefined && at <= now
  }

  /** Runs what is due. Never throws: a failure becomes a retry. */
  run(now: number, info: AlarmInfo | undefined): void {
    this.aboutToRun = false
    try {
      const pending = this.helper.run(now, info)
      if (isThenable(pending)) this.#await(now, Promise.resolve(pending))
      else this.#succeeded(now)
    } catch (error) {
      this.#events.failed(this, error)
    }
  }

  hold(work: Promise<unknown>): void {
    this.inFlight += 1
    work
      .catch((error: unknown) => this.#events.failed(this, error))
      .finally(() => {
        this.inFlight -= 1
        // A helper that says itself how it is found again arms whatever its work changes.
        this.#events.released(this.helper.fallbackWithinMs === undefined)
      })
  }

  /** ms within which a crash now must be noticed, whatever `nextAt` says. */
  fallbackWithinMs(now: number, passOpen: boolean, byDefault: number): number | undefined {
    if (this.helper.fallbackWithinMs === undefined) return this.inFlight > 0 ? byDefault : undefined
    try {
      return this.helper.fallbackWithinMs(now, passOpen)
    } catch {
      // What keeps it from answering keeps `nextAt` from answering too, and is reported there.
      return undefined
    }
  }

  clearFailure(): void {
    this.consecutiveFailures = 0
    this.#failure = undefined
  }

  #await(now: number, pending: Promise<unknown>): void {
    this.#runPending = true
    const settled = pending.then(
      () => {
        this.#runPending = false
        this.#succeeded(now)
      },
      (error: unknown) => {
        this.#runPending = false
        throw error
      },
    )
    this.hold(settled)
  }

  /** Work that is still due after it ran would be run again at once, for ever: that is a failure, with its back-off. */
  #succeeded(now: number): void {
    this.clearFailure()
    if (!this.isDue(now)) return
    const error = new Error(
      `Helper "${this.helper.name}" is still due after it ran; record its work as done or under way`,
    )
    this.#events.failed(this, error)
  }
}
