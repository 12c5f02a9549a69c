import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { everyCrash } from '../../src/testing/index.ts'
import { type ObjectScenario, playInObject } from './support/crash-object.ts'
import { HOUR_MS, MINUTE_MS, START_AT, silenceReports } from './support/setup.ts'

beforeEach(() => void silenceReports())
afterEach(() => vi.restoreAllMocks())

const hour = (n: number) => START_AT + n * HOUR_MS
const HOURLY = { id: 'a', workflow: 'brief', every: '1h' }

const SCENARIOS: readonly ObjectScenario[] = [
  {
    name: 'a schedule is created, and a handler fires',
    async play({ ask, advance }) {
      await ask(({ schedules }) => schedules.create({ ...HOURLY, tags: ['t'] }))
      await advance(2.5 * HOUR_MS)
    },
    schedules: { a: { windows: [1, 2].map(hour), fired: [1, 2].map(hour) } },
  },
  {
    name: 'an upsert changes the timing',
    async play({ ask, advance, holdAlarms }) {
      await ask(({ schedules }) => schedules.upsert(HOURLY))
      holdAlarms(HOUR_MS + MINUTE_MS)
      await advance(HOUR_MS + 5)
      await ask(({ schedules }) => schedules.upsert({ ...HOURLY, every: '2h', tags: ['new'] }))
      await advance(1.5 * HOUR_MS)
    },
    schedules: { a: { windows: [1, 2].map(hour), fired: [1, 2].map(hour) } },
  },
  {
    name: 'it is paused and resumed',
    async play({ ask, advance, holdAlarms }) {
      await ask(({ schedules }) => schedules.upsert(HOURLY))
      holdAlarms(HOUR_MS + MINUTE_MS)
      await advance(HOUR_MS + 5)
      await ask(({ schedules }) => schedules.pause('a', 'holiday'))
      await advance(2 * HOUR_MS)
      await ask(({ schedules }) => schedules.resume('a'))
      await advance(HOUR_MS)
    },
    schedules: { a: { windows: [1, 4].map(hour), fired: [hour(4)] } },
  },
  {
    name: 'missed windows are caught up with',
    async play({ ask, advance, holdAlarms }) {
      await ask(({ schedules }) => schedules.upsert(HOURLY))
      holdAlarms(5.5 * HOUR_MS)
      await advance(6.5 * HOUR_MS)
    },
    schedules: { a: { windows: [1, 2, 3, 4, 5, 6].map(hour), fired: [5, 6].map(hour) } },
  },
  {
    name: 'runs wait behind maxConcurrentRuns',
    options: { maxConcurrentRuns: 1 },
    behaviour: () => ({ takesMs: 1_000 }),
    async play({ ask, advance }) {
      for (const id of ['a', 'b', 'c']) await ask(({ schedules }) => schedules.upsert({ ...HOURLY, id }))
      await advance(HOUR_MS + 10 * MINUTE_MS)
      await advance(1.2 * HOUR_MS)
    },
    schedules: Object.fromEntries(
      ['a', 'b', 'c'].map((id) => [id, { windows: [1, 2].map(hour), fired: [1, 2].map(hour) }]),
    ),
  },
  {
    name: 'it is triggered, and a run is cancelled',
    behaviour: ({ scheduleId }) => ({ takesMs: scheduleId === null ? 10 * MINUTE_MS : 0 }),
    async play({ ask, advance }) {
      await ask(({ schedules }) => schedules.upsert(HOURLY))
      await ask(({ schedules }) => schedules.trigger('a'))
      await ask((engine) => engine.start('brief', { n: 1 }, 'mine'))
      await ask((engine) => engine.cancelRun('mine'))
      await advance(1.5 * HOUR_MS)
    },
    schedules: { a: { windows: [hour(1)], fired: [hour(1)] } },
    ends: ['complete', 'cancelled'],
  },
  {
    name: 'a window is skipped while the last run is live',
    options: { runTimeoutMs: 2 * HOUR_MS },
    behaviour: ({ scheduledTime }) => ({ takesMs: scheduledTime === hour(1) ? 1.2 * HOUR_MS : 0 }),
    async play({ ask, advance }) {
      await ask(({ schedules }) => schedules.upsert({ ...HOURLY, overlap: 'skip' }))
      await advance(3.5 * HOUR_MS)
    },
    schedules: { a: { windows: [1, 2, 3].map(hour), fired: [1, 3].map(hour) } },
  },
  {
    name: 'failed runs pause it',
    behaviour: () => ({ takesMs: 1_000, throws: true }),
    async play({ ask, advance }) {
      await ask(({ schedules }) => schedules.upsert({ ...HOURLY, pauseAfterFailures: 2 }))
      await advance(4.5 * HOUR_MS)
    },
    schedules: { a: { windows: [1, 2].map(hour), fired: [1, 2].map(hour) } },
    ends: ['errored'],
  },
  {
    name: 'a Workflow does not start at first',
    failures: 2,
    async play({ ask, advance }) {
      await ask(({ schedules }) => schedules.upsert({ ...HOURLY, workflow: 'flow' }))
      await advance(HOUR_MS + 2 * MINUTE_MS)
    },
    schedules: { a: { windows: [hour(1)], fired: [hour(1)] } },
  },
  {
    name: 'a Workflow is never started',
    failures: 1_000,
    async play({ ask, advance }) {
      await ask(({ schedules }) => schedules.upsert({ ...HOURLY, workflow: 'flow' }))
      await advance(HOUR_MS + 5 * MINUTE_MS)
    },
    schedules: { a: { windows: [hour(1)] } },
  },
  {
    name: 'runs are handed over',
    async play({ ask, advance }) {
      for (const id of ['a', 'b'])
        await ask(({ schedules }) => schedules.upsert({ ...HOURLY, id, workflow: 'send' }))
      await advance(2.2 * HOUR_MS)
    },
    schedules: Object.fromEntries(
      ['a', 'b'].map((id) => [id, { windows: [1, 2].map(hour), fired: [1, 2].map(hour) }]),
    ),
  },
]

describe('an engine in an object', () => {
  test.each(SCENARIOS)('may be cut off at any write and any await: $name', async (scenario) => {
    const histories = await everyCrash(async (crashing, crash) => {
      expect(await playInObject(scenario, crashing, crash)).toEqual([])
    })
    expect(histories).toBeGreaterThan(20)
  })

  test.each(SCENARIOS)('and again a few writes or awaits later: $name', async (scenario) => {
    await everyCrash(async (crashing, crash) => {
      const at = crash === undefined ? 0 : 'seam' in crash ? crash.seam : crash.write
      expect(await playInObject(scenario, crashing, crash, 1 + (at % MOST_LATER))).toEqual([])
    })
  })
})

/** Writes or awaits between two crashes, at most. */
const MOST_LATER = 5
