import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import type { DurabilityEngine } from '../../src/schedules/index.node.ts'
import type { Death } from './support/dying.ts'
import { play, type Scenario, withoutTimers } from './support/lives.ts'
import { HOUR_MS, START_AT, silenceReports } from './support/setup.ts'
import { type OpenStore, STORES } from './support/stores.ts'

beforeEach(() => {
  withoutTimers()
  silenceReports()
})
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const hour = (n: number) => START_AT + n * HOUR_MS
const FLOW = { id: 'a', workflow: 'flow', every: '1h' }
const SEND = { id: 'a', workflow: 'send', every: '1h' }

const tick = ({ schedules }: DurabilityEngine) => schedules.tick()
const upsert =
  (definition: object) =>
  ({ schedules }: DurabilityEngine) =>
    schedules.upsert({ ...FLOW, ...definition })
const both =
  (...asks: ((engine: DurabilityEngine) => Promise<unknown>)[]) =>
  (engine: DurabilityEngine) =>
    Promise.all(asks.map((ask) => ask(engine)))

const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a Workflow is created and fires',
    steps: [
      { at: 0, ask: ({ schedules }) => schedules.create(FLOW) },
      { at: HOUR_MS, ask: tick },
    ],
    windows: [hour(1)],
    fired: [hour(1)],
  },
  {
    name: 'a run is handed over',
    steps: [
      { at: 0, ask: ({ schedules }) => schedules.create(SEND) },
      { at: HOUR_MS, ask: tick },
      { at: 2 * HOUR_MS, ask: tick },
    ],
    windows: [hour(1), hour(2)],
    fired: [hour(1), hour(2)],
  },
  {
    name: 'missed windows are caught up with',
    steps: [
      { at: 0, ask: ({ schedules }) => schedules.create(FLOW) },
      { at: 5.5 * HOUR_MS, ask: tick },
    ],
    windows: [1, 2, 3, 4, 5].map(hour),
    fired: [hour(5)],
  },
  {
    name: 'late windows are dropped',
    steps: [
      { at: 0, ask: ({ schedules }) => schedules.create({ ...FLOW, catchup: 'skip' }) },
      { at: 3.5 * HOUR_MS, ask: tick },
      { at: 4 * HOUR_MS, ask: tick },
    ],
    windows: [1, 2, 3, 4].map(hour),
    fired: [hour(4)],
  },
  {
    name: 'an upsert changes the timing of a window that is due',
    steps: [
      { at: 0, ask: upsert({}) },
      { at: HOUR_MS + 5, ask: upsert({ every: '2h' }) },
      { at: 2 * HOUR_MS, ask: tick },
    ],
    windows: [hour(1), hour(2)],
    fired: [hour(2)],
  },
  {
    name: 'an upsert changes the timing while a start is under way',
    steps: [
      { at: 0, ask: upsert({}) },
      { at: HOUR_MS, ask: both(tick, upsert({ every: '2h' })) },
      { at: 2 * HOUR_MS, ask: tick },
    ],
    windows: [hour(1), hour(2)],
    fired: [hour(2)],
  },
  {
    name: 'an upsert changes the payload while a start is under way',
    steps: [
      { at: 0, ask: upsert({ maxRuns: 2 }) },
      { at: HOUR_MS, ask: both(tick, upsert({ maxRuns: 2, input: 1 })) },
      { at: HOUR_MS + 1_000, ask: tick },
      { at: 2 * HOUR_MS, ask: tick },
    ],
    windows: [hour(1), hour(2)],
    fired: [hour(1), hour(2)],
  },
  {
    name: 'it is paused while due, and resumed',
    steps: [
      { at: 0, ask: upsert({}) },
      { at: HOUR_MS, ask: ({ schedules }) => schedules.pause('a') },
      { at: 3.5 * HOUR_MS, ask: ({ schedules }) => schedules.resume('a') },
      { at: 4 * HOUR_MS, ask: tick },
    ],
    windows: [hour(1), hour(4)],
    fired: [hour(4)],
  },
  {
    name: 'it is paused while a start is under way, and resumed',
    steps: [
      { at: 0, ask: upsert({}) },
      { at: HOUR_MS, ask: both(tick, ({ schedules }) => schedules.pause('a')) },
      { at: HOUR_MS + 5, ask: ({ schedules }) => schedules.resume('a') },
      { at: 2 * HOUR_MS, ask: tick },
    ],
    windows: [hour(1), hour(2)],
    fired: [hour(2)],
  },
  {
    name: 'a hand-over is under way while it is paused',
    steps: [
      { at: 0, ask: ({ schedules }) => schedules.upsert(SEND) },
      { at: HOUR_MS, ask: both(tick, ({ schedules }) => schedules.pause('a')) },
    ],
    windows: [hour(1)],
  },
  {
    name: 'it is triggered',
    steps: [
      { at: 0, ask: upsert({}) },
      { at: 10, ask: ({ schedules }) => schedules.trigger('a') },
      { at: HOUR_MS, ask: both(tick, ({ schedules }) => schedules.trigger('a')) },
    ],
    windows: [hour(1)],
    fired: [hour(1)],
  },
  {
    name: 'a start fails at first',
    failures: 2,
    steps: [
      { at: 0, ask: upsert({}) },
      { at: HOUR_MS, ask: tick },
      { at: HOUR_MS + 1_000, ask: tick },
      { at: HOUR_MS + 4_000, ask: tick },
    ],
    windows: [hour(1)],
    fired: [hour(1)],
  },
  {
    name: 'a start fails for good',
    failures: 1_000,
    options: { graceMs: 5_000 },
    steps: [
      { at: 0, ask: ({ schedules }) => schedules.upsert(SEND) },
      { at: HOUR_MS, ask: tick },
      { at: HOUR_MS + 1_000, ask: tick },
      { at: HOUR_MS + 10_000, ask: tick },
    ],
    windows: [hour(1)],
  },
  {
    name: 'a start fails until a newer window is due',
    failures: 1,
    steps: [
      { at: 0, ask: upsert({}) },
      { at: HOUR_MS, ask: tick },
      { at: 3 * HOUR_MS, ask: tick },
    ],
    windows: [hour(1), hour(2), hour(3)],
    fired: [hour(3)],
  },
  {
    name: 'a window is skipped while the run of the last one is live',
    status: 'running',
    steps: [
      { at: 0, ask: upsert({ overlap: 'skip' }) },
      { at: HOUR_MS, ask: tick },
      { at: 2 * HOUR_MS, ask: tick },
      { at: 2.5 * HOUR_MS, happens: (outside) => outside.end(`sched:a:${hour(1)}`, 'complete') },
      { at: 3 * HOUR_MS, ask: tick },
    ],
    windows: [hour(1), hour(2), hour(3)],
    fired: [hour(1), hour(3)],
    live: ['running'],
  },
  {
    name: 'it pauses itself after failed runs',
    status: 'errored',
    steps: [
      { at: 0, ask: upsert({ pauseAfterFailures: 2 }) },
      { at: HOUR_MS, ask: tick },
      { at: 2 * HOUR_MS, ask: tick },
      { at: 3 * HOUR_MS, ask: tick },
    ],
    windows: [hour(1), hour(2), hour(3)],
    fired: [hour(1), hour(2)],
    live: ['running'],
  },
  {
    name: 'a run is started by its id and cancelled',
    status: 'running',
    steps: [
      { at: 0, ask: upsert({}) },
      { at: 5, ask: (engine) => engine.start('flow', null, 'mine') },
      { at: 6, ask: (engine) => engine.cancelRun('mine') },
      { at: HOUR_MS, ask: both(tick, tick) },
    ],
    windows: [hour(1)],
    fired: [hour(1)],
    live: ['running'],
  },
]

async function problemsOf(scenario: Scenario, open: () => OpenStore, deaths: readonly Death[]) {
  const store = open()
  try {
    const { problems, calls } = await play(scenario, store, deaths)
    return { problems: problems.map((problem) => `${JSON.stringify(deaths)}: ${problem}`), calls }
  } finally {
    store.close()
  }
}

const WHEN = ['before', 'after'] as const
/** Every so many-th pair of deaths is played. */
/** Problems that a failure shows. */
const MOST_TOLD = 10
const PAIRS_STRIDE = 23

describe.each(STORES.filter(({ name }) => name !== 'a simulated Durable Object'))(
  'over $name, whose answers come late',
  ({ open }) => {
    test.each(SCENARIOS)('an engine may die at any call of its store: $name', async (scenario) => {
      const whole = await problemsOf(scenario, open, [])
      expect(whole.problems).toEqual([])
      const [calls = 0] = whole.calls
      expect(calls).toBeGreaterThan(5)
      const problems: string[] = []
      for (let call = 1; call <= calls; call += 1) {
        for (const when of WHEN) {
          const played = await problemsOf(scenario, open, [{ call, when }])
          problems.push(...played.problems)
        }
      }
      expect(problems.slice(0, MOST_TOLD)).toEqual([])
    })

    test.each(SCENARIOS)('and the next one too: $name', async (scenario) => {
      const [calls = 0] = (await problemsOf(scenario, open, [])).calls
      const problems: string[] = []
      for (let pair = 0; pair < calls * calls; pair += PAIRS_STRIDE) {
        const deaths = [Math.floor(pair / calls), pair % calls].map((call, index) => ({
          call: call + 1,
          when: WHEN[(pair + index) % 2] ?? 'before',
        }))
        problems.push(...(await problemsOf(scenario, open, deaths)).problems)
      }
      expect(problems.slice(0, MOST_TOLD)).toEqual([])
    })
  },
)
