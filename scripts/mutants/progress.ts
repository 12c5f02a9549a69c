const FIRST_MS = 5_000
const MOST_MS = 60_000

/** Says what is going on when nothing else was said for 5 seconds, and then ever less often. */
export class Progress {
  readonly #steps = new Map<symbol, { readonly what: string; readonly since: number }>()
  readonly #timer: NodeJS.Timeout = setInterval(() => this.#tick(), 1_000)
  #saidAt = performance.now()
  #patienceMs = FIRST_MS

  say(line: string): void {
    this.#saidAt = performance.now()
    this.#patienceMs = FIRST_MS
    console.log(line)
  }

  async during<T>(what: string, work: () => Promise<T>): Promise<T> {
    const step = Symbol(what)
    this.#steps.set(step, { what, since: performance.now() })
    try {
      return await work()
    } finally {
      this.#steps.delete(step)
    }
  }

  end(): void {
    clearInterval(this.#timer)
  }

  #tick(): void {
    const now = performance.now()
    if (now - this.#saidAt < this.#patienceMs) return
    const patienceMs = Math.min(this.#patienceMs * 2, MOST_MS)
    const steps = [...this.#steps.values()].map(
      ({ what, since }) => `        … ${Math.round((now - since) / 1_000)} s  ${what}`,
    )
    if (steps.length > 0) this.say(steps.join('\n'))
    this.#patienceMs = patienceMs
  }
}
