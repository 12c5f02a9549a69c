import { delayByHand } from './jitter-oracle.ts'

export interface ModelTiming {
  readonly everyMs: number
  readonly jitterMs: number
  readonly maxRuns: number | null
}

/** What a test expects of one schedule of an interval, said as simply as can be: windows are walked, one by one. */
export class ScheduleModel {
  readonly #id: string
  #timing: ModelTiming | undefined
  /** The last window of which anything is known, fired or not; and of a schedule of this id that was deleted. */
  #decided = 0
  paused = false
  finished = false
  next: number | null = null
  lastFireAt: number | null = null
  fires = 0
  /** Windows that ran, under whatever definition. */
  readonly fired: number[] = []

  constructor(id: string) {
    this.#id = id
  }

  get exists(): boolean {
    return this.#timing !== undefined
  }

  get nextFireAt(): number | null {
    return this.next === null || this.paused || this.finished ? null : this.#effective(this.next)
  }

  upsert(timing: ModelTiming, now: number): void {
    const before = this.#timing
    if (before === undefined) {
      this.#timing = timing
      this.#place(now)
      return
    }
    if (JSON.stringify(before) === JSON.stringify(timing)) return
    if (!this.paused) this.#passOver(now)
    this.#timing = timing
    this.#place(now)
    if (this.paused) this.next = null
  }

  pause(now: number): void {
    if (this.paused) return
    this.#passOver(now)
    this.paused = true
    this.next = null
  }

  resume(now: number): void {
    if (!this.paused || this.finished) return
    this.paused = false
    this.#place(now)
  }

  delete(): void {
    this.#timing = undefined
    this.#decided = Math.max(0, ...this.fired)
    this.paused = false
    this.finished = false
    this.next = null
    this.lastFireAt = null
    this.fires = 0
  }

  /** The window that a tick fires, if any. */
  tick(now: number): number | null {
    const window = this.#latestDue(now)
    if (window === null || this.#timing === undefined) return null
    this.fires += 1
    this.lastFireAt = window
    this.#decided = Math.max(this.#decided, window)
    this.fired.push(window)
    this.#place(window)
    return window
  }

  #effective(window: number): number {
    return window + delayByHand(this.#id, window, this.#timing?.jitterMs ?? 0)
  }

  #latestDue(now: number): number | null {
    if (this.next === null || this.paused || this.finished) return null
    let latest: number | null = null
    for (let window = this.next; window <= now; window += this.#timing?.everyMs ?? Infinity) {
      if (this.#effective(window) <= now) latest = window
    }
    return latest
  }

  #passOver(now: number): void {
    const latest = this.#latestDue(now)
    if (latest !== null) this.#decided = Math.max(this.#decided, latest)
  }

  #place(now: number): void {
    const { everyMs, maxRuns } = this.#timing ?? { everyMs: 1, maxRuns: 0 }
    this.finished = maxRuns !== null && this.fires >= maxRuns
    const after = Math.max(now, this.#decided, this.lastFireAt ?? 0)
    this.next = this.finished ? null : (Math.floor(after / everyMs) + 1) * everyMs
  }
}
