import { type PlayedSeed, playLong } from '../../packages/durability/test/simulation/long-history.ts'
import {
  type Played,
  play,
  type Timing,
  type Trouble,
} from '../../packages/durability/test/simulation/play.ts'
import { SCENARIOS } from '../../packages/durability/test/simulation/scenarios.ts'
import { playShort } from '../../packages/durability/test/simulation/short-history.ts'
import { asTest, shrink } from '../../packages/durability/test/simulation/shrink.ts'
import { seedNamed } from './jobs.ts'

/** How long a history that broke a promise is made shorter. */
const SHRINK_MS = 60_000

/** Plays one seed and prints all of it. Answers whether it kept every promise. */
export async function replaySeed(name: string, steps: string | undefined): Promise<boolean> {
  const { seed, isShort } = seedNamed(name)
  if (isShort) return show(await playShort(seed))
  const only = steps === undefined ? undefined : new Set(steps.split(',').map(Number))
  const played = await playLong(seed, { keepsAll: true }, only)
  const isRight = show(played)
  if (!isRight) await showShortest(played, only !== undefined)
  return isRight
}

/** Plays a scenario again, by the first line of its failure: its name, and as JSON the order of events and troubles. */
export async function replayHistory(line: string): Promise<boolean> {
  const from = line.indexOf(' {')
  const scenario = SCENARIOS.find(({ name }) => name === line.slice(0, from))
  if (scenario === undefined) throw new RangeError(`There is no scenario "${line.slice(0, from)}"`)
  // As `play` writes it.
  const { troubles, ...timing } = JSON.parse(line.slice(from)) as Timing & { readonly troubles: Trouble[] }
  return show(await play(scenario, timing, troubles))
}

function show({ failure, lines, tally }: Played): boolean {
  console.log(failure ?? lines.join('\n'))
  if (failure === undefined) console.log(`\n${tally.ticks} ticks, no violation`)
  return failure === undefined
}

async function showShortest(failed: PlayedSeed, isShortest: boolean): Promise<void> {
  const shortest = isShortest ? failed : await shrink(failed, SHRINK_MS)
  const steps = [...shortest.steps.keys()].join(',')
  console.log(`\nThe shortest history found:\n${shortest.failure}`)
  console.log(`\nnode scripts/simulate.ts --seed ${failed.seed} --steps ${steps}`)
  console.log(`\nAs a test:\n${asTest(shortest)}`)
}
