import { afterEach, describe, expect, it, vi } from 'vitest'
import type { DurabilityEngine, ScheduleDefinition } from '../../src/schedules/index.ts'
import type { Cost } from '../workerd/support/counting.ts'
import { until } from '../workerd/support/time.ts'
import {
  type CostObject,
  copySchedule,
  costObject,
  FIRING,
  forgetObjects,
  KEPT,
  RESTING,
  SPREAD,
  storeMany,
} from './support/cost-object.ts'
import { DAY_MS, MINUTE_MS } from './support/setup.ts'

const MANY = 100_000
const TIMEOUT = { timeout: 120_000 }

afterEach(async () => {
  vi.useRealTimers()
  await forgetObjects()
})

async function stored(due: number, all: number, isDriven = true): Promise<CostObject> {
  const object = costObject(isDriven)
  await storeMany(object, { due, all })
  return object
}

/** All rows that belong to a schedule. */
function rowsOf(object: CostObject, id: string): Promise<unknown[]> {
  return object.inside(({ ctx: { storage } }) =>
    [
      'SELECT * FROM durable_schedules WHERE id = ?',
      'SELECT * FROM durable_schedule_tags WHERE schedule_id = ?',
      'SELECT * FROM durable_runs WHERE schedule_id = ?',
      'SELECT * FROM durable_decisions WHERE schedule_id = ?',
    ].flatMap((query) => storage.sql.exec(query, id).toArray()),
  )
}

describe('the schedules that are stored for these tests', () => {
  it('are rows as the store writes them, each with a full history', async () => {
    const object = await stored(3, 20)
    const rows = await rowsOf(object, 'made')
    expect(rows).toHaveLength(1 + 1 + KEPT + KEPT)
    expect(JSON.stringify(await rowsOf(object, 'made-2'))).toBe(
      JSON.stringify(rows).replaceAll('made', 'made-2'),
    )
    await object.costOf(({ schedules }) => schedules.create({ ...RESTING, id: 'rest-other', tags: ['t3'] }))
    const other = JSON.stringify(await rowsOf(object, 'rest-other'))
    await object.inside(({ ctx }) =>
      copySchedule(ctx, 'rest', 1, {
        id: "'rest-same!'",
        schedule_id: "'rest-same!'",
        definition: "json_set(definition, '$.tags', json_array('t3'))",
        tag: "'t3'",
      }),
    )
    expect(JSON.stringify(await rowsOf(object, 'rest-same!'))).toBe(
      other.replaceAll('rest-other', 'rest-same!'),
    )
  })
})

describe('a fire of a handler in an object of 100,000 schedules, 50 runs and 50 decisions kept of each that fires', () => {
  it.each([{ due: 1 }, { due: 100 }])(
    'reads at most 12 rows and writes at most 8, with $due due, and arms one alarm in all',
    TIMEOUT,
    async ({ due }) => {
      const object = await stored(due, MANY)
      for (let minute = 0; minute < 2; minute += 1) {
        const before = object.called.length
        object.clock.moveBy(MINUTE_MS)
        const { rowsRead, rowsWritten, alarms } = await object.costOfAlarm()
        expect(object.called.length - before).toBe(due)
        expect(rowsRead / due).toBeLessThanOrEqual(12)
        expect(rowsWritten / due).toBeLessThanOrEqual(8)
        expect(alarms).toBe(1)
      }
      const runs = await object.inside(({ engine }) => engine.listRuns({ scheduleId: FIRING.id, limit: 100 }))
      expect(runs.map(({ status }) => status)).toEqual(Array.from({ length: KEPT }, () => 'complete'))
    },
  )

  it.each<{ what: string; policies: Partial<ScheduleDefinition>; most: number }>([
    { what: 'whose input is validated', policies: { workflow: 'checked' }, most: 15 },
    { what: 'with overlap: skip', policies: { overlap: 'skip' }, most: 16 },
    { what: 'with pauseAfterFailures', policies: { pauseAfterFailures: 3 }, most: 16 },
    { what: 'with catchup: skip', policies: { catchup: 'skip' }, most: 12 },
  ])('$what reads at most $most rows, with 100 due', TIMEOUT, async ({ policies, most }) => {
    const object = costObject()
    await storeMany(object, { due: 100, all: 1_000, policies })
    object.clock.moveBy(MINUTE_MS)
    const before = object.called.length
    const { rowsRead, rowsWritten } = await object.costOfAlarm()
    expect(object.called.length - before).toBe(100)
    expect(rowsRead / 100).toBeLessThanOrEqual(most)
    expect(rowsWritten / 100).toBeLessThanOrEqual(8)
  })

  it('costs exactly what it costs beside 100, in rows', TIMEOUT, async () => {
    const costs: Cost[] = []
    for (const all of [100, MANY]) {
      const object = await stored(1, all)
      object.clock.moveBy(MINUTE_MS)
      costs.push(await object.costOfAlarm())
    }
    expect(costs[1]).toEqual(costs[0])
    expect(costs[0]).toEqual({ rowsRead: 12, rowsWritten: 7, alarms: 1, alarmDeletes: 0 })
  })

  it(
    'of a late one costs four rows more, for the move onto its latest window and the decision',
    TIMEOUT,
    async () => {
      const object = await stored(1, MANY)
      object.clock.moveBy(MINUTE_MS)
      const ordinary = await object.costOfAlarm()
      object.clock.moveBy(10 * MINUTE_MS)
      const late = await object.costOfAlarm()
      expect(late.rowsWritten - ordinary.rowsWritten).toBe(4)
      expect(late.rowsRead - ordinary.rowsRead).toBeLessThanOrEqual(12)
      expect(late.alarms).toBeLessThanOrEqual(2)
    },
  )

  it.each([{ due: 1 }, { due: 100 }])('costs no more by tick(), with $due due', TIMEOUT, async ({ due }) => {
    const object = await stored(due, MANY, false)
    object.clock.moveBy(MINUTE_MS)
    const before = object.called.length
    const { rowsRead, rowsWritten } = await object.costOf(async (engine) => {
      await engine.schedules.tick()
      await until('all were called', () => object.called.length - before === due)
      await engine.drain()
    })
    expect(rowsRead / due).toBeLessThanOrEqual(12)
    expect(rowsWritten / due).toBeLessThanOrEqual(8)
  })

  it('reads no more beside 10,000 runs outside that have not ended', TIMEOUT, async () => {
    const object = await stored(1, 1_000)
    object.clock.moveBy(MINUTE_MS)
    const alone = await object.costOfAlarm()
    await object.inside(({ ctx: { storage } }) =>
      storage.sql.exec(
        `WITH RECURSIVE outside(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM outside WHERE n < 10000)
          INSERT INTO durable_runs SELECT '', 0, 'outside ' || n, 'outside ' || n, workflow, 'workflow', input, namespace,
            tags, search_attributes, priority, revision, NULL, 'running', 0, created_at, started_at, NULL, NULL, NULL,
            1, 0, created_at
          FROM outside, (SELECT * FROM durable_runs LIMIT 1)`,
      ),
    )
    object.clock.moveBy(MINUTE_MS)
    expect(await object.costOfAlarm()).toEqual(alone)
  })
})

const VERBS: Readonly<Record<string, (engine: DurabilityEngine) => unknown>> = {
  'upsert of the same': ({ schedules }) => schedules.upsert(FIRING),
  'upsert of another input': ({ schedules }) => schedules.upsert({ ...FIRING, input: { other: true } }),
  'upsert of another timing': ({ schedules }) => schedules.upsert({ ...FIRING, every: 2 * MINUTE_MS }),
  'upsert of a new one': ({ schedules }) => schedules.upsert({ ...FIRING, id: 'new', every: 40 * DAY_MS }),
  get: ({ schedules }) => schedules.get('made'),
  pause: ({ schedules }) => schedules.pause('made'),
  resume: ({ schedules }) => schedules.resume('made'),
  trigger: ({ schedules }) => schedules.trigger('made'),
  preview: ({ schedules }) => schedules.preview('made'),
  history: ({ schedules }) => schedules.history('made'),
  delete: ({ schedules }) => schedules.delete('new'),
}

/** Rows read and written at most. A verb whose history is asked for, or grows, reads that: at most 50 runs and decisions. */
const MOST: Readonly<Record<string, readonly [number, number]>> = {
  'upsert of the same': [3, 0],
  'upsert of another input': [12, 2],
  get: [1, 0],
  pause: [12, 4],
}

describe('a verb', () => {
  it('costs the same beside 100 and beside 100,000 others', TIMEOUT, async () => {
    const measured: Record<string, readonly [number, number]>[] = []
    for (const all of [100, MANY]) {
      const object = await stored(1, all)
      const costs: Record<string, readonly [number, number]> = {}
      for (const [name, call] of Object.entries(VERBS)) {
        const { rowsRead, rowsWritten } = await object.costOf(call)
        costs[name] = [rowsRead, rowsWritten]
      }
      measured.push(costs)
    }
    expect(measured[1]).toEqual(measured[0])
    for (const [name, [read, written]] of Object.entries(measured[0] ?? {})) {
      const [mostRead, mostWritten] = MOST[name] ?? [4 * KEPT, 5]
      expect([name, read <= mostRead, written <= mostWritten]).toEqual([name, true, true])
    }
  })
})

const LIMIT = 10

describe('a page of 100,000', () => {
  it('reads at most its limit and two, the first and the thousandth by cursor', TIMEOUT, async () => {
    const object = await stored(1, MANY)
    for (const filter of [{}, { paused: false }, { paused: true }, { workflow: 'brief' }]) {
      const { first, far } = await pages(object, filter)
      expect([filter, first <= LIMIT + 2, far <= LIMIT + 2]).toEqual([filter, true, true])
    }
  })

  it('of a namespace reads on until it is full, for no index holds namespaces', TIMEOUT, async () => {
    const object = await stored(1, MANY)
    const { first, far } = await pages(object, { namespace: 'n3' }, 900)
    expect(first).toBeLessThanOrEqual((LIMIT + 2) * SPREAD)
    expect(far).toBeLessThanOrEqual((LIMIT + 2) * SPREAD)
    expect(first).toBeGreaterThan(2 * LIMIT)
  })

  it('of a workflow that has none reads all', TIMEOUT, async () => {
    const object = await stored(1, MANY)
    expect((await pages(object, { workflow: 'none' })).first).toBe(MANY)
  })

  it('of a tag reads those that have it, thrice, and no others', TIMEOUT, async () => {
    const object = await stored(1, MANY)
    const tagged = await object.inside(({ engine }) => engine.schedules.count({ tag: 't3' }))
    expect(tagged).toBe(MANY / SPREAD)
    const { first, far } = await pages(object, { tag: 't3' }, 900)
    expect(first).toBeLessThanOrEqual(3 * tagged + 1)
    expect(far).toBeLessThanOrEqual(first)
    expect((await pages(object, { tag: 'often' })).first).toBeLessThanOrEqual(4)
  })

  it('count reads each one it looks at once, and those of a tag twice', TIMEOUT, async () => {
    const object = await stored(1, MANY)
    const reads = async (filter: object) =>
      (await object.costOf(({ schedules }) => schedules.count(filter))).rowsRead
    expect(await reads({})).toBe(MANY)
    expect(await reads({ namespace: 'n3' })).toBe(MANY)
    expect(await reads({ tag: 't3' })).toBeLessThanOrEqual((2 * MANY) / SPREAD + 1)
  })
})

/** Rows read by the first page and by the one after `offset` pages, which a cursor leads to. */
async function pages(object: CostObject, filter: object, offset = 999) {
  const list = async (page: object) => {
    let cursor: string | null = null
    let found = 0
    const { rowsRead } = await object.costOf(async ({ schedules }) => {
      const rows = await schedules.list({ ...filter, limit: LIMIT, ...page })
      cursor = rows.cursor
      found = rows.length
    })
    return { rowsRead, cursor, found }
  }
  const first = await list({})
  const { cursor } = await list({ offset: (offset - 1) * LIMIT })
  if (cursor === null) return { first: first.rowsRead, far: 0 }
  const far = await list({ cursor })
  expect(far.found).toBe(LIMIT)
  return { first: first.rowsRead, far: far.rowsRead }
}
