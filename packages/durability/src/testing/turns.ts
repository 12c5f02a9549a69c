import process from 'node:process'
import { setImmediate } from 'node:timers'

/** More turns than this without a pause is code that spins, not a test. */
const MAX_TURNS_IN_A_ROW = 100_000

/** Turns after which Node's own event loop gets a turn: its timers and signals must not wait for a long history. */
const TURNS_BETWEEN_PAUSES = 1_000

/**
 * The event loop's macrotasks, one piece of work in each, in a fixed order. Code between two of them, with all its
 * promise continuations, is one turn. What ends a turn (the commit) goes before any work that waits.
 */
export class TurnQueue {
  readonly #turnEnds: (() => void)[] = []
  readonly #work: (() => void)[] = []
  #scheduled = false
  #failure: { readonly error: unknown } | undefined

  /** Runs `end` once the current turn is over, before the next one starts. */
  atTurnEnd(end: () => void): void {
    this.#turnEnds.push(end)
    this.#schedule()
  }

  /** Runs `work` in a turn of its own, after what was posted before it. */
  post(work: () => void): void {
    this.#work.push(work)
    this.#schedule()
  }

  /** Resolves in a new turn, once the current one and everything posted has run; throws what any of it threw. */
  async drain(): Promise<void> {
    let turns = 0
    do {
      if (++turns > MAX_TURNS_IN_A_ROW) {
        throw new Error(
          `Still busy after ${MAX_TURNS_IN_A_ROW} turns in which no time passed: the code spins`,
        )
      }
      await nextMacrotask()
    } while (this.#scheduled)
    const failure = this.#failure
    this.#failure = undefined
    if (failure !== undefined) throw failure.error
  }

  #schedule(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    macrotask(() => this.#runOne())
  }

  #runOne(): void {
    const work = this.#turnEnds.shift() ?? this.#work.shift()
    try {
      work?.()
    } catch (error) {
      this.#failure ??= { error }
    }
    this.#scheduled = false
    if (this.#turnEnds.length > 0 || this.#work.length > 0) this.#schedule()
  }
}

function nextMacrotask(): Promise<void> {
  return new Promise((resolve) => macrotask(resolve))
}

const macrotasks: (() => void)[] = []
let turnsUntilPause = TURNS_BETWEEN_PAUSES

/**
 * Runs `task` once every promise continuation there is has run. Node does that for a tick that is queued from one, many
 * times faster than for an immediate; but it runs all ticks there are before any continuation, so one at a time is
 * queued.
 */
function macrotask(task: () => void): void {
  if (macrotasks.push(task) === 1) queueMicrotask(wake)
}

function wake(): void {
  turnsUntilPause -= 1
  if (turnsUntilPause > 0) {
    process.nextTick(runMacrotask)
  } else {
    turnsUntilPause = TURNS_BETWEEN_PAUSES
    setImmediate(runMacrotask)
  }
}

function runMacrotask(): void {
  const task = macrotasks[0]
  try {
    task?.()
  } finally {
    macrotasks.shift()
    if (macrotasks.length > 0) queueMicrotask(wake)
  }
}
