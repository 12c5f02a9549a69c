import { DurableObject } from 'cloudflare:workers'

/** When a call arrived at the user's function, and for which time it was scheduled. */
export interface Start {
  readonly scheduledTime: number
  readonly startedAt: number
}

/** The object that a user's handlers call. It answers at once, and stores nothing. */
export class Target extends DurableObject {
  #starts: Start[] = []

  run(scheduledTime: number): void {
    this.#starts.push({ scheduledTime, startedAt: Date.now() })
    if (this.#starts.length > 10_000) this.#starts = []
  }

  note(_scheduledTime: number, _outcome: { readonly status: string }): void {}

  takeStarts(): Start[] {
    const starts = this.#starts
    this.#starts = []
    return starts
  }
}
