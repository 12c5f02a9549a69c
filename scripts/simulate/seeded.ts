import { PromiseBroken } from './broken.ts'
import { nameOf, type Reply, type SeedJob } from './jobs.ts'
import type { Pool } from './pool.ts'
import { count, Progress, percent } from './progress.ts'

/** Long histories that gate every change, and short ones. */
const FIXED_LONG = 160
const FIXED_SHORT = 400
const QUICK_LONG = 24
const QUICK_SHORT = 100

interface PlayJob {
  readonly play: SeedJob
}

/** Seeds from 1 on, the same in every run. */
export function fixedSeeds(isQuick: boolean): Iterator<SeedJob> {
  const seeds = (length: number, isShort: boolean) =>
    Array.from({ length }, (_, index) => ({ seed: index + 1, isShort }))
  return [
    ...seeds(isQuick ? QUICK_LONG : FIXED_LONG, false),
    ...seeds(isQuick ? QUICK_SHORT : FIXED_SHORT, true),
  ].values()
}

/** Seeds from `first` on: one short history with every long one. */
export function* seedsFrom(first: number): Generator<SeedJob, never> {
  for (let seed = first; ; seed += 1) {
    yield { seed, isShort: false }
    yield { seed, isShort: true }
  }
}

/** Plays seeds until there are no more, the time is over, or there were enough ticks. Answers where they came to. */
export async function playSeeds(
  pool: Pool,
  title: string,
  seeds: Iterator<SeedJob>,
  limits = { seconds: Number.POSITIVE_INFINITY, ticks: Number.POSITIVE_INFINITY },
): Promise<ReadonlySet<string>> {
  const { seconds, ticks } = limits
  const progress = new Progress(title)
  const kinds = new Set<string>()
  const next = (): PlayJob | undefined => {
    if (progress.seconds >= seconds || progress.tally.ticks >= ticks) return undefined
    const { done, value } = seeds.next()
    return done ? undefined : { play: value }
  }
  const onReply = ({ play }: PlayJob, reply: Reply) => {
    if (!('played' in reply)) return
    const { tally, hash, failure } = reply.played
    if (failure !== undefined) {
      throw new PromiseBroken(failure, `node scripts/simulate.ts --seed ${nameOf(play)}`)
    }
    progress.add(1, tally, [hash])
    for (const kind of reply.played.kinds) kinds.add(kind)
  }
  await pool.run({ next, onReply }).finally(() => progress.end())
  const { tally, histories } = progress
  console.log(
    `  ${count(histories)} histories, ${count(tally.ticks)} ticks, ` +
      `${percent(tally.troubled, tally.ticks)} of them troubled, 0 violations`,
  )
  return kinds
}
