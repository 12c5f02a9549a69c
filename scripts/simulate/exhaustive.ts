import type { Exploration, Findings } from '../../packages/durability/test/simulation/exhaustive.ts'
import { TIMINGS } from '../../packages/durability/test/simulation/play.ts'
import { SCENARIOS } from '../../packages/durability/test/simulation/scenarios.ts'
import { cuttableLines } from '../../packages/durability/test/simulation/source-lines.ts'
import { PromiseBroken } from './broken.ts'
import type { Reply } from './jobs.ts'
import type { Pool } from './pool.ts'
import { count, Progress } from './progress.ts'

/** Histories that must differ, by the hash of all that happened in them. */
const DISTINCT = 100_000

interface ExploreJob {
  readonly explore: Exploration
}

const ORDERS = TIMINGS.map((_, index) => index)

/** Which crashes are made: one at each place, and two at each pair of places, in these orders of events. */
export interface Exhaustion {
  readonly once: readonly number[]
  readonly twice: readonly number[]
  /** Of the first of two crashes, how many of three in a row are followed by a second. */
  readonly ofThree: 2 | 3
  /** Two crashes also in the long scenarios. */
  readonly isDeep: boolean
  /** Checks that enough was cut. A part of the histories cannot show that. */
  readonly isWhole: boolean
}

/** What CI has the time for. */
export const MOST: Exhaustion = { once: ORDERS, twice: [0], ofThree: 2, isDeep: false, isWhole: true }
export const WHOLE: Exhaustion = { ...MOST, ofThree: 3 }
export const DEEP: Exhaustion = { ...WHOLE, twice: ORDERS, isDeep: true }
export const QUICK: Exhaustion = { ...MOST, once: [0], twice: [], isWhole: false }

/** Crashes every scenario at every write and every await. Answers what was cut. */
export async function exhaust(
  pool: Pool,
  { once, twice, ofThree, isDeep, isWhole }: Exhaustion,
): Promise<Coverage> {
  const progress = new Progress('Exhaustive')
  const coverage = new Coverage()
  const jobs: ExploreJob[] = once.flatMap((timing) =>
    SCENARIOS.map((_, scenario) => ({ explore: { scenario, timing } })),
  )
  // The longest last would leave the other cores idle at the end.
  const next = () => jobs.pop()
  const onReply = ({ explore }: ExploreJob, reply: Reply) => {
    if (!('findings' in reply)) return
    const { findings } = reply
    progress.add(findings.histories, findings.tally, findings.hashes, findings.seenHashes)
    coverage.add(findings)
    const [failure] = findings.failures
    if (failure !== undefined) throw new PromiseBroken(failure, replayOf(failure))
    const isPaired =
      twice.includes(explore.timing) && (isDeep || SCENARIOS[explore.scenario]?.length !== 'long')
    if (explore.first === undefined && isPaired) {
      const firsts = findings.crashes.filter((_, index) => index % 3 < ofThree)
      for (const first of firsts) jobs.unshift({ explore: { ...explore, first } })
    }
  }
  await pool.run({ next, onReply }).finally(() => progress.end())
  console.log(
    `  ${SCENARIOS.length} scenarios, ${count(progress.seen.size)} histories that look different from outside`,
  )
  coverage.report()
  if (isWhole && progress.distinct.size < DISTINCT) {
    throw new PromiseBroken(`Only ${progress.distinct.size} distinct histories`, undefined)
  }
  if (isWhole) coverage.verify()
  return coverage
}

/** What was cut, and what else there is to be cut. */
export class Coverage {
  readonly #kinds = new Set<string>()
  readonly #cutKinds = new Set<string>()
  readonly #cutLines = new Set<string>()
  #cuts = 0

  add({ kinds, cutKinds, cutLines, cuts }: Findings): void {
    for (const kind of kinds) this.#kinds.add(kind)
    for (const kind of cutKinds) this.#cutKinds.add(kind)
    for (const line of cutLines) this.#cutLines.add(line)
    this.#cuts += cuts
  }

  report(): void {
    const lines = cuttableLines()
    const cut = lines.filter((line) => this.#cutLines.has(line))
    console.log(
      `  ${count(this.#cuts)} places cut, of ${this.#cutKinds.size} kinds, from ${cut.length} of the ` +
        `${lines.length} lines of the library that write or wait`,
    )
  }

  /** Kinds of places that other histories came to. */
  addKinds(kinds: ReadonlySet<string>): void {
    for (const kind of kinds) this.#kinds.add(kind)
  }

  /** Each write is to be cut on both sides, each seam once, each line of the library that leads to one. */
  verify(): void {
    const wanted = [...this.#kinds].flatMap((kind) =>
      kind.startsWith('write') ? [`before ${kind}`, `after ${kind}`] : [kind],
    )
    const missing = [
      ...wanted.filter((kind) => !this.#cutKinds.has(kind)),
      ...cuttableLines().filter((line) => !this.#cutLines.has(line)),
    ]
    if (missing.length > 0)
      throw new PromiseBroken(`Not everything was cut:\n${missing.join('\n')}`, undefined)
  }
}

/** A failure names its scenario and its troubles in its first line. */
function replayOf(failure: string): string {
  return `node scripts/simulate.ts --history ${JSON.stringify(failure.split('\n')[0])}`
}
