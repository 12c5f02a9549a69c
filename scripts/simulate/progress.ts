import { addTally, emptyTally, type Tally } from '../../packages/durability/test/simulation/tally.ts'

const EVERY_MS = 4_000

/** What has been played so far, told every few seconds. */
export class Progress {
  readonly tally: Tally = emptyTally()
  histories = 0
  /** Hashes of all that happened in each history, and of what could be seen of it. */
  readonly distinct: Set<bigint> = new Set()
  readonly seen: Set<bigint> = new Set()
  readonly #title: string
  readonly #startedAt = performance.now()
  readonly #timer: NodeJS.Timeout

  constructor(title: string) {
    this.#title = title
    this.#timer = setInterval(() => console.log(this.line), EVERY_MS)
  }

  add(histories: number, tally: Tally, hashes: readonly bigint[], seenHashes: readonly bigint[] = []): void {
    this.histories += histories
    addTally(this.tally, tally)
    for (const hash of hashes) this.distinct.add(hash)
    for (const hash of seenHashes) this.seen.add(hash)
  }

  get seconds(): number {
    return (performance.now() - this.#startedAt) / 1_000
  }

  get line(): string {
    const { ticks, troubled } = this.tally
    const parts = [
      `${this.#title}: ${this.seconds.toFixed(0)} s`,
      `${count(this.histories)} histories (${count(this.histories / this.seconds)}/s)`,
      `${count(this.distinct.size)} distinct`,
      `${count(ticks)} ticks (${count(ticks / this.seconds)}/s)`,
      `${percent(troubled, ticks)} troubled`,
    ]
    return parts.join(', ')
  }

  /** Ends the telling, with all that was counted. */
  end(): void {
    clearInterval(this.#timer)
    const { by, ...rest } = this.tally
    console.log(this.line)
    console.log(
      `  of the troubled ticks: ${count(by.crash)} with a crash, ${count(by.clock)} with a clock step, ` +
        `${count(by.delivery)} with a failed delivery`,
    )
    console.log(
      `  in all: ${count(rest.crashes)} crashes, ${count(rest.clockSteps)} clock steps, ` +
        `${count(rest.failedDeliveries)} failed deliveries, ${count(rest.deadLetters)} dead letters, ` +
        `${count(rest.refusals)} refusals, ${count(rest.alarms)} alarms, ` +
        `${(rest.simulatedMs / 86_400_000).toFixed(1)} simulated days`,
    )
  }
}

export function count(number: number): string {
  return Math.floor(number).toLocaleString('en-US')
}

export function percent(part: number, whole: number): string {
  return whole === 0 ? '0%' : `${((part / whole) * 100).toFixed(1)}%`
}
