import { afterEach, describe, expect, test, vi } from 'vitest'
import { durableObjectStore, type ScheduleStore, workflow } from '../../src/schedules/index.node.ts'
import type { RunRow } from '../../src/schedules/store.ts'
import { objectSetup } from './support/object.ts'
import { HOUR_MS, MINUTE_MS, START_AT, setup, silenceReports } from './support/setup.ts'

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** A Workflow of which every instance that was created is there. */
function answering() {
  const statuses = new Map<string, string>()
  return {
    statuses,
    create: async ({ id }: { readonly id: string }) => void statuses.set(id, 'running'),
    async get(id: string) {
      const status = statuses.get(id)
      if (status === undefined) throw new Error('instance.not_found')
      return { status: async () => ({ status }), terminate: async () => undefined }
    },
  }
}

/** A run whose engine died while it was started. */
function cutOff(id: string, name: string, createdAt: number): RunRow {
  return {
    id,
    workflow: name,
    kind: 'workflow',
    input: null,
    namespace: 'default',
    tags: [],
    searchAttributes: null,
    priority: 0,
    scheduleId: null,
    scheduledTime: null,
    manual: false,
    revision: null,
    concurrencyKey: null,
    status: 'starting',
    counted: false,
    createdAt,
    startedAt: null,
    finishedAt: null,
    error: null,
    expiresAt: null,
  }
}

describe('a start that was cut off, and whose Workflow says nothing of it,', () => {
  test('keeps neither the others from being settled nor old runs from going', async () => {
    silenceReports()
    const good = answering()
    const gone = {
      create: good.create,
      get: () => Promise.reject(new Error('(workflow.not_found) There is no such Workflow')),
    }
    const { store, tickIn } = setup({ workflows: { gone: workflow(gone), good: workflow(good) } })
    await store.saveRun(cutOff('first', 'gone', START_AT))
    await store.saveRun(cutOff('second', 'good', START_AT + 1))
    await store.saveRun({ ...cutOff('old', 'good', START_AT), status: 'complete', expiresAt: START_AT })
    await good.create({ id: 'second' })
    await tickIn(10 * MINUTE_MS)
    expect(await store.getRun('second')).toMatchObject({ status: 'running' })
    expect(await store.getRun('old')).toBeNull()
  })

  test('does not hold up what comes due meanwhile', async () => {
    silenceReports()
    let asked = 0
    const silent = {
      create: async () => undefined,
      get() {
        asked += 1
        return new Promise<never>(() => {})
      },
    }
    const { object, ask, calls } = objectSetup({ workflows: { silent: workflow(silent) } })
    const { storage } = object.ctx
    for (const id of ['one', 'two']) await durableObjectStore(storage).saveRun(cutOff(id, 'silent', START_AT))
    await ask(({ schedules }) => schedules.create({ id: 'a', workflow: 'brief', cron: '0 0 1 * * *' }))
    await ask(({ schedules }) => schedules.create({ id: 'b', workflow: 'brief', cron: '1 0 1 * * *' }))
    await object.advance(HOUR_MS + MINUTE_MS)
    expect(asked).toBeGreaterThan(0)
    expect(calls.map(({ at }) => at - START_AT - HOUR_MS)).toEqual([0, 1_000])
  })
})

test('a last run whose Workflow is registered no more does not count as one that goes on', async () => {
  const binding = answering()
  const { schedules, engineWith, tickIn, moveTo, now, decisions } = setup({
    workflows: { before: workflow(binding) },
  })
  const hourly = { id: 'a', every: '1h', overlap: 'skip' } as const
  await schedules.create({ ...hourly, workflow: 'before' })
  const windows = [START_AT + HOUR_MS, START_AT + 2 * HOUR_MS]
  expect(await tickIn(HOUR_MS)).toHaveLength(1)
  const deployed = engineWith({ workflows: { after: workflow(binding) } })
  await deployed.schedules.upsert({ ...hourly, workflow: 'after' })
  moveTo(now() + HOUR_MS)
  expect(await deployed.schedules.tick()).toEqual([`sched:a:${windows[1]}`])
  expect(await decisions('a')).toEqual([...windows].reverse().map((window) => ['fired', window]))
})

test('a run that was started and could not be written down is found by a sweep', async () => {
  silenceReports()
  const binding = answering()
  const { store, engineWith, schedules, moveTo, now } = setup({ workflows: { brief: workflow(binding) } })
  let isLost = true
  const failing: ScheduleStore = {
    ...store,
    updateRun(...args) {
      if (isLost) throw new Error('D1_ERROR: Network connection lost.')
      return store.updateRun(...args)
    },
  }
  const engine = engineWith({ store: failing })
  await schedules.create({ id: 'a', workflow: 'brief', every: '1h' })
  await expect(engine.schedules.trigger('a')).rejects.toThrow('Network connection lost')
  expect(binding.statuses.size).toBe(1)
  isLost = false
  moveTo(now() + 10 * MINUTE_MS)
  await engine.schedules.tick()
  expect(await engine.listRuns()).toMatchObject([{ status: 'running', scheduleId: 'a' }])
})

test('a window over its concurrency limit is tried again where a Workflow did not say whether it goes on', async () => {
  silenceReports()
  const binding = answering()
  let isDown = false
  const get = (id: string) => (isDown ? Promise.reject(new Error('Workflows are down')) : binding.get(id))
  const { schedules, tickIn, decisions } = setup({ workflows: { brief: workflow({ ...binding, get }) } })
  const concurrency = { key: 'k', limit: 1 }
  await schedules.create({ id: 'a', workflow: 'brief', every: '1h', concurrency })
  expect(await tickIn(HOUR_MS)).toHaveLength(1)
  for (const id of binding.statuses.keys()) binding.statuses.set(id, 'complete')
  isDown = true
  expect(await tickIn(HOUR_MS)).toEqual([])
  expect(await schedules.get('a')).toMatchObject({ lastError: 'Error: Workflows are down' })
  isDown = false
  expect(await tickIn(5_000)).toEqual([`sched:a:${START_AT + 2 * HOUR_MS}`])
  expect(await decisions('a')).toMatchObject([
    ['fired', START_AT + 2 * HOUR_MS],
    ['fired', START_AT + HOUR_MS],
  ])
})

describe('a start whose answer never came', () => {
  /** Instances are there, or are not, and nobody is told. */
  const unanswered = (isThere: boolean) => {
    const binding = answering()
    let isSilent = true
    return {
      ...binding,
      async create(options: { readonly id: string }) {
        if (!isSilent || isThere) await binding.create(options)
        if (isSilent) await new Promise(() => {})
      },
      recover() {
        isSilent = false
      },
    }
  }

  test.each(['start', 'trigger'] as const)('by %s is a run when the Workflow says so later', async (verb) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { engine, tickIn } = setup({ workflows: { brief: workflow(unanswered(true)) } })
    await engine.schedules.create({ id: 'a', workflow: 'brief', every: '1h', paused: true })
    const started = verb === 'start' ? engine.start('brief', null, 'one') : engine.schedules.trigger('a')
    const refused = expect(started).rejects.toMatchObject({ code: 'start_timeout' })
    await vi.advanceTimersByTimeAsync(30_000)
    await refused
    await tickIn(10 * MINUTE_MS)
    expect(await engine.listRuns()).toMatchObject([{ status: 'running' }])
  })

  test('leaves no run when it is not there, and can be made again under its id', async () => {
    const binding = unanswered(false)
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    const { engine, tickIn } = setup({ workflows: { brief: workflow(binding) } })
    const refused = expect(engine.start('brief', null, 'one')).rejects.toMatchObject({
      code: 'start_timeout',
    })
    await vi.advanceTimersByTimeAsync(30_000)
    await refused
    await tickIn(10 * MINUTE_MS)
    expect(await engine.getRun('one')).toBeNull()
    binding.recover()
    expect(await engine.start('brief', null, 'one')).toMatchObject({ status: 'running' })
  })

  test('for its engine died, leaves none either', async () => {
    const { engine, store, tickIn } = setup({ workflows: { brief: workflow(answering()) } })
    await store.saveRun(cutOff('one', 'brief', START_AT))
    await tickIn(10 * MINUTE_MS)
    expect(await engine.start('brief', null, 'one')).toMatchObject({ status: 'running' })
  })
})
