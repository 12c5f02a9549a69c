import { shown } from '../core/checks.ts'
import { type Clock, MAX_TIMER_MS, type Timer } from '../core/clock.ts'
import { checkInstant } from './checks.ts'
import { durationMs, type SimulatedDuration } from './duration.ts'

interface PendingTimer {
  readonly dueMs: number
  readonly fire: () => void
}

/**
 * A clock that moves only when told. Three times can be told apart, because they come apart in production: the time
 * line that timers run on (`elapsedMs`, never set back), the object's wall clock (`now()`), and the wall clock of the
 * platform that delivers alarms (`platformNow()`). The last two agree until `jump` is called.
 */
export class SimulatedClock implements Clock {
  readonly #startAt: number
  #elapsedMs = 0
  #wallOffsetMs = 0
  #platformOffsetMs = 0
  /** In the order they fire: by due time, then by creation. */
  readonly #timers: PendingTimer[] = []

  /**
   * `startAt` is epoch ms. Default: 2026-01-01T00:00:00Z, the same in every run, so that histories repeat.
   *
   * @throws RangeError when it is no instant.
   */
  constructor(options: { readonly startAt?: number } = {}) {
    const { startAt = Date.UTC(2026, 0, 1) } = options
    checkInstant('options.startAt', startAt)
    this.#startAt = startAt
  }

  /** The object's wall clock, epoch ms. */
  now(): number {
    return this.#startAt + this.#elapsedMs + this.#wallOffsetMs
  }

  /** What the platform's alarm service takes for the current time, epoch ms. */
  platformNow(): number {
    return this.#startAt + this.#elapsedMs + this.#platformOffsetMs
  }

  /** Time that has passed since the clock was made, ms. */
  get elapsedMs(): number {
    return this.#elapsedMs
  }

  /**
   * Sets the object's wall clock forwards or back. No timer moves, and nothing fires by this call. Alarms are another
   * machine's business, so they keep their time: after `jump(-5_000)` every alarm comes five seconds early by `now()`.
   * With `alarms: true` the platform's clock is set too, as when the only machine has its clock corrected.
   *
   * @throws RangeError when `byMs` is no finite number.
   */
  jump(byMs: number, options: { readonly alarms?: boolean } = {}): void {
    if (!Number.isFinite(byMs)) {
      throw new RangeError(`byMs must be a finite number of ms, got ${shown(byMs)}`)
    }
    this.#wallOffsetMs += byMs
    if (options.alarms) this.#platformOffsetMs += byMs
  }

  /** Calls `fire` once, when that much time has passed: at least 0 ms, at most 2^31 - 1. */
  setTimer(fire: () => void, delayMs: number): Timer {
    const dueMs = this.#elapsedMs + Math.min(Math.max(delayMs, 0) || 0, MAX_TIMER_MS)
    const timer: PendingTimer = { dueMs, fire }
    const later = this.#timers.findLastIndex((other) => other.dueMs <= dueMs) + 1
    this.#timers.splice(later, 0, timer)
    return { cancel: () => this.#remove(timer) }
  }

  /** How many timers have been set that have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.length
  }

  /** When the next timer fires, on the scale of `elapsedMs`; `undefined` when there is none. */
  get nextTimerMs(): number | undefined {
    return this.#timers[0]?.dueMs
  }

  /** Moves time to `elapsedMs` (never back) and fires nothing. For drivers; tests move time with `advance`. */
  moveTo(elapsedMs: number): void {
    this.#elapsedMs = Math.max(this.#elapsedMs, elapsedMs)
  }

  /** Fires the next timer, which must be due. For drivers, like `moveTo`. */
  fireNextTimer(): void {
    const timer = this.#timers[0]
    if (timer === undefined || timer.dueMs > this.#elapsedMs) return
    this.#timers.shift()
    timer.fire()
  }

  /**
   * Moves time and fires timers on the way, all in this call: promises that they settle are continued only after it.
   * Use it for code without storage; with a simulated object, move time with its `advance`, which also delivers alarms.
   */
  tick(duration: SimulatedDuration): void {
    const untilMs = this.#elapsedMs + durationMs(duration)
    for (let dueMs = this.nextTimerMs; dueMs !== undefined && dueMs <= untilMs; dueMs = this.nextTimerMs) {
      this.moveTo(dueMs)
      this.fireNextTimer()
    }
    this.moveTo(untilMs)
  }

  /** The point on the scale of `elapsedMs` at which the platform's clock reads `at`. */
  elapsedAtPlatform(at: number): number {
    return at - this.#startAt - this.#platformOffsetMs
  }

  #remove(timer: PendingTimer): void {
    const index = this.#timers.indexOf(timer)
    if (index !== -1) this.#timers.splice(index, 1)
  }
}
