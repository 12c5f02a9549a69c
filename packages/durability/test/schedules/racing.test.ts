import { describe, expect, test } from 'vitest'
import {
  d1Store,
  durableObjectStore,
  memoryStore,
  type ScheduleStore,
} from '../../src/schedules/index.node.ts'
import { simulateObject } from '../../src/testing/index.ts'
import { fakeD1 } from './support/d1.ts'
import { EDGE, race, randomOf } from './support/racing.ts'

const SEEDS = Array.from({ length: 10 }, (_, index) => index + 1)
/** These take seconds each: `RACE_SEEDS=10` runs all ten. */
const { RACE_SEEDS = '2' } = process.env
const LONG_SEEDS = SEEDS.slice(0, Number(RACE_SEEDS))

/** The same store as one that is far away: each call takes a turn or a few, so that calls of others come in between. */
function faraway(store: ScheduleStore, seed: number): { store: ScheduleStore; between: () => Promise<void> } {
  const random = randomOf(seed)
  const between = async () => {
    for (let turn = Math.floor(random() * 8); turn > 0; turn -= 1) await Promise.resolve()
  }
  const later = Object.entries(store).map(([name, member]) => {
    if (typeof member !== 'function') return [name, name === 'boundTo' ? undefined : member]
    return [
      name,
      async (...args: never[]) => {
        await between()
        const answer = await (member as (...given: never[]) => unknown)(...args)
        await between()
        return answer
      },
    ]
  })
  return { store: Object.fromEntries(later) as ScheduleStore, between }
}

describe('8 engines whose clocks differ by up to 2 s start each of 1,000 windows once', () => {
  test.each(SEEDS)('over one store that answers late, seed %d', { timeout: 120_000 }, async (seed) => {
    const { store, between } = faraway(memoryStore(), seed)
    const { started, problems } = await race({
      seed,
      store,
      between,
      schedules: 100,
      engines: 8,
      kind: 'dispatch',
    })
    expect(problems).toEqual([])
    expect(started.size).toBeGreaterThan(300)
  })

  test.each(SEEDS)('over one Durable Object, seed %d', { timeout: 120_000 }, async (seed) => {
    const object = simulateObject((ctx) => ({
      alarm: () => undefined,
      store: durableObjectStore(ctx.storage),
    }))
    const { store } = object.instance
    const { started, problems } = await race({ seed, store, schedules: 100, engines: 8, kind: 'handler' })
    object.close()
    expect(problems).toEqual([])
    expect(started.size).toBeGreaterThan(300)
  })
})

describe('8 engines whose clocks differ by up to 2 s tick 1,000 due schedules across the edge of a window', () => {
  test.each(LONG_SEEDS)('over one D1, seed %d', { timeout: 120_000 }, async (seed) => {
    const database = fakeD1()
    const race1000 = { seed, schedules: 1_000, engines: 8, at: EDGE } as const
    const { started, problems } = await race({ ...race1000, store: d1Store(database), kind: 'dispatch' })
    database.close()
    expect(problems).toEqual([])
    expect(started.size).toBeGreaterThanOrEqual(1_000)
  })

  test.each(LONG_SEEDS)('over one Durable Object, seed %d', { timeout: 120_000 }, async (seed) => {
    const object = simulateObject((ctx) => ({
      alarm: () => undefined,
      store: durableObjectStore(ctx.storage),
    }))
    const race1000 = { seed, schedules: 1_000, engines: 8, at: EDGE } as const
    const { started, problems } = await race({ ...race1000, store: object.instance.store, kind: 'handler' })
    object.close()
    expect(problems).toEqual([])
    expect(started.size).toBeGreaterThanOrEqual(1_000)
  })
})
