import { afterEach, expect, test } from 'vitest'
import {
  DurabilityEngine,
  d1Store,
  dispatch,
  type ScheduleDefinition,
  workflow,
} from '../packages/durability/src/schedules/index.node.ts'
import { fakeD1 } from '../packages/durability/test/schedules/support/d1.ts'

const HOUR_MS = 3_600_000
const ended = { status: async () => ({ status: 'complete' }), terminate: async () => {} }

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** An engine over D1 that says how many statements each tick makes: the store prepares each one once. */
async function setup(schedules: readonly ScheduleDefinition[]) {
  const database = fakeD1()
  closing.push(() => database.close())
  let statements = 0
  let now = Date.UTC(2026, 0, 1)
  const prepare = (query: string) => {
    statements += 1
    return database.prepare(query)
  }
  const engine = new DurabilityEngine({
    store: d1Store({ ...database, prepare }),
    workflows: {
      notify: dispatch(() => undefined),
      report: workflow({ create: async () => undefined, get: async () => ended }),
    },
    clock: () => now,
    maxFiresPerTick: 60,
  })
  for (const definition of schedules) await engine.schedules.create(definition)
  return {
    async tickIn(ms: number) {
      now += ms
      statements = 0
      const { length: fired } = await engine.schedules.tick()
      return { fired, statements }
    },
  }
}

const HOURLY = { id: 'a', workflow: 'notify', every: '1h' } as const
/** What a tick asks besides: what is due, and once a minute what is to be swept. */
const TICK = 1
const SWEEP = 2

test('a tick over D1 that finds nothing is one statement, and two more once a minute', async () => {
  const { tickIn } = await setup([HOURLY])
  expect(await tickIn(0)).toEqual({ fired: 0, statements: TICK + SWEEP })
  expect(await tickIn(1_000)).toEqual({ fired: 0, statements: TICK })
})

test.each<[string, ScheduleDefinition, number]>([
  ['dispatch', HOURLY, 7],
  ['a Workflow', { ...HOURLY, workflow: 'report' }, 7],
  [
    'a Workflow with overlap, whose last run has ended',
    { ...HOURLY, workflow: 'report', overlap: 'skip' },
    9,
  ],
])('a window over D1 of %s', async (_, definition, statements) => {
  const { tickIn } = await setup([definition])
  await tickIn(HOUR_MS)
  expect(await tickIn(HOUR_MS)).toEqual({ fired: 1, statements: statements + TICK + SWEEP })
  expect(await tickIn(3 * HOUR_MS)).toEqual({ fired: 1, statements: statements + 5 + TICK + SWEEP })
})

test('60 late fires that ask how the last Workflow is doing stay below 850 statements', async () => {
  const definitions = Array.from(
    { length: 70 },
    (_, n): ScheduleDefinition => ({ ...HOURLY, id: `s${n}`, workflow: 'report', overlap: 'skip' }),
  )
  const { tickIn } = await setup(definitions)
  await tickIn(HOUR_MS)
  await tickIn(0)
  const { fired, statements } = await tickIn(3 * HOUR_MS)
  expect(fired).toBe(60)
  expect(statements).toBeLessThan(850)
})
