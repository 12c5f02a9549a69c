import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import {
  ConcurrencyLimitError,
  InvalidInputError,
  InvalidScheduleError,
  type RunDescription,
  ScheduleAlreadyExistsError,
  type ScheduleDescription,
  ScheduleNotFoundError,
  type ScheduleObjectStub,
  ShardCountError,
  ShardError,
  shardedSchedules,
  WorkflowNotRegisteredError,
} from '../../src/schedules/index.ts'
import { shardOf } from '../../src/schedules/sharded.ts'
import { comparedText } from '../../src/schedules/text-order.ts'
import { scheduleObject } from '../workerd/support/schedule-objects.ts'
import { behaviour } from '../workerd/support/test-schedules.ts'
import { FAR_AHEAD, freezeClock, until } from '../workerd/support/time.ts'

const SHARDS = 4
const sharded = () => shardedSchedules(env.SCHEDULES, { shards: SHARDS })
const objectOf = (id: string, shards = SHARDS) => scheduleObject(`schedules-${shardOf(id, shards)}`)

const HOUR_MS = 3_600_000
const HOURLY = { workflow: 'work', every: '1h' } as const

/** A client for which the stub of some objects rejects, as that of an object that cannot be reached does. */
function shardedWithout(...down: number[]) {
  const names = down.map((shard) => `schedules-${shard}`)
  const getByName = (name: string): ScheduleObjectStub => {
    if (!names.includes(name)) return env.SCHEDULES.getByName(name)
    return { call: () => Promise.reject(new Error('The object is down')) }
  }
  return shardedSchedules({ getByName }, { shards: SHARDS })
}

/** The first ids of that form that are in the given shard. */
function idsIn(shard: number, count: number): string[] {
  const ids: string[] = []
  for (let n = 0; ids.length < count; n += 1) if (shardOf(`id-${n}`, SHARDS) === shard) ids.push(`id-${n}`)
  return ids
}

beforeEach(() => {
  // The platform's alarms keep real time: none fires by itself.
  freezeClock()
})

describe('placement', () => {
  test('a schedule, its verbs and its runs are in the object of its id', async () => {
    const { schedules, getRun, listRuns } = sharded()
    const ids = ['a', 'morning-brief', 'a/b:c%', '😀']
    for (const id of ids) await schedules.create({ ...HOURLY, id })
    for (const id of ids) {
      const { id: runId } = await schedules.trigger(id)
      const own = objectOf(id)
      expect((await own.remote().schedules.get(id))?.id).toBe(id)
      expect((await own.remote().getRun(runId))?.scheduleId).toBe(id)
      expect((await getRun(runId))?.id).toBe(runId)
      expect((await listRuns({ scheduleId: id })).map((run) => run.id)).toEqual([runId])
    }
    expect(new Set(ids.map((id) => shardOf(id, SHARDS))).size).toBeGreaterThan(1)
  })

  test('the number of shards is stored, and another one refused in every call, and nothing written', async () => {
    await sharded().schedules.create({ ...HOURLY, id: 'a' })
    const other = () => shardedSchedules(env.SCHEDULES, { shards: 7 })
    const calls: (() => Promise<unknown>)[] = [
      () => other().schedules.get('a'),
      () => other().schedules.create({ ...HOURLY, id: 'b' }),
      () => other().schedules.list(),
      () => other().schedules.list({ partial: true }),
      () => other().schedules.count({ partial: true }),
      () => other().start('work', null, 'mine'),
      () => other().listRuns({ scheduleId: 'b' }),
    ]
    for (const call of calls) {
      const error = await call().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ShardCountError)
      expect((error as Error).message).toContain('The set has 4 shards, not 7')
    }
    for (let shard = SHARDS; shard < 7; shard += 1) {
      const tables = await scheduleObject(`schedules-${shard}`).inside(({ parts }) =>
        parts.ctx.storage.sql.exec("SELECT name FROM sqlite_master WHERE type = 'table'").toArray(),
      )
      expect(tables.filter(({ name }) => name === 'durable_placement')).toEqual([])
    }
    expect(await sharded().schedules.count()).toBe(1)
  })

  test('the number of shards is kept over an eviction of the object that knows it', async () => {
    await sharded().schedules.get('a')
    await scheduleObject('schedules-0').evict()
    const other = shardedSchedules(env.SCHEDULES, { shards: 5 })
    await expect(other.schedules.get('a')).rejects.toBeInstanceOf(ShardCountError)
    expect(await sharded().schedules.get('a')).toBe(null)
  })
})

describe('list', () => {
  /** Schedules that are due at few times, so that many are told apart by their ids alone. */
  async function fill(): Promise<ScheduleDescription[]> {
    const { schedules } = sharded()
    const made: ScheduleDescription[] = []
    const ids = [...Array(30).keys()].map((n) => `id-${n}`).concat(['😀', 'Ａ', 'é', 'z', 'Z', '\ue000', '~'])
    for (const [n, id] of ids.entries()) {
      made.push(
        await schedules.create({
          id,
          workflow: 'work',
          every: n % 3 === 0 ? '1h' : '2h',
          paused: n % 5 === 0,
          tags: n % 2 === 0 ? ['even'] : [],
          ...(n % 7 === 0 && { maxRuns: 1, startAt: FAR_AHEAD + 9 * HOUR_MS }),
        }),
      )
    }
    return made
  }

  function inOrder(all: readonly ScheduleDescription[]): string[] {
    const key = ({ paused, nextFireAt }: ScheduleDescription) => (paused ? 2e16 : (nextFireAt ?? 1e16))
    return [...all]
      .sort((one, other) => key(one) - key(other) || comparedText(one.id, other.id))
      .map(({ id }) => id)
  }

  test.each([1, 2, 5, 36, 37, 100])('in pages of %i equals a sort of everything', async (limit) => {
    const all = await fill()
    const { schedules } = sharded()
    const seen: string[] = []
    let cursor: string | undefined
    let pages = 0
    do {
      const page = await schedules.list({ limit, ...(cursor !== undefined && { cursor }) })
      seen.push(...page.map(({ id }) => id))
      cursor = page.cursor ?? undefined
      pages += 1
    } while (cursor !== undefined)
    expect(seen).toEqual(inOrder(all))
    expect(pages).toBe(Math.ceil(all.length / limit))
  })

  test('filters, leaves out an offset, and counts, over all shards', async () => {
    const all = await fill()
    const { schedules } = sharded()
    const even = all.filter(({ tags }) => tags.includes('even'))
    expect((await schedules.list({ tag: 'even' })).map(({ id }) => id)).toEqual(inOrder(even))
    expect((await schedules.list({ offset: 30, limit: 5 })).map(({ id }) => id)).toEqual(
      inOrder(all).slice(30, 35),
    )
    expect(await schedules.count()).toBe(all.length)
    expect(await schedules.count({ tag: 'even', paused: false })).toBe(
      even.filter(({ paused }) => !paused).length,
    )
    await expect(schedules.list({ no: 1 } as never)).rejects.toMatchObject({ field: 'no' })
    await expect(schedules.list({ cursor: 'x' })).rejects.toMatchObject({ field: 'cursor' })
    await expect(schedules.list({ limit: 1_001 })).rejects.toMatchObject({ field: 'limit' })
  })

  test('of runs is newest first over all shards, in pages', async () => {
    const clock = freezeClock()
    const { start, listRuns } = sharded()
    const made: RunDescription[] = []
    for (let n = 0; n < 12; n += 1) {
      if (n % 3 === 0) clock.moveBy(1_000)
      made.push(await start('work', n, `run-${n % 2 === 0 ? '😀' : 'Ａ'}-${n}`))
    }
    const expected = [...made]
      .sort((one, other) => other.createdAt - one.createdAt || comparedText(other.id, one.id))
      .map(({ id }) => id)
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page: Awaited<ReturnType<typeof listRuns>> = await listRuns({
        limit: 5,
        ...(cursor && { cursor }),
      })
      seen.push(...page.map(({ id }) => id))
      cursor = page.cursor
    } while (cursor !== null)
    expect(seen).toEqual(expected)
  })
})

describe('one object that fails', () => {
  test('is named in the error of a call that needs it, and the others answer', async () => {
    const { schedules } = sharded()
    const [inOne = ''] = idsIn(1, 1)
    const [inTwo = ''] = idsIn(2, 1)
    for (const id of [inOne, inTwo]) await schedules.create({ ...HOURLY, id })
    const down = shardedWithout(2)
    for (const call of [
      () => down.schedules.get(inTwo),
      () => down.schedules.list(),
      () => down.schedules.count(),
      () => down.listRuns(),
    ]) {
      const error = await call().catch((thrown: unknown) => thrown)
      expect(error).toBeInstanceOf(ShardError)
      expect(error).toMatchObject({
        shard: 2,
        code: 'shard_failed',
        message: 'Shard 2 failed: The object is down',
      })
      expect((error as Error).cause).toBeInstanceOf(Error)
    }
    expect((await down.schedules.get(inOne))?.id).toBe(inOne)
  })

  test('by throwing is named just so', async () => {
    const [id = ''] = idsIn(1, 1)
    const { schedules } = sharded()
    await schedules.get(id)
    behaviour.broken.add('schedules-1')
    const error = await schedules.get(id).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ShardError)
    expect(error).toMatchObject({ message: 'Shard 1 failed: The object is down' })
  })

  test('is left out with partial, and named beside the answers of the rest, over all pages', async () => {
    const ids = [0, 1, 2, 3].flatMap((shard) => idsIn(shard, 3))
    const { schedules } = sharded()
    for (const id of ids) await schedules.create({ ...HOURLY, id })
    for (const down of [0, 2]) {
      const rest = ids.filter((id) => shardOf(id, SHARDS) !== down).sort(comparedText)
      const partial = shardedWithout(down)
      const page = await partial.schedules.list({ partial: true })
      expect(page.map(({ id }) => id)).toEqual(rest)
      expect(page.failed.map(({ shard }) => shard)).toEqual([down])
      expect(await partial.schedules.count({ partial: true })).toBe(rest.length)
      const first = await partial.schedules.list({ partial: true, limit: 4 })
      const second = await partial.schedules.list({ partial: true, limit: 100, cursor: first.cursor ?? '' })
      expect([...first, ...second].map(({ id }) => id)).toEqual(rest)
      expect((await partial.listRuns({ partial: true })).failed).toHaveLength(1)
    }
    expect((await schedules.list({ partial: true })).failed).toEqual([])
  })

  test('inside, by its database for example, is named in what asks all', async () => {
    const { schedules } = sharded()
    await schedules.create({ ...HOURLY, id: 'morning-brief' })
    await scheduleObject('schedules-1').inside(({ parts }) => {
      const { sql } = parts.ctx.storage
      sql.exec('DROP TABLE IF EXISTS durable_schedules')
      sql.exec('CREATE TABLE durable_schedules (id TEXT)')
    })
    await expect(schedules.list()).rejects.toMatchObject({ name: 'ShardError', shard: 1 })
    const page = await schedules.list({ partial: true })
    expect(page.map(({ id }) => id)).toEqual(['morning-brief'])
    expect(page.failed.map(({ shard }) => shard)).toEqual([1])
  })
})

test('errors of the objects are instances of their classes, with field and code', async () => {
  behaviour.workflows = {
    picky: {
      handler: () => undefined,
      validate: () => {
        throw new Error('no city')
      },
    },
  }
  const { schedules, start } = sharded()
  await schedules.create({ ...HOURLY, id: 'a' })
  const errorOf = (call: Promise<unknown>) => call.catch((thrown: unknown) => thrown)
  const refused = await errorOf(schedules.create({ id: 'b', workflow: 'work', cron: '0 25 * * *' }))
  expect(refused).toBeInstanceOf(InvalidScheduleError)
  expect(refused).toMatchObject({
    field: 'cron',
    code: 'invalid_schedule',
    reason: expect.stringContaining('25'),
  })
  expect(await errorOf(schedules.create({ ...HOURLY, id: 'a' }))).toBeInstanceOf(ScheduleAlreadyExistsError)
  for (const call of [
    schedules.pause('b'),
    schedules.resume('b'),
    schedules.trigger('b'),
    schedules.history('b'),
  ]) {
    expect(await errorOf(call)).toBeInstanceOf(ScheduleNotFoundError)
  }
  expect(await errorOf(start('none', null, 'x'))).toBeInstanceOf(WorkflowNotRegisteredError)
  const picky = await errorOf(start('picky', null, 'x'))
  expect(picky).toBeInstanceOf(InvalidInputError)
  expect((picky as Error).message).toContain('no city')
  behaviour.work = () => new Promise(() => {})
  const limited = { concurrency: { key: 'k', limit: 1 } }
  await start('work', null, 'sched:a:1', limited)
  expect(await errorOf(start('work', null, 'sched:a:2', limited))).toBeInstanceOf(ConcurrencyLimitError)
})

describe('hostile ids', () => {
  const IDS = [
    'a/b:c%',
    '__proto__',
    'constructor',
    '😀 👩‍👩‍👧',
    `'; DROP TABLE durable_schedules; --`,
    '"quoted" \\ and \'quoted\'',
    ' leading, trailing ',
    'line\nbreak\ttab',
    'manual:5',
    'sched:a:5',
    'e\u0301',
    '\u00e9',
    'x'.repeat(200),
    '😀'.repeat(100),
  ]

  test.each(IDS)('%j survives every verb', async (id) => {
    const { schedules, start, getRun, listRuns, cancelRun } = sharded()
    expect((await schedules.create({ ...HOURLY, id, tags: [id] })).id).toBe(id)
    expect(await schedules.upsert({ ...HOURLY, id, tags: [id], note: id })).toMatchObject({ id, note: id })
    expect(await schedules.get(id)).toMatchObject({ id })
    expect(await schedules.pause(id)).toMatchObject({ paused: true })
    expect(await schedules.resume(id)).toMatchObject({ paused: false })
    expect(await schedules.preview(id, { count: 1 })).toHaveLength(1)
    expect((await schedules.history(id)).map(({ decision }) => decision)).toEqual(['resumed', 'paused'])
    expect((await schedules.list({ tag: id })).map((listed) => listed.id)).toEqual([id])
    expect(await schedules.count({ tag: id })).toBe(1)
    const run = await schedules.trigger(id)
    expect(run).toMatchObject({ id: `sched:${id}:manual:${FAR_AHEAD}`, scheduleId: id })
    behaviour.work = () => new Promise(() => {})
    const window = `sched:${id}:${FAR_AHEAD - HOUR_MS}`
    await start('work', { id }, window)
    expect(await getRun(window)).toMatchObject({ id: window, scheduleId: id, input: { id } })
    expect((await listRuns({ scheduleId: id })).map((listed) => listed.id).sort()).toEqual(
      [run.id, window].sort(),
    )
    expect(await cancelRun(window)).toBe(true)
    await start('work', null, id)
    expect(await getRun(id)).toMatchObject({ id, status: 'running' })
    expect(await cancelRun(id)).toBe(true)
    expect(await schedules.delete(id)).toBe(true)
    expect(await schedules.delete(id)).toBe(false)
    expect(await schedules.get(id)).toBe(null)
  })

  test('are different schedules, and each fires', async () => {
    const { schedules } = sharded()
    for (const id of IDS) await schedules.create({ ...HOURLY, id })
    for (let shard = 0; shard < SHARDS; shard += 1) {
      await scheduleObject(`schedules-${shard}`).passTime(FAR_AHEAD + HOUR_MS)
    }
    await until('every handler was called', () => behaviour.called.length === IDS.length)
    expect(behaviour.called.sort()).toEqual(IDS.map((id) => `sched:${id}:${FAR_AHEAD + HOUR_MS}`).sort())
  })
})
