/** ms by which a difference may be an error of the measurement: the header has whole seconds, and answers take time. */
const TOLERATED_MS = 2_500
/** An answer that took longer says too little about when it was made. */
const LONGEST_MS = 5_000

/** The server's time, as the `Date` headers of its answers tell it. Until there is one, the viewer's. */
export class ServerClock {
  #aheadMs = 0

  /** @param date The header; `null` where there is none. */
  learn(date: string | null, askedAt: number, answeredAt: number): void {
    const said = date === null ? Number.NaN : Date.parse(date)
    if (Number.isNaN(said) || answeredAt - askedAt > LONGEST_MS || answeredAt < askedAt) return
    const aheadMs = said + 500 - (askedAt + answeredAt) / 2
    if (Math.abs(aheadMs) <= TOLERATED_MS) this.#aheadMs = 0
    // Kept while it holds, so that what is shown does not go back and forth.
    else if (Math.abs(aheadMs - this.#aheadMs) > TOLERATED_MS) this.#aheadMs = aheadMs
  }

  at(viewerTime: number): number {
    return viewerTime + this.#aheadMs
  }
}
