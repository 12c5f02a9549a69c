/**
 * Simulates histories of a schedule, and checks every promise in each: all crashes of all small scenarios, then random
 * long ones from fixed seeds, then from a fresh seed. test/simulation/README.md of the package says what is checked.
 */
import { randomInt } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { PromiseBroken } from './simulate/broken.ts'
import { DEEP, exhaust, MOST, QUICK, WHOLE } from './simulate/exhaustive.ts'
import { Pool } from './simulate/pool.ts'
import { replayHistory, replaySeed } from './simulate/replay.ts'
import { fixedSeeds, playSeeds, seedsFrom } from './simulate/seeded.ts'

/** How long random histories are played when nothing else is asked for. */
const FRESH_SECONDS = 120

const USAGE = `node scripts/simulate.ts [options]
  --exhaustive       only the crashes of all scenarios, with a second one after each first; without it, after two of three
  --deep             the same, with two crashes in every order of events and in every scenario (an hour)
  --seeded           only the random histories
  --gate             what the fresh seed finds is printed, and does not fail: as in CI, where the fixed ones decide
  --quick            a short form of both, on one core: for a look, and for a mutation check
  --minutes <n>      random histories from a fresh seed for so long; without the other parts. Default 2, with them
  --ticks <n>        the same, until there were so many ticks
  --from <seed>      the first seed, instead of a fresh one
  --workers <n>      default: one for each core
  --seed <seed>      plays this one and prints it; --steps <n,n,…> only these of its steps
  --history <line>   plays a scenario again, by the first line of its failure`

const { values } = parseArgs({
  options: {
    exhaustive: { type: 'boolean' },
    deep: { type: 'boolean' },
    seeded: { type: 'boolean' },
    gate: { type: 'boolean' },
    quick: { type: 'boolean' },
    minutes: { type: 'string' },
    ticks: { type: 'string' },
    from: { type: 'string' },
    workers: { type: 'string' },
    seed: { type: 'string' },
    steps: { type: 'string' },
    history: { type: 'string' },
    help: { type: 'boolean' },
  },
})

function numberOf(name: 'minutes' | 'ticks' | 'from' | 'workers'): number | undefined {
  const text = values[name]
  if (text === undefined) return undefined
  const number = Number(text.replaceAll('_', ''))
  if (!(number > 0)) throw new RangeError(`--${name} takes a number above 0, not "${text}"`)
  return number
}

async function simulate(pool: Pool): Promise<void> {
  const minutes = numberOf('minutes')
  const ticks = numberOf('ticks')
  const isLong = minutes !== undefined || ticks !== undefined
  const isExhaustive = values.exhaustive || values.deep
  const isAll = !(isExhaustive || values.seeded || isLong)
  const isQuick = values.quick === true
  const crashes = isQuick ? QUICK : values.deep ? DEEP : isExhaustive ? WHOLE : MOST
  const coverage = isAll || isExhaustive ? await exhaust(pool, crashes) : undefined
  if (isAll || (values.seeded && !isLong)) {
    coverage?.addKinds(await playSeeds(pool, 'Fixed seeds', fixedSeeds(isQuick)))
  }
  if (isExhaustive || isQuick) return
  if (values.gate) coverage?.verify()
  const first = numberOf('from') ?? randomInt(1, 2 ** 31)
  const seconds = isLong ? (minutes ?? Number.POSITIVE_INFINITY) * 60 : FRESH_SECONDS
  try {
    const kinds = await playSeeds(pool, `Seeds from ${first}`, seedsFrom(first), {
      seconds,
      ticks: ticks ?? Number.POSITIVE_INFINITY,
    })
    // Nothing that a random history came to is left uncut by the scenarios.
    coverage?.addKinds(kinds)
    coverage?.verify()
  } catch (error) {
    if (!(values.gate && error instanceof PromiseBroken)) throw error
    tell(error)
    console.log('Found by the fresh seed, which does not gate: make a test of it, and mend what is wrong')
  }
}

function tell({ message, replay }: PromiseBroken): void {
  console.log(`\nVIOLATION\n${message}\n`)
  if (replay !== undefined) console.log(`To see it again: ${replay}`)
}

async function main(): Promise<boolean> {
  if (values.help) {
    console.log(USAGE)
    return true
  }
  if (values.seed !== undefined) return replaySeed(values.seed, values.steps)
  if (values.history !== undefined) return replayHistory(values.history)
  const pool = new Pool(numberOf('workers') ?? (values.quick ? 1 : availableParallelism()))
  const startedAt = performance.now()
  try {
    await simulate(pool)
    console.log(`Done. It took ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)
    return true
  } catch (error) {
    if (!(error instanceof PromiseBroken)) throw error
    tell(error)
    return false
  } finally {
    await pool.close()
  }
}

process.exitCode = (await main()) ? 0 : 1
