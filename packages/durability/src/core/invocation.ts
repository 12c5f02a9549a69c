import type { Clock, Timer } from './clock.ts'

/** One open call of `alarm()`: it ends when the work in flight does, at its hand-off, or when the alarm cannot be armed. */
export class Invocation {
  /** The hand-off is due. */
  over = false
  /** Called when the last work in flight has ended. */
  release: () => void = () => {}
  readonly fail: (error: unknown) => void
  readonly #ended: Promise<void>
  readonly #handoff: Timer

  constructor(clock: Clock, handoffMs: number) {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Whoever waits sees the rejection; when nobody does there is nobody left to tell.
    promise.catch(() => {})
    this.#ended = promise
    this.fail = reject
    this.#handoff = clock.setTimer(() => {
      this.over = true
      resolve()
    }, handoffMs)
  }

  /** Waits for `work` or the hand-off, whichever comes first. Rejects when the invocation is failed. */
  wait(work: Promise<void>): Promise<void> {
    return Promise.race([this.#ended, work])
  }

  end(): void {
    this.#handoff.cancel()
  }
}
