import { test } from 'vitest'
import { watchHistories } from './play.ts'
import { playSeed } from './random-history.ts'

const { SEED, SEED_FROM = '1', SEEDS_FOR_SECONDS = '20' } = process.env

watchHistories()

/** Replay one history with `SEED=<its number>`, look for more with `SEEDS_FOR_SECONDS=<seconds>` and `SEED_FROM=<number>`. */
test('no random history breaks a promise', {
  timeout: Number(SEEDS_FOR_SECONDS) * 1_000 + 60_000,
}, async () => {
  if (SEED !== undefined) return playSeed(Number(SEED))
  const until = performance.now() + Number(SEEDS_FOR_SECONDS) * 1_000
  let seed = Number(SEED_FROM)
  for (; performance.now() < until; seed += 1) await playSeed(seed)
  console.log(`Played the seeds up to ${seed - 1}`)
})

/** Histories that once broke a promise; what is right is the name. */
test.each([
  [62, 'a run that waits behind a kept slot has an alarm within alarmMinDelayMs'],
  [93, 'an alarm that comes early for a clock that is behind does not spin'],
  [5633, 'a pass whose alarm was refused before leaves no work unheld'],
])('seed %d: %s', (seed) => playSeed(seed))
