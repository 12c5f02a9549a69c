import { afterEach, describe, expect, test, vi } from 'vitest'
import { DurabilityEngine, dispatch, memoryStore, type RunToStart } from '../../src/schedules/index.node.ts'
import { HOUR_MS, MINUTE_MS, START_AT, settled, setup, silenceReports } from './support/setup.ts'

afterEach(() => vi.restoreAllMocks())

const hour = (n: number) => START_AT + n * HOUR_MS
const HOURLY = { id: 'a', workflow: 'brief', every: '1h' }
const SEND = { ...HOURLY, workflow: 'send' }

/** A receiver that answers when the test says so. */
function gate() {
  const sent: string[] = []
  const { promise, resolve } = Promise.withResolvers<void>()
  const send = dispatch(async ({ runId }: RunToStart) => {
    sent.push(runId)
    await promise
  })
  return { workflows: { send }, open: resolve, sent }
}

test('a window whose run was started by its id before is fired, and its handler not called again', async () => {
  const { schedules, engine, tickIn, handler } = setup()
  await schedules.create(HOURLY)
  await engine.start('brief', null, `sched:a:${hour(1)}`)
  expect(await tickIn(HOUR_MS)).toEqual([`sched:a:${hour(1)}`])
  expect(handler.runs).toHaveLength(1)
  expect(await schedules.get('a')).toMatchObject({ fires: 1, lastFireAt: hour(1), nextFireAt: hour(2) })
})

describe('a start that loses its advance to a verb', () => {
  test('counts once against maxRuns', async () => {
    const { workflows, open } = gate()
    const { schedules, moveTo, tickIn } = setup({ workflows })
    await schedules.create({ ...SEND, maxRuns: 2 })
    moveTo(hour(1))
    const ticked = schedules.tick()
    await settled()
    await schedules.upsert({ ...SEND, maxRuns: 2, input: 'new' })
    open()
    await ticked
    expect(await schedules.get('a')).toMatchObject({ fires: 1, finished: false })
    await tickIn(0)
    expect(await schedules.get('a')).toMatchObject({ fires: 1, finished: false, nextFireAt: hour(2) })
    await tickIn(HOUR_MS)
    expect(await schedules.get('a')).toMatchObject({ fires: 2, finished: true })
  })

  test('leaves no window when it was the last that maxRuns allows', async () => {
    const { workflows, open, sent } = gate()
    const { schedules, moveTo, tickIn, decisions } = setup({ workflows })
    await schedules.create({ ...SEND, maxRuns: 1 })
    moveTo(hour(1))
    const ticked = schedules.tick()
    await settled()
    await schedules.pause('a')
    await schedules.resume('a')
    open()
    await ticked
    expect(await tickIn(HOUR_MS)).toEqual([])
    expect(sent).toEqual([`sched:a:${hour(1)}`])
    expect(await schedules.get('a')).toMatchObject({ fires: 1, finished: true, nextFireAt: null })
    expect((await decisions('a')).filter(([, window]) => window !== null)).toEqual([['fired', hour(1)]])
  })

  test('and the windows that came due meanwhile are superseded', async () => {
    const { workflows, open } = gate()
    const { schedules, moveTo, decisions } = setup({ workflows })
    await schedules.create(SEND)
    moveTo(hour(1))
    const ticked = schedules.tick()
    await settled()
    moveTo(hour(3))
    await schedules.pause('a')
    open()
    await ticked
    expect((await decisions('a')).filter(([, window]) => window !== null)).toEqual([
      ['superseded', hour(3)],
      ['fired', hour(1)],
    ])
    expect((await schedules.history('a')).find(({ decision }) => decision === 'superseded')).toMatchObject({
      from: hour(2),
      to: hour(3),
    })
  })
})

describe('a start that was begun when its engine died', () => {
  /** An engine that is never answered. */
  async function begun() {
    silenceReports()
    const store = memoryStore()
    const { schedules, moveTo } = setup({ store, workflows: gate().workflows })
    await schedules.create(SEND)
    moveTo(hour(1))
    void schedules.tick()
    await settled()
    let now = hour(1)
    const next = (workflows: object) =>
      new DurabilityEngine({ store, workflows: { ...workflows }, clock: () => now })
    return { next, moveTo: (at: number) => (now = at), store }
  }

  test.each([
    [
      'whose workflow refuses its input now',
      { send: dispatch(() => undefined, { validate: () => raise() }) },
    ],
    ['whose workflow is registered no more', {}],
    ['whose workflow is a handler now', { send: () => undefined }],
  ])('%s is given up after graceMs, and the schedule goes on', async (_, workflows) => {
    const { next, moveTo } = await begun()
    const { schedules } = next(workflows)
    await schedules.tick()
    expect((await schedules.get('a'))?.lastError).not.toBe(null)
    for (const seconds of [1, 10, 30, 61, 90]) {
      moveTo(hour(1) + seconds * 1_000)
      await schedules.tick()
    }
    expect(await schedules.get('a')).toMatchObject({ fires: 0, nextFireAt: hour(2) })
    const windows = (await schedules.history('a')).map((one) => [one.decision, one.scheduledTime])
    expect(windows).toEqual([['start_failed', hour(1)]])
  })

  test('goes on where overlap says skip since', async () => {
    const { next, moveTo } = await begun()
    const sent: string[] = []
    const { schedules } = next({ send: dispatch(({ runId }) => void sent.push(runId)) })
    await schedules.upsert({ ...SEND, overlap: 'skip' })
    moveTo(hour(1) + 1)
    expect(await schedules.tick()).toEqual([`sched:a:${hour(1)}`])
    expect(sent).toEqual([`sched:a:${hour(1)}`])
  })
})

function raise(): never {
  throw new Error('no userId')
}

test('a first attempt that takes longer than graceMs to fail is the last one, and the schedule goes on', async () => {
  silenceReports()
  const slow = dispatch(() => {
    moveTo(hour(1) + 2_000)
    raise()
  })
  const { schedules, tickIn, decisions, engine, moveTo } = setup({
    graceMs: 1_000,
    workflows: { send: slow },
  })
  await schedules.create(SEND)
  await tickIn(HOUR_MS)
  expect(await decisions('a')).toEqual([['start_failed', hour(1)]])
  expect(await schedules.get('a')).toMatchObject({ nextFireAt: hour(2), fires: 0 })
  expect(await engine.getRun(`sched:a:${hour(1)}`)).toMatchObject({ status: 'errored' })
})

describe('pauseAfterFailures', () => {
  test('counts runs that end in the same moment', async () => {
    const { schedules, tickIn, handler } = setup()
    handler.instant = false
    await schedules.create({ ...HOURLY, pauseAfterFailures: 2 })
    await tickIn(HOUR_MS)
    await tickIn(HOUR_MS)
    for (const n of [1, 2]) handler.end(`sched:a:${hour(n)}`, new Error('no mail'))
    await settled()
    expect(await schedules.get('a')).toMatchObject({ paused: true })
  })

  test('starts over when an upsert ends the pause', async () => {
    const { schedules, tickIn, handler } = setup()
    handler.instant = false
    const definition = { ...HOURLY, pauseAfterFailures: 1 }
    await schedules.create(definition)
    await tickIn(HOUR_MS)
    handler.end(`sched:a:${hour(1)}`, new Error('no mail'))
    await settled()
    expect(await schedules.get('a')).toMatchObject({ paused: true })
    await schedules.upsert({ ...definition, paused: false })
    expect(await tickIn(HOUR_MS)).toEqual([`sched:a:${hour(2)}`])
  })

  test('supersedes the windows that are due when it pauses', async () => {
    const { schedules, tickIn, handler, moveTo, decisions } = setup()
    handler.instant = false
    await schedules.create({ ...HOURLY, pauseAfterFailures: 1 })
    await tickIn(HOUR_MS)
    moveTo(hour(2) + 1)
    handler.end(`sched:a:${hour(1)}`, new Error('no mail'))
    await settled()
    expect(await decisions('a')).toEqual([
      ['paused', null],
      ['superseded', hour(2)],
      ['fired', hour(1)],
    ])
  })
})

test('the window of a definition that does not evaluate any more is superseded', async () => {
  const { schedules, store, tickIn, decisions } = setup()
  await schedules.create({ id: 'a', workflow: 'brief', cron: '0 * * * *' })
  const row = await store.getSchedule('a')
  if (row === null) throw new Error('no row')
  await store.updateSchedule('a', { definition: { ...row.definition, timezone: 'America/New_Yrok' } })
  await tickIn(HOUR_MS)
  expect(await decisions('a')).toEqual([
    ['paused', null],
    ['superseded', hour(1)],
  ])
})

describe('a window that the history says something of', () => {
  test.each(['resume', 'upsert'] as const)(
    'does not run when the clock went back before a %s',
    async (verb) => {
      const { schedules, moveTo, decisions, tickIn } = setup({ workflows: gate().workflows })
      await schedules.create(SEND)
      moveTo(hour(1))
      await (verb === 'resume' ? schedules.pause('a') : schedules.upsert({ ...SEND, every: '30m' }))
      moveTo(hour(1) - MINUTE_MS)
      await (verb === 'resume' ? schedules.resume('a') : schedules.upsert({ ...SEND, every: '1h' }))
      expect(await schedules.get('a')).toMatchObject({ nextFireAt: hour(2) })
      expect(await tickIn(2 * MINUTE_MS)).toEqual([])
      expect((await decisions('a')).filter(([, window]) => window === hour(1))).toHaveLength(1)
    },
  )
})
