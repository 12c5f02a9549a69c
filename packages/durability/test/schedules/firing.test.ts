import { afterEach, describe, expect, test, vi } from 'vitest'
import { dispatch, memoryStore } from '../../src/schedules/index.node.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, START_AT, settled, setup, silenceReports } from './support/setup.ts'

afterEach(() => vi.restoreAllMocks())

const HOURLY = { id: 'a', workflow: 'brief', every: '1h' }
const hour = (n: number) => START_AT + n * HOUR_MS

describe('a window', () => {
  test('starts one run with its own id, stamped with what the definition says', async () => {
    const { schedules, engine, tickIn, handler } = setup()
    await schedules.create({
      ...HOURLY,
      input: { userId: 7 },
      tags: ['tenant:1'],
      namespace: 'n',
      priority: 3,
      searchAttributes: { team: 'x' },
    })
    expect(await tickIn(HOUR_MS)).toEqual([`sched:a:${hour(1)}`])
    expect(handler.runs).toHaveLength(1)
    expect(await engine.getRun(`sched:a:${hour(1)}`)).toMatchObject({
      workflow: 'brief',
      input: { userId: 7 },
      tags: ['tenant:1', 'schedule:a'],
      namespace: 'n',
      priority: 3,
      searchAttributes: { team: 'x' },
      scheduleId: 'a',
      scheduledTime: hour(1),
      revision: 1,
      status: 'complete',
    })
    expect(await schedules.get('a')).toMatchObject({
      fires: 1,
      lastFireAt: hour(1),
      lastRunId: `sched:a:${hour(1)}`,
      nextFireAt: hour(2),
    })
    expect(await tickIn(0)).toEqual([])
  })

  test('of a schedule of every hour stays at the full hour, whenever it was created', async () => {
    const { schedules, tickIn, handler } = setup({ startAt: START_AT + 17 * MINUTE_MS })
    await schedules.create(HOURLY)
    for (let n = 0; n < 3; n += 1) await tickIn(HOUR_MS)
    expect(handler.windows).toEqual([hour(1), hour(2), hour(3)])
  })

  test('with jitter is put off by a delay that never changes, and keeps its nominal id', async () => {
    const { schedules, tickIn } = setup()
    const { nextFireAt } = await schedules.create({ ...HOURLY, jitter: '10m' })
    const delay = (nextFireAt ?? 0) - hour(1)
    expect(delay).toBe(115_074)
    expect(await tickIn(HOUR_MS + delay - 1)).toEqual([])
    expect(await tickIn(1)).toEqual([`sched:a:${hour(1)}`])
  })
})

describe('catchup', () => {
  test('latest fires the most recent missed window once, and tells the stretch before it as one', async () => {
    const { schedules, tickIn, handler, decisions } = setup()
    await schedules.create(HOURLY)
    expect(await tickIn(5.5 * HOUR_MS)).toEqual([`sched:a:${hour(5)}`])
    expect(handler.windows).toEqual([hour(5)])
    expect(await decisions('a')).toEqual([
      ['fired', hour(5)],
      ['skipped_catchup', hour(4)],
    ])
    expect((await schedules.history('a'))[1]).toMatchObject({ from: hour(1), to: hour(4) })
    expect(await schedules.get('a')).toMatchObject({ fires: 1, nextFireAt: hour(6) })
  })

  test('latest fires a single late window however late it is', async () => {
    const { schedules, tickIn } = setup()
    await schedules.create({ id: 'y', workflow: 'brief', cron: '0 0 1 2 *' })
    expect(await tickIn(300 * DAY_MS)).toEqual([`sched:y:${Date.UTC(2026, 1, 1)}`])
  })

  test('skip drops what is later than graceMs, and fires what is not', async () => {
    const { schedules, tickIn, decisions } = setup({ graceMs: 60_000 })
    await schedules.create({ ...HOURLY, catchup: 'skip' })
    expect(await tickIn(HOUR_MS + 60_000)).toEqual([`sched:a:${hour(1)}`])
    expect(await tickIn(3 * HOUR_MS + 1)).toEqual([])
    expect(await decisions('a')).toEqual([
      ['skipped_catchup', hour(4)],
      ['fired', hour(1)],
    ])
    expect(await schedules.get('a')).toMatchObject({ fires: 1, nextFireAt: hour(5) })
  })

  test('of a year at one-second cadence is one run and one decision, within 50 ms of CPU', async () => {
    const spent: number[] = []
    for (let round = 0; round < 3; round += 1) {
      const { schedules, moveTo, decisions, handler } = setup()
      await schedules.create({ id: 's', workflow: 'brief', cron: '* * * * * *' })
      await schedules.create({ id: 'e', workflow: 'brief', every: 1_000 })
      moveTo(START_AT + 365 * DAY_MS)
      const before = process.cpuUsage()
      await schedules.tick()
      const { user, system } = process.cpuUsage(before)
      spent.push((user + system) / 1_000)
      await settled()
      expect(handler.windows).toEqual([START_AT + 365 * DAY_MS, START_AT + 365 * DAY_MS])
      for (const id of ['s', 'e']) {
        expect((await decisions(id)).map(([decision]) => decision)).toEqual(['fired', 'skipped_catchup'])
      }
    }
    expect(Math.min(...spent)).toBeLessThan(50)
  })

  test('does not fire a window again after the clock went back', async () => {
    const { schedules, tickIn, handler } = setup()
    await schedules.create(HOURLY)
    await tickIn(2 * HOUR_MS)
    await tickIn(-90 * MINUTE_MS)
    await tickIn(30 * MINUTE_MS)
    await tickIn(HOUR_MS)
    await tickIn(HOUR_MS)
    expect(handler.windows).toEqual([hour(2), hour(3)])
  })
})

describe('overlap', () => {
  test('skip leaves out a window while the run of the last fired one is live', async () => {
    const { schedules, tickIn, handler, decisions } = setup()
    handler.instant = false
    await schedules.create({ ...HOURLY, overlap: 'skip' })
    await tickIn(HOUR_MS)
    expect(await tickIn(HOUR_MS)).toEqual([])
    handler.end(`sched:a:${hour(1)}`)
    await settled()
    expect(await tickIn(HOUR_MS)).toEqual([`sched:a:${hour(3)}`])
    expect(await decisions('a')).toEqual([
      ['fired', hour(3)],
      ['skipped_overlap', hour(2)],
      ['fired', hour(1)],
    ])
    expect(await schedules.get('a')).toMatchObject({ fires: 2 })
  })

  test('skip is not caused by manual runs', async () => {
    const { schedules, tickIn, handler } = setup()
    handler.instant = false
    await schedules.create({ ...HOURLY, overlap: 'skip' })
    await schedules.trigger('a')
    expect(await tickIn(HOUR_MS)).toHaveLength(1)
  })

  test('allow runs side by side', async () => {
    const { schedules, tickIn, handler } = setup()
    handler.instant = false
    await schedules.create(HOURLY)
    await tickIn(HOUR_MS)
    await tickIn(HOUR_MS)
    expect(handler.runs).toHaveLength(2)
  })
})

describe('bounds', () => {
  test('startAt is inclusive, endAt exclusive', async () => {
    const { schedules, tickIn, handler } = setup()
    await schedules.create({ ...HOURLY, startAt: hour(2), endAt: hour(4) })
    for (let n = 0; n < 5; n += 1) await tickIn(HOUR_MS)
    expect(handler.windows).toEqual([hour(2), hour(3)])
    expect(await schedules.get('a')).toMatchObject({ finished: true, nextFireAt: null, fires: 2 })
  })

  test('maxRuns counts windows, not manual runs', async () => {
    const { schedules, tickIn, handler } = setup()
    await schedules.create({ ...HOURLY, maxRuns: 2 })
    await schedules.trigger('a')
    for (let n = 0; n < 4; n += 1) await tickIn(HOUR_MS)
    expect(handler.runs).toHaveLength(3)
    expect(await schedules.get('a')).toMatchObject({ finished: true, fires: 2 })
  })
})

describe('pauseAfterFailures', () => {
  test('pauses with the reason after so many bad runs in a row; a good one and resume start over', async () => {
    const { schedules, tickIn, handler, decisions } = setup()
    handler.instant = false
    await schedules.create({ ...HOURLY, pauseAfterFailures: 2 })
    const run = async (n: number, error?: Error) => {
      await tickIn(HOUR_MS)
      handler.end(`sched:a:${hour(n)}`, error)
      await settled()
    }
    await run(1, new Error('one'))
    await run(2)
    await run(3, new Error('two'))
    expect(await schedules.get('a')).toMatchObject({ paused: false })
    await run(4, new Error('three'))
    expect(await schedules.get('a')).toMatchObject({
      paused: true,
      nextFireAt: null,
      lastError: 'Paused after 2 failed runs in a row',
    })
    expect((await decisions('a'))[0]).toEqual(['paused', null])
    await schedules.resume('a')
    await run(5, new Error('four'))
    expect(await schedules.get('a')).toMatchObject({ paused: false, nextFireAt: hour(6) })
  })
})

describe('a start that fails', () => {
  test('for good is recorded, and the schedule moves on; the next good start clears it', async () => {
    const store = memoryStore()
    const { schedules, tickIn, engineWith, decisions, now } = setup({ store })
    await schedules.create({ ...HOURLY, workflow: 'later' })
    expect(await tickIn(HOUR_MS)).toEqual([])
    expect(await schedules.get('a')).toMatchObject({
      fires: 0,
      nextFireAt: hour(2),
      lastError: 'WorkflowNotRegisteredError: No workflow is registered as "later"',
    })
    expect(await decisions('a')).toEqual([['start_failed', hour(1)]])
    const other = engineWith({ workflows: { later: () => undefined } })
    await tickIn(HOUR_MS - 1)
    expect(await other.schedules.tick(now() + 1)).toHaveLength(1)
    expect(await schedules.get('a')).toMatchObject({ lastError: null, fires: 1 })
  })

  test('by its validator or its concurrency limit is one for good', async () => {
    const validated = {
      handler: () => undefined,
      validate: () => {
        throw new Error('no userId')
      },
    }
    const { schedules, tickIn, handler } = setup({ workflows: { validated } })
    handler.instant = false
    const limited = { workflow: 'brief', every: '1h', concurrency: { key: 'k', limit: 1 } }
    await schedules.create({ ...HOURLY, workflow: 'validated' })
    await schedules.create({ ...limited, id: 'b' })
    await schedules.create({ ...limited, id: 'c' })
    await tickIn(HOUR_MS)
    expect((await schedules.get('a'))?.lastError).toBe(
      'InvalidInputError: The workflow "validated" refused its input: no userId',
    )
    expect((await schedules.get('c'))?.lastError).toBe(
      'ConcurrencyLimitError: The concurrency limit 1 of "k" is reached',
    )
    expect(handler.runs).toHaveLength(1)
  })

  test('otherwise is tried again with growing delays for graceMs, and then given up', async () => {
    silenceReports()
    let tries = 0
    const failing = dispatch(() => {
      tries += 1
      throw new Error('down')
    })
    const { schedules, tickIn, decisions, engine } = setup({ workflows: { failing }, graceMs: 10_000 })
    await schedules.create({ ...HOURLY, workflow: 'failing' })
    await tickIn(HOUR_MS)
    expect(await schedules.get('a')).toMatchObject({
      nextFireAt: hour(1) + 1_000,
      lastError: 'Error: down',
      fires: 0,
    })
    await tickIn(1_000)
    expect(await schedules.get('a')).toMatchObject({ nextFireAt: hour(1) + 3_000 })
    for (let n = 0; n < 20; n += 1) await tickIn(1_000)
    expect(tries).toBe(5)
    expect(await decisions('a')).toEqual([['start_failed', hour(1)]])
    expect(await schedules.get('a')).toMatchObject({ nextFireAt: hour(2), lastError: 'Error: down' })
    expect(await engine.getRun(`sched:a:${hour(1)}`)).toMatchObject({ status: 'errored' })
  })

  test('and succeeds within its time is one run of that window', async () => {
    silenceReports()
    const sent: string[] = []
    let isDown = true
    const flaky = dispatch(({ runId }) => {
      if (isDown) throw new Error('down')
      sent.push(runId)
    })
    const { schedules, tickIn } = setup({ workflows: { flaky } })
    await schedules.create({ ...HOURLY, workflow: 'flaky' })
    await tickIn(HOUR_MS)
    isDown = false
    expect(await tickIn(1_000)).toEqual([`sched:a:${hour(1)}`])
    expect(sent).toEqual([`sched:a:${hour(1)}`])
    expect(await schedules.get('a')).toMatchObject({ fires: 1, lastError: null, nextFireAt: hour(2) })
  })

  test('until a newer window is due has that one fired instead', async () => {
    silenceReports()
    let isDown = true
    const flaky = dispatch(() => {
      if (isDown) throw new Error('down')
    })
    const { schedules, tickIn, decisions } = setup({ workflows: { flaky }, graceMs: HOUR_MS })
    await schedules.create({ id: 'a', workflow: 'flaky', every: '1m' })
    await tickIn(MINUTE_MS)
    isDown = false
    expect(await tickIn(MINUTE_MS)).toEqual([`sched:a:${START_AT + 2 * MINUTE_MS}`])
    expect(await decisions('a')).toEqual([
      ['fired', START_AT + 2 * MINUTE_MS],
      ['start_failed', START_AT + MINUTE_MS],
    ])
  })
})

describe('one bad schedule', () => {
  test('whose definition does not evaluate any more is paused with the reason, and stops no other', async () => {
    const { schedules, store, tickIn, handler } = setup()
    for (const id of ['a', 'b', 'c']) await schedules.create({ id, workflow: 'brief', cron: '0 * * * *' })
    const row = await store.getSchedule('b')
    if (row === null) throw new Error('no row')
    await store.updateSchedule('b', { definition: { ...row.definition, timezone: 'America/New_Yrok' } })
    await tickIn(HOUR_MS)
    expect(handler.runs.map(({ scheduleId }) => scheduleId)).toEqual(['a', 'c'])
    expect(await schedules.get('b')).toMatchObject({
      paused: true,
      lastError: expect.stringMatching(/New_Yrok/),
    })
    await expect(schedules.resume('b')).rejects.toThrow(/New_Yrok/)
    expect(await schedules.get('b')).toMatchObject({ paused: true })
  })

  test('whose store fails during its fire stays due, and stops no other', async () => {
    const reports = silenceReports()
    const store = memoryStore()
    const { fire } = store
    const failing = {
      ...store,
      fire: (unit: Parameters<NonNullable<typeof fire>>[0]) => {
        if (unit.scheduleId === 'b') throw new Error('disk full')
        return fire?.(unit) ?? 'lost'
      },
    }
    const { schedules, tickIn, handler } = setup({ store: failing })
    for (const id of ['a', 'b', 'c']) await schedules.create({ ...HOURLY, id })
    await tickIn(HOUR_MS)
    expect(handler.runs.map(({ scheduleId }) => scheduleId)).toEqual(['a', 'c'])
    expect(await schedules.get('b')).toMatchObject({ nextFireAt: hour(1) })
    expect(reports).toHaveBeenCalled()
  })

  test('tick rejects when the due query fails', async () => {
    const store = memoryStore()
    const { schedules } = setup({
      store: { ...store, listSchedules: () => Promise.reject(new Error('gone')) },
    })
    await expect(schedules.tick()).rejects.toThrow('gone')
  })
})

test('maxFiresPerTick bounds one tick, and the next one goes on', async () => {
  const { schedules, tickIn } = setup({ maxFiresPerTick: 150 })
  for (let n = 0; n < 250; n += 1) await schedules.create({ ...HOURLY, id: `s${n}` })
  expect(await tickIn(HOUR_MS)).toHaveLength(150)
  expect(await tickIn(0)).toHaveLength(100)
  expect(await tickIn(0)).toHaveLength(0)
})

test('a draining engine fires and starts nothing more, and waits for what is in flight', async () => {
  const { schedules, engine, tickIn, handler } = setup()
  handler.instant = false
  await schedules.create(HOURLY)
  await tickIn(HOUR_MS)
  let isDrained = false
  const drained = engine.drain().then(() => {
    isDrained = true
  })
  await settled()
  expect(isDrained).toBe(false)
  handler.end(`sched:a:${hour(1)}`)
  await drained
  expect(await tickIn(HOUR_MS)).toEqual([])
  await expect(schedules.trigger('a')).rejects.toMatchObject({ code: 'engine_draining' })
})

test('a store without a schedule method makes every call of engine.schedules say which', async () => {
  const { listSchedules: _, ...store } = memoryStore()
  const { schedules } = setup({ store: store as never })
  for (const call of [
    () => schedules.get('a'),
    () => schedules.list(),
    () => schedules.create(HOURLY),
    () => schedules.tick(),
  ]) {
    await expect(call()).rejects.toThrow(
      'The store "memory" has no method listSchedules: engine.schedules needs it',
    )
  }
})
