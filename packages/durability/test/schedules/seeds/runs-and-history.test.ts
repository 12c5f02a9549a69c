import { describe, expect, test } from 'vitest'
import { objectSetup } from '../support/object.ts'
import { HOUR_MS, MINUTE_MS, START_AT, settled, setup } from '../support/setup.ts'

const hour = (n: number) => START_AT + n * HOUR_MS
const HOURLY = { id: 'a', workflow: 'brief', every: '1h' }

test('start is refused by a named error at its concurrency limit, and starts nothing', async () => {
  const { engine, handler } = setup()
  handler.instant = false
  const concurrency = { key: 'k', limit: 1 }
  await engine.start('brief', null, 'one', { concurrency })
  await expect(engine.start('brief', null, 'two', { concurrency })).rejects.toMatchObject({
    name: 'ConcurrencyLimitError',
    code: 'concurrency_limit',
  })
  expect(await engine.start('brief', null, 'one', { concurrency })).toMatchObject({ id: 'one' })
  await settled()
  expect(handler.runs.map(({ runId }) => runId)).toEqual(['one'])
  expect(await engine.getRun('two')).toBe(null)
})

test('trigger obeys the concurrency limit, rejects, and records nothing', async () => {
  const { schedules, engine, handler } = setup()
  handler.instant = false
  const concurrency = { key: 'k', limit: 1 }
  const created = await schedules.create({ ...HOURLY, concurrency })
  await engine.start('brief', null, 'holds', { concurrency })
  await expect(schedules.trigger('a')).rejects.toMatchObject({ code: 'concurrency_limit' })
  expect(await schedules.get('a')).toEqual(created)
  expect(await schedules.history('a')).toEqual([])
  expect(await engine.listRuns({ scheduleId: 'a' })).toHaveLength(0)
})

test('trigger runs a paused, a finished and an overlapping schedule, and changes nothing of it', async () => {
  const { schedules, tickIn, handler } = setup()
  handler.instant = false
  await schedules.create({ ...HOURLY, overlap: 'skip', maxRuns: 1 })
  await tickIn(HOUR_MS)
  const finished = await schedules.get('a')
  expect(finished).toMatchObject({ finished: true })
  await schedules.trigger('a')
  expect(await schedules.get('a')).toEqual(finished)
  await schedules.create({ ...HOURLY, id: 'p', paused: true })
  await schedules.trigger('p')
  await settled()
  expect(handler.runs.map(({ runId }) => runId)).toEqual([
    `sched:a:${hour(1)}`,
    `sched:a:manual:${hour(1)}`,
    `sched:p:manual:${hour(1)}`,
  ])
})

describe('listRuns', () => {
  test.each([
    [{}, ['n3', 'n2', 'n1', 'n0']],
    [{ workflow: 'other' }, ['n1']],
    [{ tag: 'even' }, ['n2', 'n0']],
    [{ namespace: 'x' }, ['n3']],
    [{ status: 'running' }, ['n2', 'n0']],
    [{ status: 'complete' }, ['n3', 'n1']],
    [{ scheduleId: 'none' }, []],
  ] as const)('by %j answers newest first, page by page', async (filter, ids) => {
    const { engine, tickIn, handler } = setup({ workflows: { other: () => undefined } })
    handler.instant = false
    const start = async (n: number, workflow: string, options: object) => {
      await engine.start(workflow, null, `n${n}`, options)
      await tickIn(1)
    }
    await start(0, 'brief', { tags: ['even'] })
    await start(1, 'other', {})
    await start(2, 'brief', { tags: ['even'] })
    await start(3, 'brief', { namespace: 'x' })
    handler.end('n3')
    await settled()
    expect((await engine.listRuns(filter)).map(({ id }) => id)).toEqual(ids)
    const paged: string[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: Awaited<ReturnType<typeof engine.listRuns>> = await engine.listRuns({
        ...filter,
        limit: 1,
        ...(cursor !== '' && { cursor }),
      })
      paged.push(...page.map(({ id }) => id))
      cursor = page.cursor
    }
    expect(paged).toEqual(ids)
  })
})

test('cancelRun is false of a run that is unknown or over', async () => {
  const { engine } = setup()
  await engine.start('brief', null, 'done')
  await settled()
  expect(await engine.getRun('done')).toMatchObject({ status: 'complete' })
  expect(await engine.cancelRun('done')).toBe(false)
  expect(await engine.cancelRun('none')).toBe(false)
})

test('without a scheduler the first tick of a new instance finds what was interrupted', async () => {
  const { object, ask, calls } = objectSetup({
    withoutScheduler: true,
    behaviour: () => ({ takesMs: 10 * MINUTE_MS }),
  })
  await ask(({ schedules }) => schedules.create(HOURLY))
  await object.advance('1 hour')
  await ask(({ schedules }) => schedules.tick())
  await object.settle()
  expect(await ask((engine) => engine.listRuns({ status: 'running' }))).toHaveLength(1)
  object.crash()
  expect(await ask(({ schedules }) => schedules.tick())).toEqual([])
  expect(await ask((engine) => engine.getRun(`sched:a:${hour(1)}`))).toMatchObject({ status: 'interrupted' })
  expect(calls).toHaveLength(1)
})

test('what is in flight in one engine of an object is alive for all of them', async () => {
  const { schedules, engineWith, handler, moveTo, engine } = setup()
  handler.instant = false
  await schedules.create({ ...HOURLY, overlap: 'skip' })
  moveTo(hour(1))
  await schedules.tick()
  const other = engineWith()
  await other.schedules.tick()
  expect(await other.getRun(`sched:a:${hour(1)}`)).toMatchObject({ status: 'running' })
  moveTo(hour(2))
  expect(await other.schedules.tick()).toEqual([])
  handler.end(`sched:a:${hour(1)}`)
  await engine.drain()
  expect(await other.getRun(`sched:a:${hour(1)}`)).toMatchObject({ status: 'complete' })
})

test('finished runs and decisions are kept up to their bound, and always the run of lastRunId', async () => {
  const { schedules, engine, tickIn, decisions } = setup({ keptRuns: 3, keptDecisions: 4 })
  await schedules.create(HOURLY)
  await tickIn(HOUR_MS)
  for (let n = 0; n < 10; n += 1) {
    await schedules.trigger('a')
    await tickIn(1)
  }
  const runs = await engine.listRuns({ scheduleId: 'a' })
  expect(runs.length).toBeLessThanOrEqual(4)
  expect(runs.map(({ id }) => id)).toContain(`sched:a:${hour(1)}`)
  for (let n = 0; n < 10; n += 1) {
    await schedules.pause('a')
    await schedules.resume('a')
  }
  const kept = (await decisions('a')).filter(([decision]) => decision !== 'fired')
  expect(kept).toHaveLength(4)
})

test('a cron with no later occurrence is finished, which is no failure', async () => {
  const startAt = Date.UTC(9000, 11, 31, 22)
  const { schedules, tickIn } = setup({ startAt })
  await schedules.create({ id: 'a', workflow: 'brief', cron: '0 23 31 12 *' })
  expect(await tickIn(HOUR_MS)).toEqual([`sched:a:${startAt + HOUR_MS}`])
  expect(await schedules.get('a')).toMatchObject({
    finished: true,
    paused: false,
    lastError: null,
    nextFireAt: null,
    fires: 1,
  })
})

test('history has an answer for every window: what ran, what did not, and why', async () => {
  const { schedules, tickIn, handler, moveTo } = setup()
  handler.instant = false
  const definition = { ...HOURLY, overlap: 'skip' as const }
  await schedules.create(definition)
  await tickIn(HOUR_MS)
  await tickIn(HOUR_MS)
  handler.end(`sched:a:${hour(1)}`)
  await tickIn(3 * HOUR_MS)
  handler.end(`sched:a:${hour(5)}`)
  await schedules.upsert({ ...definition, workflow: 'gone' })
  await tickIn(HOUR_MS)
  moveTo(hour(7))
  await schedules.pause('a', 'holiday')
  moveTo(hour(9))
  await schedules.resume('a')
  const told = (await schedules.history('a')).map((one) => {
    const { decision, scheduledTime, from, to, runId, reason } = one
    const at = (time: number | null | undefined) => (time == null ? null : (time - START_AT) / HOUR_MS)
    return [decision, from === undefined ? at(scheduledTime) : [at(from), at(to)], runId ?? reason ?? null]
  })
  expect(told).toEqual([
    ['resumed', null, null],
    ['paused', null, 'holiday'],
    ['superseded', 7, 'paused'],
    ['start_failed', 6, 'WorkflowNotRegisteredError: No workflow is registered as "gone"'],
    ['fired', 5, `sched:a:${hour(5)}`],
    ['skipped_catchup', [3, 4], 'missed: a later window was due'],
    ['skipped_overlap', 2, `sched:a:${hour(1)} is running`],
    ['fired', 1, `sched:a:${hour(1)}`],
  ])
  expect((await schedules.history('a', { limit: 2 })).map(({ decision }) => decision)).toEqual([
    'resumed',
    'paused',
  ])
})

test('preview shows up to 1,000 windows with their jitter, within the bounds, and starts nothing', async () => {
  const { schedules, engine } = setup()
  const definition = { ...HOURLY, jitter: '5m', endAt: hour(900) }
  const windows = await schedules.preview(definition, { count: 1_000 })
  expect(windows).toHaveLength(899)
  for (const [index, { scheduledTime, dueAt }] of windows.entries()) {
    expect(scheduledTime).toBe(hour(index + 1))
    expect(dueAt - scheduledTime).toBeGreaterThanOrEqual(0)
    expect(dueAt - scheduledTime).toBeLessThan(5 * MINUTE_MS)
  }
  expect(await schedules.count()).toBe(0)
  expect(await engine.listRuns()).toHaveLength(0)
})
