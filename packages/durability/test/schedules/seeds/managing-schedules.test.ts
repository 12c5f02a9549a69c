import { describe, expect, test } from 'vitest'
import type { ScheduleDescription } from '../../../src/schedules/index.node.ts'
import { delayByHand } from '../support/jitter-oracle.ts'
import { HOUR_MS, MINUTE_MS, START_AT, setup } from '../support/setup.ts'

const HOURLY = { id: 'a', workflow: 'brief', every: '1h' }
const hour = (n: number) => START_AT + n * HOUR_MS

/** A Thursday, 6:00 in Berlin. */
const THURSDAY = Date.UTC(2026, 0, 8, 5)
const NINE = Date.UTC(2026, 0, 8, 8)

describe('a morning brief per person at their 9:00', () => {
  const briefFor = (user: number) => ({
    id: `brief:${user}`,
    workflow: 'brief',
    input: { userId: user },
    cron: '0 9 * * 1-5',
    timezone: 'Europe/Berlin',
    jitter: '2m',
    overlap: 'skip' as const,
    catchup: 'latest' as const,
    tags: ['tenant:1'],
    namespace: 'tenant-1',
  })

  test('fires at 9:00 of their zone, spread over two minutes, on weekdays', async () => {
    const { schedules, tickIn, handler } = setup({ startAt: THURSDAY })
    const dueAt: number[] = []
    for (let user = 0; user < 50; user += 1) {
      const { nextFireAt } = await schedules.upsert(briefFor(user))
      expect(nextFireAt).toBe(NINE + delayByHand(`brief:${user}`, NINE, 2 * MINUTE_MS))
      dueAt.push(nextFireAt ?? 0)
    }
    expect(Math.max(...dueAt) - Math.min(...dueAt)).toBeGreaterThan(MINUTE_MS)
    for (let second = 0; second < 121; second += 1) await tickIn(second === 0 ? NINE - THURSDAY : 1_000)
    expect(handler.runs).toHaveLength(50)
    expect(new Set(handler.windows)).toEqual(new Set([NINE]))
    await tickIn(4 * 24 * HOUR_MS)
    const [last] = handler.windows.slice(-1)
    expect(new Date(last ?? 0).toISOString()).toBe('2026-01-12T08:00:00.000Z')
  })

  test('is paused with a note, resumed, triggered, listed by its tag, read and deleted', async () => {
    const { schedules, engine, tickIn } = setup({ startAt: THURSDAY })
    await schedules.upsert(briefFor(7))
    expect(await schedules.pause('brief:7', 'user on vacation')).toMatchObject({
      paused: true,
      nextFireAt: null,
      note: 'user on vacation',
    })
    expect((await schedules.resume('brief:7')).nextFireAt).toBeGreaterThanOrEqual(NINE)
    const { id } = await schedules.trigger('brief:7')
    await tickIn(0)
    expect((await schedules.list({ tag: 'tenant:1' })).map((row) => row.id)).toEqual(['brief:7'])
    expect(await schedules.get('brief:7')).toMatchObject({ fires: 0, lastFireAt: null, lastError: null })
    expect(await schedules.delete('brief:7')).toBe(true)
    expect(await engine.getRun(id)).toMatchObject({ status: 'complete', input: { userId: 7 } })
  })
})

test('create, upsert, pause and resume return the ScheduleDescription, and trigger the started run', async () => {
  const { schedules, engine } = setup()
  const same = async (described: Promise<ScheduleDescription>) =>
    expect(await described).toEqual(await schedules.get('a'))
  await same(schedules.create({ ...HOURLY, note: 'one' }))
  await same(schedules.upsert({ ...HOURLY, every: '2h' }))
  await same(schedules.upsert({ ...HOURLY, every: '2h' }))
  await same(schedules.pause('a', 'two'))
  await same(schedules.resume('a'))
  const run = await schedules.trigger('a')
  expect(run).toMatchObject({ id: `sched:a:manual:${START_AT}`, workflow: 'brief', scheduleId: 'a' })
  expect((await engine.getRun(run.id))?.id).toBe(run.id)
})

test('upsert keeps last fire, last run, fire count, the pause and the note, whatever it replaces', async () => {
  const { schedules, tickIn } = setup()
  await schedules.create({ ...HOURLY, note: 'mine', tags: ['x'], priority: 5 })
  await tickIn(HOUR_MS)
  await schedules.pause('a')
  expect(await schedules.upsert({ id: 'a', workflow: 'other', cron: '0 0 1 1 *' })).toMatchObject({
    workflow: 'other',
    every: null,
    cron: '0 0 1 1 *',
    tags: [],
    priority: 0,
    paused: true,
    note: 'mine',
    nextFireAt: null,
    fires: 1,
    lastFireAt: hour(1),
    lastRunId: `sched:a:${hour(1)}`,
  })
})

test('a definition whose timing changes goes on from now; a window that was fired is never fired again', async () => {
  const { schedules, tickIn, handler } = setup()
  await schedules.upsert(HOURLY)
  await tickIn(HOUR_MS)
  for (const every of ['30m', '1h', '20m', '1h']) await schedules.upsert({ ...HOURLY, every })
  expect(await tickIn(0)).toEqual([])
  expect(await schedules.upsert({ ...HOURLY, every: '10m' })).toMatchObject({
    nextFireAt: hour(1) + 10 * MINUTE_MS,
  })
  expect(handler.windows).toEqual([hour(1)])
})

describe('list', () => {
  async function filled() {
    const at = setup({ workflows: { sync: () => undefined } })
    const { schedules } = at
    const rows = [
      { id: 'c', workflow: 'brief', every: '3h', namespace: 'n', tags: ['t', 'u'] },
      { id: 'a', workflow: 'sync', every: '1h', namespace: 'n', tags: ['t'] },
      { id: 'b', workflow: 'brief', every: '2h', namespace: 'm', tags: ['u'], paused: true },
      { id: 'd', workflow: 'sync', every: '90m', tags: ['t'] },
      { id: 'e', workflow: 'brief', every: '1m', maxRuns: 1, tags: ['t'] },
    ]
    for (const row of rows) await schedules.create(row)
    await at.tickIn(MINUTE_MS)
    return at
  }

  test.each([
    [{}, ['a', 'd', 'c', 'e', 'b']],
    [{ namespace: 'n' }, ['a', 'c']],
    [{ namespace: 'default' }, ['d', 'e']],
    [{ workflow: 'sync' }, ['a', 'd']],
    [{ tag: 't' }, ['a', 'd', 'c', 'e']],
    [{ paused: true }, ['b']],
    [{ paused: false }, ['a', 'd', 'c', 'e']],
    [{ namespace: 'n', workflow: 'sync', tag: 't', paused: false }, ['a']],
    [{ tag: 'none' }, []],
    [{ limit: 2 }, ['a', 'd']],
    [{ limit: 2, offset: 1 }, ['d', 'c']],
    [{ offset: 5 }, []],
  ])('by %j is soonest due first, then finished, then paused ones', async (filter, ids) => {
    const { schedules } = await filled()
    expect((await schedules.list(filter)).map(({ id }) => id)).toEqual(ids)
    const { limit: _limit, offset: _offset, ...rest } = filter as { limit?: number; offset?: number }
    if (_limit === undefined && _offset === undefined) expect(await schedules.count(rest)).toBe(ids.length)
  })
})

test('every run carries the tags, schedule:<id>, namespace, searchAttributes, priority and revision, also a manual one', async () => {
  const { schedules, engine, tickIn } = setup()
  const stamped = { tags: ['x', 'y'], namespace: 'n', searchAttributes: { team: 'a' }, priority: -3 }
  await schedules.create({ ...HOURLY, ...stamped, input: [1] })
  await schedules.upsert({ ...HOURLY, ...stamped, input: [2] })
  await tickIn(HOUR_MS)
  await schedules.trigger('a')
  const runs = await engine.listRuns({ scheduleId: 'a' })
  expect(runs.map(({ id }) => id).sort()).toEqual([`sched:a:${hour(1)}`, `sched:a:manual:${hour(1)}`].sort())
  for (const run of runs) {
    expect(run).toMatchObject({ ...stamped, tags: ['x', 'y', 'schedule:a'], input: [2], revision: 2 })
  }
})

test('get and list describe the definition with next fire, last fire, last run, fires, last error and note', async () => {
  const { schedules, tickIn } = setup()
  await schedules.create({ ...HOURLY, jitter: '10m', note: 'n' })
  await tickIn(HOUR_MS + 10 * MINUTE_MS)
  await schedules.trigger('a')
  const described = await schedules.get('a')
  expect(described).toMatchObject({
    every: '1h',
    everyMs: HOUR_MS,
    jitter: '10m',
    jitterMs: 10 * MINUTE_MS,
    nextFireAt: hour(2) + delayByHand('a', hour(2), 10 * MINUTE_MS),
    lastFireAt: hour(1),
    lastRunId: `sched:a:${hour(1)}`,
    fires: 1,
    lastError: null,
    note: 'n',
  })
  expect([...(await schedules.list())]).toEqual([described])
  expect((await schedules.pause('a')).nextFireAt).toBe(null)
})
