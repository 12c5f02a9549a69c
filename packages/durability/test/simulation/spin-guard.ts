/** Alarms that may come without a cause of their own, at any time. */
const SPARE = 4
/** Causes are not saved up beyond this. */
const MOST = 12

/**
 * Holds an object to as many alarms as there are reasons for: a tick, a request, a crash, a failure, and the delays at
 * which it is to look again. An alarm that is armed for now, over and over, runs out of reasons.
 */
export class SpinGuard {
  #allowed = SPARE
  #lastMs = 0

  allow(alarms: number): void {
    this.#allowed = Math.min(this.#allowed + alarms, MOST)
  }

  /** Answers whether it has come without a reason. */
  alarmCame(elapsedMs: number, everyMs: number): boolean {
    this.allow((elapsedMs - this.#lastMs) / everyMs)
    this.#lastMs = elapsedMs
    this.#allowed -= 1
    return this.#allowed < 0
  }
}
