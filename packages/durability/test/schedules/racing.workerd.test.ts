import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, inject, test } from 'vitest'
import { d1Store, durableObjectStore } from '../../src/schedules/index.ts'
import { setup } from '../workerd/support/setup.ts'
import { EDGE, type Race, type RaceResult, race } from './support/racing.ts'
import { dropTables } from './support/tables.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** How many of the long races are run. */
    longRaces: number
  }
}

const LONG_SEEDS = Array.from({ length: inject('longRaces') }, (_, index) => index + 1)

beforeEach(() => dropTables(env.SCHEDULES_DB))

const overD1 = (options: Omit<Race, 'store' | 'kind'>): Promise<RaceResult> =>
  race({ ...options, store: d1Store(env.SCHEDULES_DB), kind: 'dispatch' })

const overObject = (options: Omit<Race, 'store' | 'kind'>): Promise<RaceResult> =>
  setup().inside(({ ctx }) => race({ ...options, store: durableObjectStore(ctx.storage), kind: 'handler' }))

test('8 engines over one D1 start each window once', { timeout: 300_000 }, async () => {
  const { started, problems } = await overD1({ seed: 1, schedules: 20, engines: 8 })
  expect(problems).toEqual([])
  expect(started.size).toBeGreaterThan(60)
})

test('8 engines over one real object start each window once', { timeout: 300_000 }, async () => {
  const { started, problems } = await overObject({ seed: 1, schedules: 100, engines: 8 })
  expect(problems).toEqual([])
  expect(started.size).toBeGreaterThan(300)
})

/** Minutes each: `RACE_SEEDS=10 npx vitest run racing.workerd` runs all ten, another number as many. */
describe.skipIf(LONG_SEEDS.length === 0)(
  '8 engines whose clocks differ by up to 2 s tick 1,000 due schedules across the edge of a window',
  () => {
    test.each(LONG_SEEDS)('over one D1, seed %d', { timeout: 1_200_000 }, async (seed) => {
      const { started, problems } = await overD1({ seed, schedules: 1_000, engines: 8, at: EDGE })
      expect(problems).toEqual([])
      expect(started.size).toBeGreaterThanOrEqual(1_000)
    })

    test.each(LONG_SEEDS)('over one real object, seed %d', { timeout: 1_200_000 }, async (seed) => {
      const { started, problems } = await overObject({ seed, schedules: 1_000, engines: 8, at: EDGE })
      expect(problems).toEqual([])
      expect(started.size).toBeGreaterThanOrEqual(1_000)
    })
  },
)
