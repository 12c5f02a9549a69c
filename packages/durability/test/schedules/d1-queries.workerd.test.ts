import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  type D1Like,
  type D1StatementLike,
  DurabilityEngine,
  d1Store,
  dispatch,
  workflow,
} from '../../src/schedules/index.ts'
import { MINUTE_MS, START_AT } from './support/setup.ts'

/** Queries that one invocation of a Worker may make of D1. Each statement of a batch is one. */
const LIMIT = 1_000
/** What `maxFiresPerTick` is said to be set to over D1. */
const DOCUMENTED = 60
/** Queries of one fire, and of a tick beside its fires: the due query, and what is looked for now and then. */
const PER_FIRE = 7
const PER_LATE_FIRE = 12
/** Of one that asks how its last Workflow is doing, which has ended, and of that one when it is late. */
const PER_SKIPPING_FIRE = 9
const PER_LATE_SKIPPING_FIRE = 14
/** Of one whose Workflow has more runs than are kept: old ones that have ended are asked for. */
const PER_FULL_FIRE = 10
const PER_LATE_FULL_FIRE = 15
/** And of one that counts failures besides. */
const PER_WATCHED_FIRE = 11
const PER_LATE_WATCHED_FIRE = 16
const PER_TICK = 4

const TABLES = ['durable_schedules', 'durable_schedule_tags', 'durable_runs', 'durable_decisions']

beforeEach(async () => {
  await env.SCHEDULES_DB.batch(
    TABLES.map((table) => env.SCHEDULES_DB.prepare(`DROP TABLE IF EXISTS ${table}`)),
  )
})

/** The same database, and how many statements it was asked for. */
function counting(database: D1Like): { readonly database: D1Like; take(): number } {
  let queries = 0
  /** The statements as the database made them: only it can run them as a batch. */
  const own = new WeakMap<D1StatementLike, D1StatementLike>()
  const counted = (statement: D1StatementLike): D1StatementLike => {
    const wrapper: D1StatementLike = {
      bind: (...values) => counted(statement.bind(...values)),
      all() {
        queries += 1
        return statement.all()
      },
    }
    own.set(wrapper, statement)
    return wrapper
  }
  return {
    database: {
      prepare: (query) => counted(database.prepare(query)),
      batch(statements) {
        queries += statements.length
        return database.batch(statements.map((statement) => own.get(statement) ?? statement))
      },
    },
    take() {
      const taken = queries
      queries = 0
      return taken
    },
  }
}

const ENDED_INSTANCE = { status: async () => ({ status: 'complete' }), terminate: async () => undefined }

/** A Workflow whose instances have ended whenever they are asked. */
const ENDED = {
  create: async () => ENDED_INSTANCE,
  get: async () => ENDED_INSTANCE,
}

async function setup(schedules: number, options: { readonly maxFiresPerTick?: number } = {}) {
  const { database, take } = counting(env.SCHEDULES_DB)
  let now = START_AT
  const started: string[] = []
  const engine = new DurabilityEngine({
    store: d1Store(database),
    workflows: { work: dispatch(({ runId }) => void started.push(runId)), brief: workflow(ENDED) },
    clock: () => now,
    // Trims delete from the second fire on.
    keptRuns: 1,
    ...options,
  })
  for (let n = 0; n < schedules; n += 1)
    await engine.schedules.create({ id: `s${n}`, workflow: 'work', every: MINUTE_MS })
  const tick = async (ms = MINUTE_MS) => {
    now += ms
    take()
    const runIds = await engine.schedules.tick()
    return { fires: runIds.length, queries: take() }
  }
  return { engine, started, tick }
}

describe('the queries of a tick over D1', () => {
  test(`are ${PER_FIRE} for each fire, and at most ${PER_TICK} beside`, async () => {
    const { tick } = await setup(12)
    for (let minute = 0; minute < 3; minute += 1) {
      const { fires, queries } = await tick()
      expect(fires).toBe(12)
      expect(queries - 12 * PER_FIRE).toBeGreaterThan(0)
      expect(queries - 12 * PER_FIRE).toBeLessThanOrEqual(PER_TICK)
    }
  })

  test('of one that fires nothing are the due query and what is looked for now and then', async () => {
    const { tick } = await setup(12)
    await tick()
    const { fires, queries } = await tick(1_000)
    expect(fires).toBe(0)
    expect(queries).toBe(1)
  })

  test('stay below what an invocation may make with the documented maxFiresPerTick', async () => {
    const { tick, started } = await setup(DOCUMENTED + 20, { maxFiresPerTick: DOCUMENTED })
    const first = await tick()
    expect(first.fires).toBe(DOCUMENTED)
    expect(first.queries).toBeLessThan(LIMIT)
    // The rest is due still, and the next tick's.
    const second = await tick(0)
    expect(second.fires).toBe(20)
    expect(new Set(started).size).toBe(DOCUMENTED + 20)
    // And when every one of them is late.
    const late = await tick(10 * MINUTE_MS)
    expect(late.fires).toBe(DOCUMENTED)
    expect(late.queries).toBeLessThan(LIMIT)
  })

  test(`are ${PER_LATE_FIRE} for each that is late, with its decision`, async () => {
    const { tick } = await setup(12)
    await tick()
    const { fires, queries } = await tick(10 * MINUTE_MS)
    expect(fires).toBe(12)
    expect(queries - 12 * PER_LATE_FIRE).toBeGreaterThan(0)
    expect(queries - 12 * PER_LATE_FIRE).toBeLessThanOrEqual(PER_TICK)
  })

  test('are at most 14 where overlap skips and the last Workflow has ended: 60 of them stay below the limit', async () => {
    const { engine, tick } = await setup(0)
    for (let n = 0; n < 12; n += 1)
      await engine.schedules.create({ id: `w${n}`, workflow: 'brief', every: MINUTE_MS, overlap: 'skip' })
    await tick()
    const ordinary = await tick()
    expect(ordinary.fires).toBe(12)
    expect(ordinary.queries - 12 * PER_SKIPPING_FIRE).toBeLessThanOrEqual(PER_TICK)
    const late = await tick(10 * MINUTE_MS)
    expect(late.fires).toBe(12)
    expect(late.queries - 12 * PER_LATE_SKIPPING_FIRE).toBeLessThanOrEqual(PER_TICK)
    expect(DOCUMENTED * PER_LATE_SKIPPING_FIRE + PER_TICK).toBeLessThan(LIMIT)
  })

  test.each([
    ['old runs are asked for', {}, PER_FULL_FIRE, PER_LATE_FULL_FIRE],
    ['failures are counted too', { pauseAfterFailures: 3 }, PER_WATCHED_FIRE, PER_LATE_WATCHED_FIRE],
  ])('of a Workflow stay below the limit where %s', async (_name, policies, perFire, perLateFire) => {
    const { engine, tick } = await setup(0)
    for (let n = 0; n < 12; n += 1)
      await engine.schedules.create({ id: `w${n}`, workflow: 'brief', every: MINUTE_MS, ...policies })
    for (let minute = 0; minute < 3; minute += 1) await tick()
    const ordinary = await tick()
    expect(ordinary.fires).toBe(12)
    expect(ordinary.queries - 12 * perFire).toBeLessThanOrEqual(PER_TICK)
    const late = await tick(10 * MINUTE_MS)
    expect(late.fires).toBe(12)
    expect(late.queries - 12 * perLateFire).toBeLessThanOrEqual(PER_TICK)
    expect(DOCUMENTED * perLateFire + PER_TICK).toBeLessThan(LIMIT)
  })

  test('are as many beside 2,000 other schedules', async () => {
    const { tick } = await setup(6)
    await tick()
    const alone = await tick()
    await env.SCHEDULES_DB.prepare(
      `WITH RECURSIVE others(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM others WHERE n < 2000)
        INSERT INTO durable_schedules SELECT 'other' || n, namespace, workflow, definition, note, paused, finished,
          next_window + 86400000, next_fire_at + 86400000, first_attempt_at, attempts, NULL, NULL, 0, NULL, 0, created_at,
          updated_at, revision, writes, 0
        FROM others, durable_schedules WHERE id = 's0'`,
    ).run()
    expect(await tick()).toEqual(alone)
  })
})
