import { expect, test } from 'vitest'
import { playLong } from './long-history.ts'
import { playShort } from './short-history.ts'

const { SEEDS_FOR_SECONDS = '5' } = process.env

/** `node scripts/simulate.ts --seeded` plays longer, and prints how to replay what it finds. */
test('no random history breaks a promise', {
  timeout: Number(SEEDS_FOR_SECONDS) * 1_000 + 60_000,
}, async () => {
  const until = performance.now() + Number(SEEDS_FOR_SECONDS) * 1_000
  for (let seed = 1; performance.now() < until; seed += 1) {
    for (const { failure } of [await playShort(seed), await playLong(seed)]) {
      if (failure !== undefined) expect.unreachable(failure)
    }
  }
})

/** Histories that once broke a promise; what is right is the name. */
test.each([
  [62, 'a run that waits behind a kept slot has an alarm within alarmMinDelayMs'],
  [93, 'an alarm that comes early for a clock that is behind does not spin'],
  [5633, 'a pass whose alarm was refused before leaves no work unheld'],
])('seed %d: %s', async (seed) => {
  expect((await playShort(seed)).failure).toBeUndefined()
})

test.each([
  [
    20_263_103,
    'retries of deliveries behind the platform’s clock wait for their time after two early alarms',
  ],
  [20_268_454, 'a pass that other code began costs the alarms of its hand-off'],
  [118_046_863, 'retries that came due one after the other, each with its alarm, are no spin'],
  [20_268_963, 'a delivery that comes due as another ends follows it within two milliseconds'],
])('long seed %d: %s', async (seed) => {
  expect((await playLong(seed)).failure).toBeUndefined()
})
