import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  DurabilityEngine,
  dispatch,
  memoryStore,
  type ScheduleStore,
} from '../../src/schedules/index.node.ts'
import { STATUS_TIMEOUT_MS } from '../../src/schedules/limits.ts'
import { DAY_MS, MINUTE_MS, START_AT, silenceReports } from './support/setup.ts'

const DUE = 1_000
const HANGING = 8
const START_TIMEOUT_MS = 30_000
const GRACE_MS = 60_000
const NEXT_MS = DAY_MS
/** ms, simulated, that a call of the store and an answered start take. */
const STORE_MS = 2
const START_MS = 5

beforeEach(() => {
  // All of time, so that nothing of it is waited for.
  vi.useFakeTimers({ now: START_AT })
  silenceReports()
})

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

/** A store that is far away, as D1 is: each call takes its time, and it belongs to no object. */
function faraway(store: ScheduleStore): ScheduleStore {
  const members = Object.entries(store).flatMap(([name, member]) => {
    if (name === 'boundTo') return []
    if (typeof member !== 'function') return [[name, member]]
    const later = async (...args: never[]) => {
      await sleep(STORE_MS)
      // The method of that name, with its own arguments.
      return (member as (...given: never[]) => unknown)(...args)
    }
    return [[name, later]]
  })
  return Object.fromEntries(members) as ScheduleStore
}

/** 1,000 schedules that are due in a minute and then in a day; the starts of `hanging` are not answered. */
async function setup(isHanging: (n: number) => boolean) {
  const hanging = new Set<string>()
  /** Starts that have no answer yet, with when they were asked for. */
  const open = new Map<string, number>()
  const started: { readonly scheduleId: string; readonly at: number }[] = []
  const seen = { mostOpen: 0, mostWithin: 0, mostTimers: 0, attempts: 0 }
  const work = dispatch(async ({ scheduleId }) => {
    const id = String(scheduleId)
    open.set(id, Date.now())
    seen.mostOpen = Math.max(seen.mostOpen, open.size)
    const within = [...open.values()].filter((at) => Date.now() - at < 1_000)
    seen.mostWithin = Math.max(seen.mostWithin, within.length)
    seen.mostTimers = Math.max(seen.mostTimers, vi.getTimerCount())
    if (hanging.has(id)) {
      seen.attempts += 1
      await new Promise(() => {})
    }
    await sleep(START_MS)
    open.delete(id)
    started.push({ scheduleId: id, at: Date.now() })
  })
  const near = memoryStore()
  const setUp = new DurabilityEngine({ store: near, workflows: { work } })
  for (let n = 0; n < DUE; n += 1) {
    const id = `s${String(n).padStart(4, '0')}`
    await setUp.schedules.create({ id, workflow: 'work', cron: '1 0 * * *' })
    if (isHanging(n)) hanging.add(id)
  }
  vi.setSystemTime(START_AT + MINUTE_MS)
  const engine = new DurabilityEngine({ store: faraway(near), workflows: { work } })
  /** Resolves to what the tick answered and how long it took, simulated. */
  const timedTick = async () => {
    const begunAt = Date.now()
    const ticking = engine.schedules.tick().then((runIds) => ({ runIds, tookMs: Date.now() - begunAt }))
    await vi.advanceTimersByTimeAsync(2 * START_TIMEOUT_MS)
    return ticking
  }
  return { engine, near, hanging, open, started, seen, timedTick }
}

const WINDOW = START_AT + MINUTE_MS

describe.each([
  { where: 'scattered among them', isHanging: (n: number) => n % (DUE / HANGING) === 7 },
  { where: 'before all others', isHanging: (n: number) => n < HANGING },
])('8 hanging starts among 1,000 due, $where', ({ isHanging }) => {
  test('do not keep the other 992 from being started, and tick resolves within startTimeoutMs', async () => {
    const { hanging, started, timedTick } = await setup(isHanging)
    expect(hanging.size).toBe(HANGING)
    const { runIds, tookMs } = await timedTick()
    expect(tookMs).toBeLessThanOrEqual(START_TIMEOUT_MS)
    expect(runIds).toHaveLength(DUE - HANGING)
    expect(new Set(started.map(({ scheduleId }) => scheduleId)).size).toBe(DUE - HANGING)
    expect(started.some(({ scheduleId }) => hanging.has(scheduleId))).toBe(false)
    // Each hanging one holds its place for a second; the others had theirs long before the tick was over.
    const last = Math.max(...started.map(({ at }) => at))
    expect(last - WINDOW).toBeLessThan(10_000)
  })

  test('hold a place for a second each, of which there are six', async () => {
    const { seen, timedTick } = await setup(isHanging)
    await timedTick()
    expect(seen.mostWithin).toBe(6)
    expect(seen.mostOpen).toBeGreaterThan(6)
    expect(seen.mostOpen).toBeLessThanOrEqual(6 + HANGING)
  })

  test('are tried again until graceMs is over, then recorded as failed, and go on with the next window', async () => {
    const { near, hanging, seen, timedTick } = await setup(isHanging)
    await timedTick()
    expect(seen.attempts).toBe(HANGING)
    for (const id of hanging) {
      const row = await near.getSchedule(id)
      expect(row).toMatchObject({ nextWindow: WINDOW, attempts: 1, firstAttemptAt: WINDOW, fires: 0 })
      expect(row?.lastError).toContain('StartTimeoutError')
      expect(row?.nextFireAt).toBeLessThan(WINDOW + GRACE_MS)
      const [run] = await near.listRuns({ scheduleId: id, order: 'newest', limit: 1 })
      expect(run?.status).toBe('starting')
    }
    const again = await timedTick()
    expect(again.runIds).toEqual([])
    expect(seen.attempts).toBe(2 * HANGING)
    for (const id of hanging) {
      expect(await near.getSchedule(id)).toMatchObject({
        nextWindow: WINDOW + NEXT_MS,
        nextFireAt: WINDOW + NEXT_MS,
        attempts: 0,
        fires: 0,
      })
      const decisions = await near.listDecisions(id, 10)
      expect(decisions.map(({ decision, scheduledTime }) => [decision, scheduledTime])).toEqual([
        ['start_failed', WINDOW],
      ])
      const [run] = await near.listRuns({ scheduleId: id, order: 'newest', limit: 1 })
      expect(run?.status).toBe('errored')
    }
    const third = await timedTick()
    expect(third.runIds).toEqual([])
    expect(seen.attempts).toBe(2 * HANGING)
  })

  test('are started by the next tick when they answer again, each once in its history', async () => {
    const { near, hanging, open, started, timedTick } = await setup(isHanging)
    await timedTick()
    const ids = [...hanging]
    hanging.clear()
    open.clear()
    const { runIds } = await timedTick()
    expect(runIds.sort()).toEqual(ids.map((id) => `sched:${id}:${WINDOW}`).sort())
    expect(started).toHaveLength(DUE)
    for (const id of ids) {
      expect(await near.getSchedule(id)).toMatchObject({ fires: 1, lastFireAt: WINDOW, lastError: null })
      expect(await near.listDecisions(id, 10)).toEqual([])
    }
  })

  test('are not taken up by a tick beside the one that waits for them', async () => {
    const { engine, seen } = await setup(isHanging)
    const first = engine.schedules.tick()
    await vi.advanceTimersByTimeAsync(10_000)
    const second = engine.schedules.tick()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await second).toEqual([])
    expect(seen.attempts).toBe(HANGING)
    await vi.advanceTimersByTimeAsync(START_TIMEOUT_MS)
    expect(await first).toHaveLength(DUE - HANGING)
  })
})

test('1,000 starts have few timers at a time, and a tick leaves none behind', async () => {
  const { engine, started, seen } = await setup(() => false)
  const ticking = engine.schedules.tick().then(() => vi.getTimerCount())
  await vi.advanceTimersByTimeAsync(START_TIMEOUT_MS)
  expect(await ticking).toBe(0)
  expect(started).toHaveLength(DUE)
  // The tick has two, and each of six starts its limit, its place and what the store or the receiver takes.
  expect(seen.mostTimers).toBeLessThanOrEqual(2 + 6 * 3)
})

test('a Workflow that does not say how its last run is doing holds up nothing else either', async () => {
  const status = vi.fn(() => new Promise<never>(() => {}))
  const started: string[] = []
  const brief = {
    kind: 'workflow' as const,
    start: async ({ runId }: { readonly runId: string }) => {
      started.push(runId)
      return 'running' as const
    },
    status,
  }
  const engine = new DurabilityEngine({ store: faraway(memoryStore()), workflows: { brief } })
  const making = Promise.all(
    ['a', 'b'].map((id) =>
      engine.schedules.create({
        id,
        workflow: 'brief',
        every: MINUTE_MS,
        overlap: id === 'a' ? 'skip' : 'allow',
      }),
    ),
  )
  await vi.advanceTimersByTimeAsync(100)
  await making
  for (let minute = 1; minute <= 2; minute += 1) {
    vi.setSystemTime(START_AT + minute * MINUTE_MS)
    const begunAt = Date.now()
    const ticking = engine.schedules.tick().then(() => Date.now() - begunAt)
    await vi.advanceTimersByTimeAsync(START_TIMEOUT_MS)
    expect(await ticking).toBeLessThanOrEqual(START_TIMEOUT_MS)
  }
  expect(status).toHaveBeenCalled()
  expect(started.filter((runId) => runId.startsWith('sched:a:'))).toHaveLength(1)
  expect(started.filter((runId) => runId.startsWith('sched:b:'))).toHaveLength(2)
})

test('a tick is over in time also when a Workflow neither starts nor says whether it did; that is written down later', async () => {
  const hangs = () => new Promise<never>(() => {})
  const store = memoryStore()
  const brief = { kind: 'workflow' as const, start: hangs, status: hangs }
  const engine = new DurabilityEngine({ store, workflows: { brief } })
  await engine.schedules.create({ id: 'a', workflow: 'brief', cron: '1 0 * * *' })
  for (const at of [WINDOW, WINDOW + 40_000]) {
    vi.setSystemTime(at)
    const ticking = engine.schedules.tick().then(() => Date.now() - at)
    await vi.advanceTimersByTimeAsync(START_TIMEOUT_MS)
    expect(await ticking).toBeLessThanOrEqual(START_TIMEOUT_MS)
  }
  expect(await engine.schedules.history('a')).toEqual([])
  const draining = engine.drain()
  await vi.advanceTimersByTimeAsync(STATUS_TIMEOUT_MS)
  await draining
  expect(await engine.schedules.history('a')).toMatchObject([
    { decision: 'start_failed', scheduledTime: WINDOW },
  ])
})

test('a fire whose store never answers, as in a request that was cut off, is taken up again, and drain does not wait for it', async () => {
  const rows = memoryStore()
  const near = faraway(rows)
  let isCut = false
  const never = new Promise<never>(() => {})
  const store: ScheduleStore = { ...near, saveRun: (...given) => (isCut ? never : near.saveRun(...given)) }
  const started: string[] = []
  const send = dispatch(({ runId }) => void started.push(runId))
  const engine = new DurabilityEngine({ store, workflows: { send } })
  const making = engine.schedules.create({ id: 'a', workflow: 'send', cron: '1 0 * * *' })
  await vi.advanceTimersByTimeAsync(100)
  await making
  const tickAt = async (at: number) => {
    vi.setSystemTime(at)
    const ticking = engine.schedules.tick()
    await vi.advanceTimersByTimeAsync(START_TIMEOUT_MS + 1_000)
    return ticking
  }
  isCut = true
  expect(await tickAt(WINDOW)).toEqual([])
  isCut = false
  // For as long as a start may take, with what is around it, it could yet be answered.
  expect(await tickAt(WINDOW + 40_000)).toEqual([])
  expect(await tickAt(WINDOW + MINUTE_MS + 20_000)).toEqual([`sched:a:${WINDOW}`])
  expect(started).toEqual([`sched:a:${WINDOW}`])
  expect(await rows.getSchedule('a')).toMatchObject({ fires: 1, nextFireAt: WINDOW + NEXT_MS })

  isCut = true
  expect(await tickAt(WINDOW + NEXT_MS)).toEqual([])
  const draining = engine.drain().then(() => 'drained')
  await vi.advanceTimersByTimeAsync(2 * MINUTE_MS)
  expect(await Promise.race([draining, 'waits'])).toBe('drained')
})
