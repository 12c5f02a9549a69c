import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  DurabilityEngine,
  dispatch,
  memoryStore,
  type ScheduleDescription,
  type ScheduleStore,
} from '../../src/schedules/index.node.ts'
import { audit } from './support/audit.ts'
import { dyingStore } from './support/dying.ts'
import { withoutTimers } from './support/lives.ts'
import { type ModelTiming, ScheduleModel } from './support/model.ts'
import { Outside } from './support/outside.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, START_AT, silenceReports } from './support/setup.ts'
import { STORES } from './support/stores.ts'

/** Another seed, or more histories: `SCHEDULES_SEED=5 SCHEDULES_RUNS=5000 npx vitest run --project node model.test.ts`. */
const { SCHEDULES_SEED = '1', SCHEDULES_RUNS = '100' } = process.env
const seed = Number(SCHEDULES_SEED)
const numRuns = Number(SCHEDULES_RUNS)

beforeEach(() => {
  withoutTimers()
  silenceReports()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

type Action =
  | { readonly do: 'move'; readonly ms: number }
  | { readonly do: 'tick' | 'pause' | 'resume' | 'trigger' | 'delete'; readonly engine: number }
  | { readonly do: 'upsert'; readonly engine: number; readonly timing: ModelTiming; readonly input: number }

/** Of the engines' clocks, ms. */
const SKEWS = [0, -2_000, 2_000]

const engine = fc.nat(SKEWS.length - 1)
const timing: fc.Arbitrary<ModelTiming> = fc.record({
  everyMs: fc.constantFrom(MINUTE_MS, 10 * MINUTE_MS, HOUR_MS),
  jitterMs: fc.constantFrom(0, 0, 30_000),
  maxRuns: fc.constantFrom(null, null, null, 1, 3),
})
const move = fc.record({
  do: fc.constant('move' as const),
  ms: fc.oneof(
    fc.integer({ min: 0, max: 2_000 }),
    fc.integer({ min: 0, max: 15 * MINUTE_MS }),
    fc.integer({ min: 0, max: 3 * HOUR_MS }),
    fc.integer({ min: -2 * HOUR_MS, max: 0 }),
  ),
})
const tick = fc.record({ do: fc.constant('tick' as const), engine })
const upsert = fc.record({ do: fc.constant('upsert' as const), engine, timing, input: fc.nat(2) })
const verb = fc.record({
  do: fc.constantFrom('pause' as const, 'resume' as const, 'trigger' as const),
  engine,
})
const remove = fc.record({ do: fc.constant('delete' as const), engine })
const anything: fc.Arbitrary<Action> = fc.oneof(
  { weight: 6, arbitrary: move },
  { weight: 6, arbitrary: tick },
  { weight: 2, arbitrary: upsert },
  { weight: 3, arbitrary: verb },
)

/** Several engines, each with a clock of its own, over one store. */
function enginesOver(store: ScheduleStore, outside: Outside) {
  let now = START_AT
  const dying = dyingStore(store)
  const engines = SKEWS.map(
    (skew) =>
      new DurabilityEngine({
        store: dying.store,
        workflows: outside.workflows((call) => dying.outside(call)),
        clock: () => now + skew,
        keptRuns: 1_000,
        keptDecisions: 1_000,
      }),
  )
  const nowOf = (index: number) => now + (SKEWS[index] ?? 0)
  const apply = async (action: Action): Promise<unknown> => {
    if (action.do === 'move') {
      now += action.ms
      return undefined
    }
    const schedules = engines[action.engine]?.schedules
    if (action.do === 'tick') return schedules?.tick()
    if (action.do === 'upsert') {
      const { everyMs, jitterMs, maxRuns } = action.timing
      const bound = maxRuns === null ? {} : { maxRuns }
      const fields = { workflow: 'send', every: everyMs, jitter: jitterMs, input: action.input }
      return schedules?.upsert({ id: 'a', ...fields, ...bound })
    }
    return schedules?.[action.do]('a')
  }
  return { apply, nowOf, now: () => now }
}

const UNKNOWN = 'schedule_not_found'

describe.each(STORES.filter(({ name }) => name !== 'a simulated Durable Object'))(
  'over $name',
  ({ open }) => {
    test('one verb after another does what the model says', { timeout: 120_000 }, async () => {
      const actions = fc.array(
        fc.oneof({ weight: 17, arbitrary: anything }, { weight: 1, arbitrary: remove }),
        {
          minLength: 10,
          maxLength: 60,
        },
      )
      await fc.assert(
        fc.asyncProperty(actions, async (history) => {
          const opened = open()
          const { apply, nowOf } = enginesOver(opened.store, new Outside())
          const model = new ScheduleModel('a')
          for (const action of history) {
            const answer = await apply(action).catch((error: { code?: string }) => {
              if (error.code !== UNKNOWN) throw error
              return UNKNOWN
            })
            await follow(model, action, answer, nowOf)
            const row = await opened.store.getSchedule('a')
            expect(row !== null).toBe(model.exists)
            if (row === null) continue
            const { paused, finished, lastFireAt, fires } = model
            expect(row).toMatchObject({ paused, finished, lastFireAt, fires })
            expect(row.finished || row.paused ? null : row.nextFireAt).toBe(model.nextFireAt)
          }
          expect(new Set(model.fired).size).toBe(model.fired.length)
          opened.close()
        }),
        { seed, numRuns },
      )
    })

    test('verbs, ticks and failing starts at the same time leave nothing wrong', {
      timeout: 120_000,
    }, async () => {
      const failing = fc.record({ do: fc.constant('fail' as const), starts: fc.integer({ min: 1, max: 4 }) })
      const together = fc.array(
        fc.oneof({ weight: 9, arbitrary: anything }, { weight: 1, arbitrary: failing }),
        {
          minLength: 1,
          maxLength: 5,
        },
      )
      await fc.assert(
        fc.asyncProperty(fc.array(together, { minLength: 5, maxLength: 20 }), async (history) => {
          const opened = open()
          const outside = new Outside()
          const { apply, now, nowOf } = enginesOver(opened.store, outside)
          await apply({
            do: 'upsert',
            engine: 0,
            timing: { everyMs: MINUTE_MS, jitterMs: 0, maxRuns: null },
            input: 0,
          })
          let latest = START_AT
          for (const batch of history) {
            for (const action of batch) if (action.do === 'move') await apply(action)
            latest = Math.max(latest, nowOf(2))
            const answers = await Promise.all(
              batch.map((action) => {
                if (action.do === 'fail') outside.failures = action.starts
                if (action.do === 'fail' || action.do === 'move') return undefined
                const applied = apply(action)
                // A manual run is started or it is not: nothing tries it again.
                return action.do === 'trigger' ? applied.catch(ifDown) : applied
              }),
            )
            for (const [index, answer] of answers.entries())
              if (batch[index]?.do === 'tick') expect((answer as string[]).length).toBeLessThanOrEqual(1)
            const row = await opened.store.getSchedule('a')
            expect(row?.nextWindow ?? Infinity).toBeGreaterThan(row?.lastFireAt ?? -1)
          }
          outside.failures = 0
          await untilQuiet(apply, latest - now())
          const got = [...outside.got.keys()]
          expect(await audit(opened.store, { id: 'a', now: now(), got })).toEqual([])
          for (const runId of got)
            expect(Number(runId.split(':').at(-1))).toBeLessThanOrEqual(latest + DAY_MS)
          opened.close()
        }),
        { seed, numRuns },
      )
    })
  },
)

function ifDown(error: Error): void {
  if (error.message !== 'down') throw error
}

/** What was under way is looked at until it is settled: past every instant that a clock has shown, and past every grace. */
async function untilQuiet(apply: (action: Action) => Promise<unknown>, behindMs: number): Promise<void> {
  await apply({ do: 'move', ms: Math.max(behindMs, 0) })
  for (let look = 0; look < 4; look += 1) {
    await apply({ do: 'move', ms: 100_000 })
    await apply({ do: 'tick', engine: 2 })
  }
}

/** The model does the same, and what the engine answered is compared. */
async function follow(
  model: ScheduleModel,
  action: Action,
  answer: unknown,
  nowOf: (engine: number) => number,
): Promise<void> {
  if (action.do === 'move') return
  const now = nowOf(action.engine)
  if (action.do === 'tick') {
    const window = model.tick(now)
    expect(answer).toEqual(window === null ? [] : [`sched:a:${window}`])
    return
  }
  if (action.do === 'delete') {
    expect(answer).toBe(model.exists)
    if (model.exists) model.delete()
    return
  }
  if (action.do === 'upsert') {
    model.upsert(action.timing, now)
    expect((answer as ScheduleDescription).nextFireAt).toBe(model.nextFireAt)
    return
  }
  if (!model.exists) {
    expect(answer).toBe(UNKNOWN)
    return
  }
  if (action.do === 'trigger')
    expect(answer).toMatchObject({ id: `sched:a:manual:${now}`, status: 'complete' })
  else {
    model[action.do](now)
    expect(answer).toMatchObject({ paused: model.paused, nextFireAt: model.nextFireAt })
  }
}

test('several engines of one object call the handler of a window once', { timeout: 120_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anything, { minLength: 10, maxLength: 60 }), async (history) => {
      const store = memoryStore()
      const calls: string[] = []
      let now = START_AT
      const engines = SKEWS.map(
        (skew) =>
          new DurabilityEngine({
            store,
            workflows: { send: ({ runId }) => void calls.push(runId), other: dispatch(() => undefined) },
            clock: () => now + skew,
            maxConcurrentRuns: 1,
            keptRuns: 1_000,
            keptDecisions: 1_000,
          }),
      )
      await engines[0]?.schedules.create({ id: 'a', workflow: 'send', every: '1m' })
      for (const action of history) {
        if (action.do === 'move') now += action.ms
        else if (action.do === 'tick') await Promise.all(engines.map(({ schedules }) => schedules.tick()))
        else if (action.do === 'upsert')
          await engines[action.engine]?.schedules.upsert({
            id: 'a',
            workflow: 'send',
            every: action.timing.everyMs,
            input: action.input,
          })
        else if (action.do !== 'delete') await engines[action.engine]?.schedules[action.do]('a')
      }
      now += 100_000
      for (const { schedules } of engines) await schedules.tick()
      for (const one of engines) await one.drain()
      expect(new Set(calls).size).toBe(calls.length)
      const windows = calls.filter((runId) => !runId.includes(':manual:'))
      const row = await store.getSchedule('a')
      expect(windows).toHaveLength(row?.fires ?? -1)
      expect(await audit(store, { id: 'a', now })).toEqual([])
    }),
    { seed, numRuns },
  )
})
