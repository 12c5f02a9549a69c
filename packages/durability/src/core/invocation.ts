import type { Clock, Timer } from './clock.ts'

/** One open call of `alarm()`: it ends when the work in flight does, at its hand-off, or when the alarm cannot be armed. */
export class Invocation {
  readonly #handoff: Timer
  readonly #ended: Promise<'handoff'>
  #reject: (error: unknown) => void = () => {}
  #wake: () => void = () => {}

  constructor(clock: Clock, handoffMs: number) {
    let handOff: () => void = () => {}
    this.#ended = new Promise((resolve, reject) => {
      handOff = () => resolve('handoff')
      this.#reject = reject
    })
    // Whoever races it sees the rejection; without a race there is nobody left to tell.
    this.#ended.catch(() => {})
    this.#handoff = clock.setTimer(handOff, handoffMs)
  }

  /** Waits for `work`, or for the hand-off. Rejects when the invocation is failed. */
  race<T>(work: Promise<T>): Promise<T | 'handoff'> {
    return Promise.race([this.#ended, work])
  }

  /** Resolves the next time the last work in flight ends. */
  released(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve
    })
  }

  release(): void {
    this.#wake()
  }

  fail(error: unknown): void {
    this.#reject(error)
  }

  end(): void {
    this.#handoff.cancel()
  }
}
