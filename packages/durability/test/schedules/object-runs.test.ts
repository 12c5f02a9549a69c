import { afterEach, describe, expect, test, vi } from 'vitest'
import { objectSetup } from './support/object.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, START_AT, silenceReports } from './support/setup.ts'

afterEach(() => vi.restoreAllMocks())

const HOURLY = { id: 'a', workflow: 'brief', every: '1h' }
const hour = (n: number) => START_AT + n * HOUR_MS
const runId = (id: string, at: number) => `sched:${id}:${at}`

describe("the object's alarm", () => {
  test('is the soonest schedule, and nothing polls', async () => {
    const { object, ask, calls } = objectSetup()
    await ask(({ schedules }) => schedules.create({ id: 'far', workflow: 'brief', every: '2d' }))
    await ask(({ schedules }) => schedules.create(HOURLY))
    expect(object.alarmAt).toBe(hour(1))
    await object.advance('1 hour')
    expect(calls.map(({ at }) => at)).toEqual([hour(1)])
    expect(object.alarmAt).toBe(hour(2))
    await ask(({ schedules }) => schedules.pause('a'))
    expect(object.alarmAt).toBe(START_AT + (2 * DAY_MS - (START_AT % (2 * DAY_MS))))
    await ask(({ schedules }) => schedules.delete('far'))
    await object.advance('30 days')
    expect(object.alarmAt).toBe(null)
  })

  test('of an engine without persistedSchedules fires nothing; its tick does', async () => {
    const { object, ask, calls } = objectSetup({ persistedSchedules: false })
    await ask(({ schedules }) => schedules.create(HOURLY))
    await object.advance('2 hours')
    expect(calls).toEqual([])
    expect(await ask(({ schedules }) => schedules.tick())).toEqual([runId('a', hour(2))])
  })

  test('lets a pass that holds a long run fire the next schedule at its time', async () => {
    const { object, ask, calls } = objectSetup({
      behaviour: ({ scheduleId }) => ({ takesMs: scheduleId === 'a' ? 5 * MINUTE_MS : 0 }),
    })
    await ask(({ schedules }) => schedules.create(HOURLY))
    await ask(({ schedules }) => schedules.create({ ...HOURLY, id: 'b', every: '61m' }))
    await object.advance('62 minutes')
    const dueAt = Math.ceil(START_AT / (61 * MINUTE_MS)) * 61 * MINUTE_MS
    expect(calls.filter(({ runId: id }) => id.includes(':b:')).map(({ at }) => at)).toEqual([dueAt])
  })

  test('fires more than one pass does in the next ones', async () => {
    const { object, ask, calls } = objectSetup({ maxConcurrentRuns: 5_000 })
    for (let n = 0; n < 1_100; n += 1)
      await ask(({ schedules }) => schedules.create({ ...HOURLY, id: `s${n}` }))
    await object.advance(HOUR_MS + 10)
    expect(calls).toHaveLength(1_100)
  })
})

describe('runs of handlers', () => {
  test('wait behind maxConcurrentRuns, by priority, then by window', async () => {
    const { object, ask, calls } = objectSetup({
      maxConcurrentRuns: 1,
      behaviour: () => ({ takesMs: 1_000 }),
    })
    for (const [id, priority] of [
      ['a', 0],
      ['b', 5],
      ['c', 1],
    ] as const) {
      await ask(({ schedules }) => schedules.create({ ...HOURLY, id, priority }))
    }
    await object.advance('1 hour')
    expect((await ask((engine) => engine.listRuns({ status: 'queued' }))).length).toBe(2)
    await object.advance('10 seconds')
    expect(calls.map(({ runId: id }) => id.split(':')[1])).toEqual(['a', 'b', 'c'])
    expect(calls.map(({ at }) => at)).toEqual([hour(1), hour(1) + 1_000, hour(1) + 2_000])
  })

  test('that were cut off by a crash are reported as interrupted, and not run again', async () => {
    const { object, ask, calls } = objectSetup({ behaviour: () => ({ takesMs: 10 * MINUTE_MS }) })
    await ask(({ schedules }) => schedules.create(HOURLY))
    await object.advance(HOUR_MS + MINUTE_MS)
    object.crash()
    await object.advance('1 hour')
    expect(calls.map(({ at }) => at)).toEqual([hour(1), hour(2)])
    expect(await ask((engine) => engine.getRun(runId('a', hour(1))))).toMatchObject({
      status: 'interrupted',
      error: expect.stringMatching(/^ScheduledRunInterruptedError: /),
    })
  })

  test('that a crash cut off are found within an hour, when nothing is due sooner', async () => {
    const { object, ask } = objectSetup({ behaviour: () => ({ takesMs: 10 * MINUTE_MS }) })
    await ask(({ schedules }) => schedules.create({ id: 'y', workflow: 'brief', cron: '0 0 2 1 *' }))
    await object.advance(DAY_MS + MINUTE_MS)
    object.crash()
    await object.advance('1 hour')
    expect(object.alive).toBe(true)
    expect(await ask((engine) => engine.listRuns({ status: 'interrupted' }))).toHaveLength(1)
  })

  test('that wait when the object dies start in the next instance, within a minute', async () => {
    const { object, ask, calls } = objectSetup({
      maxConcurrentRuns: 1,
      behaviour: () => ({ takesMs: 1_000 }),
    })
    for (const id of ['a', 'b']) await ask(({ schedules }) => schedules.create({ ...HOURLY, id }))
    await object.advance('1 hour')
    object.crash()
    await object.advance('1 minute')
    expect(calls.slice(0, 2).map(({ runId: id }) => id)).toEqual([runId('a', hour(1)), runId('b', hour(1))])
  })

  test('that take longer than runTimeoutMs are errored, their signal aborted, and keep their slot until they end', async () => {
    const { object, ask, calls } = objectSetup({
      maxConcurrentRuns: 1,
      runTimeoutMs: 10_000,
      behaviour: ({ scheduleId }) => (scheduleId === 'a' ? { takesMs: 60_000, ignoresAbort: true } : {}),
    })
    for (const id of ['a', 'b']) await ask(({ schedules }) => schedules.create({ ...HOURLY, id }))
    await object.advance(HOUR_MS + 11_000)
    expect(await ask((engine) => engine.getRun(runId('a', hour(1))))).toMatchObject({
      status: 'errored',
      error: 'ScheduledRunTimeoutError: The run exceeded its runTimeoutMs of 10000',
    })
    expect(calls).toHaveLength(1)
    expect(calls[0]?.signal.aborted).toBe(true)
    await object.advance('1 minute')
    expect(calls.map(({ at }) => at)).toEqual([hour(1), hour(1) + 60_000])
  })

  test('that throw are errored with what they threw', async () => {
    const { object, ask } = objectSetup({ behaviour: () => ({ throws: 'no mail server' }) })
    await ask(({ schedules }) => schedules.create(HOURLY))
    await object.advance('1 hour')
    expect(await ask((engine) => engine.getRun(runId('a', hour(1))))).toMatchObject({
      status: 'errored',
      error: 'Error: no mail server',
      startedAt: hour(1),
      finishedAt: hour(1),
    })
  })

  test('that are cancelled are cancelled at once, with their signal aborted; what waits is never called', async () => {
    const { object, ask, calls, ended } = objectSetup({
      maxConcurrentRuns: 1,
      behaviour: () => ({ takesMs: 60_000, ignoresAbort: true }),
    })
    for (const id of ['a', 'b']) await ask(({ schedules }) => schedules.create({ ...HOURLY, id }))
    await object.advance('1 hour')
    for (const id of ['a', 'b'])
      expect(await ask((engine) => engine.cancelRun(runId(id, hour(1))))).toBe(true)
    expect(calls[0]?.signal.aborted).toBe(true)
    await object.advance('2 minutes')
    for (const id of ['a', 'b']) {
      expect(await ask((engine) => engine.getRun(runId(id, hour(1))))).toMatchObject({ status: 'cancelled' })
      expect(await ask((engine) => engine.cancelRun(runId(id, hour(1))))).toBe(false)
    }
    expect(calls).toHaveLength(1)
    expect(ended).toHaveLength(1)
  })

  test('whose alarm the platform refuses are interrupted, and what waits takes their slot', async () => {
    silenceReports()
    const { object, ask, calls } = objectSetup({ maxConcurrentRuns: 1 })
    const { clock } = object.world
    await ask(({ schedules }) => schedules.create({ id: 'a', workflow: 'brief', every: '1h' }))
    // It says so some time later, when the turn that wrote both is long over.
    const refused = vi
      .spyOn(object.ctx.storage, 'setAlarm')
      .mockImplementationOnce(
        () => new Promise((_, reject) => clock.setTimer(() => reject(new Error('internal error')), 5)),
      )
    await object.advance(HOUR_MS + MINUTE_MS)
    expect(refused).toHaveBeenCalled()
    expect(await ask((engine) => engine.listRuns())).toMatchObject([
      { status: 'interrupted', error: 'Error: internal error' },
    ])
    await object.advance(HOUR_MS)
    expect(calls.map(({ runId }) => runId)).toEqual([`sched:a:${START_AT + 2 * HOUR_MS}`])
  })

  test('whose end cannot be stored is stored later, once', async () => {
    silenceReports()
    const { object, ask, calls } = objectSetup({ behaviour: () => ({ takesMs: 1_000 }) })
    await ask(({ schedules }) => schedules.create(HOURLY))
    await object.advance('1 hour')
    object.faults.failExec(/^UPDATE durable_runs/, { times: 3 })
    await object.advance('2 minutes')
    expect(await ask((engine) => engine.getRun(runId('a', hour(1))))).toMatchObject({ status: 'complete' })
    expect(calls).toHaveLength(1)
  })
})

describe('start', () => {
  test('is idempotent by run id', async () => {
    const { object, ask, calls } = objectSetup()
    const [one, other] = await ask((engine) =>
      Promise.all([1, 2].map(() => engine.start('brief', { n: 1 }, 'mine'))),
    )
    expect(one?.id).toBe('mine')
    expect(other?.id).toBe('mine')
    await object.advance(1)
    expect(calls).toHaveLength(1)
    expect(await ask((engine) => engine.getRun('mine'))).toMatchObject({
      status: 'complete',
      input: { n: 1 },
      scheduleId: null,
    })
  })

  test('refuses by named errors, and leaves no run', async () => {
    const { ask } = objectSetup({
      workflows: {
        picky: {
          handler: () => undefined,
          validate: () => {
            throw new Error('no')
          },
        },
      },
    })
    await expect(ask((engine) => engine.start('none', null, 'x'))).rejects.toMatchObject({
      code: 'workflow_not_registered',
    })
    await expect(ask((engine) => engine.start('picky', null, 'x'))).rejects.toMatchObject({
      code: 'invalid_input',
    })
    await expect(ask((engine) => engine.start('brief', null, ''))).rejects.toMatchObject({ field: 'runId' })
    expect(await ask((engine) => engine.getRun('x'))).toBe(null)
  })

  test('does not call an input bad whose validator never answers', async () => {
    const silent = { handler: () => undefined, validate: () => new Promise<never>(() => undefined) }
    const { object, ask } = objectSetup({ startTimeoutMs: 5_000, workflows: { silent } })
    const started = ask((engine) => engine.start('silent', null, 'x')).catch((error: unknown) => error)
    await object.advance('6 seconds')
    expect(await started).toMatchObject({ code: 'start_timeout' })
    expect(await ask((engine) => engine.getRun('x'))).toBe(null)
  })
})

test('keeps 50 finished runs of each schedule, and the decisions of what did not run', async () => {
  const { object, ask } = objectSetup()
  await ask(({ schedules }) => schedules.create({ ...HOURLY, every: '1m' }))
  await object.advance('90 minutes')
  expect(await ask((engine) => engine.listRuns({ scheduleId: 'a', limit: 1_000 }))).toHaveLength(50)
  expect((await ask(({ schedules }) => schedules.get('a')))?.fires).toBe(90)
})

test('runs of a deleted schedule go after 30 days', async () => {
  const { object, ask } = objectSetup()
  await ask(({ schedules }) => schedules.create({ ...HOURLY, every: '1m' }))
  await ask(({ schedules }) => schedules.create({ id: 'daily', workflow: 'brief', every: '1d' }))
  await object.advance('10 minutes')
  await ask(({ schedules }) => schedules.delete('a'))
  await object.advance('29 days')
  expect(await ask((engine) => engine.listRuns({ scheduleId: 'a' }))).toHaveLength(10)
  await object.advance('3 days')
  expect(await ask((engine) => engine.listRuns({ scheduleId: 'a' }))).toHaveLength(0)
})
