import { afterEach, describe, expect, test, vi } from 'vitest'
import {
  InvalidScheduleError,
  ScheduleAlreadyExistsError,
  ScheduleNotFoundError,
} from '../../src/schedules/index.node.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, START_AT, setup } from './support/setup.ts'

afterEach(() => vi.restoreAllMocks())

const HOURLY = { id: 'a', workflow: 'brief', every: '1h' }

describe('create', () => {
  test('answers what was stored, with durations as given and in ms', async () => {
    const { schedules } = setup()
    const created = await schedules.create({
      id: 'brief:7',
      workflow: 'brief',
      input: { userId: 7 },
      cron: '0 9 * * 1-5',
      timezone: 'Europe/Berlin',
      jitter: '2m',
      overlap: 'skip',
      tags: ['tenant:1', 'tenant:1'],
      note: 'hello',
    })
    expect(created).toMatchObject({
      id: 'brief:7',
      workflow: 'brief',
      input: { userId: 7 },
      cron: '0 9 * * 1-5',
      every: null,
      timezone: 'Europe/Berlin',
      jitter: '2m',
      jitterMs: 120_000,
      overlap: 'skip',
      catchup: 'latest',
      namespace: 'default',
      tags: ['tenant:1'],
      paused: false,
      note: 'hello',
      lastFireAt: null,
      lastRunId: null,
      fires: 0,
      lastError: null,
      createdAt: START_AT,
      updatedAt: START_AT,
    })
    const nominal = Date.UTC(2026, 0, 1, 8)
    expect(created.nextFireAt).toBeGreaterThanOrEqual(nominal)
    expect(created.nextFireAt).toBeLessThan(nominal + 120_000)
    expect(await schedules.get('brief:7')).toEqual(created)
  })

  test('throws ScheduleAlreadyExistsError on a taken id and changes nothing', async () => {
    const { schedules } = setup()
    const created = await schedules.create(HOURLY)
    await expect(schedules.create({ ...HOURLY, every: '2h' })).rejects.toThrow(ScheduleAlreadyExistsError)
    expect(await schedules.get('a')).toEqual(created)
  })

  test('of racing creates of one id lets one win', async () => {
    const { schedules } = setup()
    const results = await Promise.allSettled(Array.from({ length: 8 }, () => schedules.create(HOURLY)))
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
  })

  test('refuses bounds that leave no window, which upsert stores as finished', async () => {
    const { schedules } = setup()
    const bounded = { ...HOURLY, endAt: START_AT + 10 }
    await expect(schedules.create(bounded)).rejects.toMatchObject({ field: 'endAt' })
    expect(await schedules.get('a')).toBe(null)
    expect(await schedules.upsert(bounded)).toMatchObject({ finished: true, nextFireAt: null })
  })

  test('of an id that was deleted fires no window again', async () => {
    const { schedules, tickIn } = setup()
    await schedules.create(HOURLY)
    await tickIn(HOUR_MS)
    await schedules.delete('a')
    expect(await tickIn(-30 * MINUTE_MS)).toEqual([])
    expect((await schedules.create(HOURLY)).nextFireAt).toBe(START_AT + 2 * HOUR_MS)
  })
})

describe('upsert', () => {
  test('creates, and then replaces the definition and keeps the history', async () => {
    const { schedules, tickIn } = setup()
    await schedules.upsert(HOURLY)
    await tickIn(HOUR_MS)
    const changed = await schedules.upsert({ ...HOURLY, every: '30m', input: 2 })
    expect(changed).toMatchObject({
      fires: 1,
      lastFireAt: START_AT + HOUR_MS,
      lastRunId: `sched:a:${START_AT + HOUR_MS}`,
      createdAt: START_AT,
      nextFireAt: START_AT + 1.5 * HOUR_MS,
      revision: 2,
    })
  })

  test('of the same again changes nothing, however it is written', async () => {
    const { schedules, moveTo } = setup()
    const first = await schedules.upsert({ ...HOURLY, input: { a: 1, b: [2] }, tags: ['x', 'y'] })
    moveTo(START_AT + 20 * MINUTE_MS)
    const again = {
      ...HOURLY,
      every: 3_600_000,
      input: { b: [2], a: 1 },
      tags: ['y', 'x'],
      overlap: 'allow',
    } as const
    expect(await schedules.upsert(again)).toEqual(first)
  })

  test('of the same within a jitter delay leaves the window pending', async () => {
    const { schedules, moveTo, tickIn } = setup()
    const jittered = { ...HOURLY, jitter: '30m' }
    const { nextFireAt } = await schedules.upsert(jittered)
    moveTo(START_AT + HOUR_MS)
    expect((await schedules.upsert(jittered)).nextFireAt).toBe(nextFireAt)
    expect((await schedules.upsert({ ...jittered, input: 'new' })).nextFireAt).toBe(nextFireAt)
    expect(await tickIn(30 * MINUTE_MS)).toEqual([`sched:a:${START_AT + HOUR_MS}`])
  })

  test('keeps the pause and the note when they are left out, and removes a note by null', async () => {
    const { schedules } = setup()
    await schedules.upsert({ ...HOURLY, note: 'keep' })
    await schedules.pause('a')
    expect(await schedules.upsert({ ...HOURLY, input: 1 })).toMatchObject({
      paused: true,
      note: 'keep',
      nextFireAt: null,
    })
    expect(await schedules.upsert({ ...HOURLY, input: 1, note: null, paused: false })).toMatchObject({
      paused: false,
      note: null,
      nextFireAt: START_AT + HOUR_MS,
    })
  })

  test('of another payload runs the pending window with it', async () => {
    const { schedules, moveTo, tickIn, handler } = setup()
    await schedules.upsert({ ...HOURLY, input: 'old' })
    moveTo(START_AT + HOUR_MS)
    await schedules.upsert({ ...HOURLY, input: 'new' })
    await tickIn(0)
    expect(handler.runs.map(({ input }) => input)).toEqual(['new'])
  })

  test('of another timing fires a due window first, under the old definition', async () => {
    const { schedules, moveTo, handler, tickIn } = setup()
    await schedules.upsert({ ...HOURLY, input: 'old' })
    moveTo(START_AT + HOUR_MS + 5)
    const changed = await schedules.upsert({ ...HOURLY, every: '2h', input: 'new' })
    expect(changed).toMatchObject({ fires: 1, nextFireAt: START_AT + 2 * HOUR_MS })
    await tickIn(0)
    expect(handler.runs.map(({ input, scheduledTime }) => [input, scheduledTime])).toEqual([
      ['old', START_AT + HOUR_MS],
    ])
  })

  test('never goes back to a window that was fired, also when the clock did', async () => {
    const { schedules, tickIn, moveTo } = setup()
    await schedules.upsert(HOURLY)
    await tickIn(HOUR_MS)
    moveTo(START_AT - DAY_MS)
    expect((await schedules.upsert({ ...HOURLY, every: '30m' })).nextFireAt).toBe(START_AT + 1.5 * HOUR_MS)
  })

  test('with a larger bound revives what was finished', async () => {
    const { schedules, tickIn } = setup()
    await schedules.upsert({ ...HOURLY, maxRuns: 1 })
    await tickIn(HOUR_MS)
    expect(await schedules.get('a')).toMatchObject({ finished: true, nextFireAt: null, fires: 1 })
    expect(await schedules.upsert({ ...HOURLY, maxRuns: 2 })).toMatchObject({
      finished: false,
      nextFireAt: START_AT + 2 * HOUR_MS,
    })
  })
})

describe('pause and resume', () => {
  test('a paused schedule is never due, and goes on with the next window after now', async () => {
    const { schedules, tickIn, handler } = setup()
    await schedules.create(HOURLY)
    expect(await schedules.pause('a', 'on holiday')).toMatchObject({
      paused: true,
      nextFireAt: null,
      note: 'on holiday',
    })
    expect(await tickIn(5.5 * HOUR_MS)).toEqual([])
    expect(await schedules.resume('a')).toMatchObject({
      paused: false,
      nextFireAt: START_AT + 6 * HOUR_MS,
      note: 'on holiday',
    })
    await tickIn(HOUR_MS)
    expect(handler.windows).toEqual([START_AT + 6 * HOUR_MS])
  })

  test('pausing again keeps the note, or takes the new one; resuming what runs changes nothing', async () => {
    const { schedules } = setup()
    const created = await schedules.create({ ...HOURLY, note: 'first' })
    expect(await schedules.resume('a')).toEqual(created)
    await schedules.pause('a')
    expect(await schedules.pause('a')).toMatchObject({ note: 'first' })
    expect(await schedules.pause('a', 'second')).toMatchObject({ note: 'second' })
  })

  test('a window that was due when the schedule was paused is superseded', async () => {
    const { schedules, moveTo, decisions } = setup()
    await schedules.create(HOURLY)
    moveTo(START_AT + HOUR_MS)
    await schedules.pause('a')
    expect(await decisions('a')).toEqual(
      expect.arrayContaining([
        ['superseded', START_AT + HOUR_MS],
        ['paused', null],
      ]),
    )
  })

  test('resuming a finished one changes nothing', async () => {
    const { schedules, tickIn } = setup()
    await schedules.create({ ...HOURLY, maxRuns: 1 })
    await tickIn(HOUR_MS)
    await schedules.pause('a')
    const paused = await schedules.get('a')
    expect(await schedules.resume('a')).toEqual(paused)
  })
})

describe('trigger', () => {
  test('starts one run now, paused or not, and moves nothing of the cadence', async () => {
    const { schedules, handler, tickIn } = setup()
    const created = await schedules.create({ ...HOURLY, tags: ['t'] })
    const run = await schedules.trigger('a')
    expect(run).toMatchObject({
      id: `sched:a:manual:${START_AT}`,
      scheduleId: 'a',
      tags: ['t', 'schedule:a'],
    })
    await tickIn(0)
    expect(handler.runs).toHaveLength(1)
    expect(await schedules.get('a')).toEqual(created)
    await schedules.pause('a')
    await tickIn(1)
    await schedules.trigger('a')
    await tickIn(0)
    expect(handler.runs).toHaveLength(2)
  })

  test('twice within one millisecond is one run', async () => {
    const { schedules, handler, tickIn } = setup()
    await schedules.create(HOURLY)
    const [one, other] = await Promise.all([schedules.trigger('a'), schedules.trigger('a')])
    expect(one?.id).toBe(other?.id)
    await tickIn(0)
    expect(handler.runs).toHaveLength(1)
  })

  test('of an unknown workflow rejects and records nothing', async () => {
    const { schedules, engine } = setup()
    const created = await schedules.create({ ...HOURLY, workflow: 'gone' })
    await expect(schedules.trigger('a')).rejects.toMatchObject({ code: 'workflow_not_registered' })
    expect(await engine.listRuns()).toHaveLength(0)
    expect(await schedules.get('a')).toEqual(created)
  })
})

describe('unknown ids', () => {
  test.each(['pause', 'resume', 'trigger', 'history', 'preview'] as const)(
    '%s rejects with ScheduleNotFoundError',
    async (verb) => {
      const { schedules } = setup()
      await expect(schedules[verb]('none')).rejects.toThrow(ScheduleNotFoundError)
    },
  )

  test('get answers null, and delete false', async () => {
    const { schedules } = setup()
    expect(await schedules.get('none')).toBe(null)
    expect(await schedules.delete('none')).toBe(false)
  })
})

test('delete leaves past runs alone, and takes the history', async () => {
  const { schedules, engine, tickIn } = setup()
  await schedules.create(HOURLY)
  await tickIn(HOUR_MS)
  expect(await schedules.delete('a')).toBe(true)
  expect(await schedules.get('a')).toBe(null)
  expect(await engine.getRun(`sched:a:${START_AT + HOUR_MS}`)).toMatchObject({ status: 'complete' })
  await schedules.create(HOURLY)
  expect(await schedules.history('a')).toEqual([])
})

describe('list', () => {
  test('comes soonest due first and is paged by cursor', async () => {
    const { schedules } = setup()
    for (const hours of [3, 1, 2])
      await schedules.create({ id: `h${hours}`, workflow: 'brief', every: `${hours}h` })
    const page = await schedules.list({ limit: 2 })
    expect(page.map(({ id }) => id)).toEqual(['h1', 'h2'])
    const rest = await schedules.list({ limit: 2, cursor: page.cursor ?? '' })
    expect(rest.map(({ id }) => id)).toEqual(['h3'])
    expect(rest.cursor).toBe(null)
  })

  test.each([
    [{ limit: 0 }, 'limit'],
    [{ limit: 1_001 }, 'limit'],
    [{ offset: -1 }, 'offset'],
    [{ cursor: 'x' }, 'cursor'],
    [{ paused: 'yes' }, 'paused'],
    [{ nameOf: 'x' }, 'nameOf'],
    [{ tag: 5 }, 'tag'],
  ])('refuses the filter %j by name', async (filter, field) => {
    const { schedules } = setup()
    await expect(schedules.list(filter as never)).rejects.toMatchObject({
      name: 'InvalidScheduleError',
      field,
    })
  })
})

describe('namespaces', () => {
  test('an engine sees and changes its own only, an operator all', async () => {
    const { engineWith, schedules: operator } = setup()
    const { schedules: one } = engineWith({ namespace: 'one' })
    const { schedules: two } = engineWith({ namespace: 'two' })
    await one.create(HOURLY)
    expect(await two.get('a')).toBe(null)
    expect(await two.delete('a')).toBe(false)
    await expect(two.pause('a')).rejects.toThrow(ScheduleNotFoundError)
    await expect(two.upsert(HOURLY)).rejects.toThrow(ScheduleAlreadyExistsError)
    expect(await two.list()).toHaveLength(0)
    expect(await operator.get('a')).toMatchObject({ namespace: 'one' })
    await expect(one.create({ ...HOURLY, id: 'b', namespace: 'two' })).rejects.toThrow(InvalidScheduleError)
  })

  test('an engine fires its own only, an operator all', async () => {
    const { engineWith, moveTo, schedules: operator } = setup()
    const { schedules: one } = engineWith({ namespace: 'one' })
    const { schedules: two } = engineWith({ namespace: 'two' })
    await one.create(HOURLY)
    await two.create({ ...HOURLY, id: 'b' })
    moveTo(START_AT + HOUR_MS)
    expect(await one.tick()).toEqual([`sched:a:${START_AT + HOUR_MS}`])
    expect(await operator.tick()).toEqual([`sched:b:${START_AT + HOUR_MS}`])
  })
})

describe('preview', () => {
  test('shows the next windows of a stored schedule, of a paused one as if resumed, and of a definition', async () => {
    const { schedules } = setup()
    await schedules.create({ ...HOURLY, maxRuns: 3 })
    const hours = [1, 2, 3].map((hour) => START_AT + hour * HOUR_MS)
    const windows = hours.map((scheduledTime) => ({ scheduledTime, dueAt: scheduledTime }))
    expect(await schedules.preview('a', { count: 9 })).toEqual(windows)
    await schedules.pause('a')
    expect(await schedules.preview('a', { count: 2 })).toEqual(windows.slice(0, 2))
    expect(await schedules.preview({ ...HOURLY, id: 'new' }, { count: 1 })).toEqual(windows.slice(0, 1))
  })

  test('crosses a clock change as durability/cron does', async () => {
    const { schedules } = setup({ startAt: Date.UTC(2026, 2, 28, 12) })
    const windows = await schedules.preview(
      { id: 'x', workflow: 'brief', cron: '30 2 * * *', timezone: 'Europe/Berlin' },
      { count: 2 },
    )
    expect(windows.map(({ scheduledTime }) => new Date(scheduledTime).toISOString())).toEqual([
      '2026-03-29T01:00:00.000Z',
      '2026-03-30T00:30:00.000Z',
    ])
  })
})
