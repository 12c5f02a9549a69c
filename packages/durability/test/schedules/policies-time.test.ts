import { afterEach, describe, expect, test, vi } from 'vitest'
import type { ScheduleDefinition } from '../../src/schedules/index.node.ts'
import { delayByHand } from './support/jitter-oracle.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, settled, setup } from './support/setup.ts'

afterEach(() => vi.restoreAllMocks())

interface Cadence {
  readonly name: string
  readonly definition: Pick<ScheduleDefinition, 'cron' | 'every' | 'timezone'>
  /** Three windows in a row, the change of the clock between the first and the last. Written by hand. */
  readonly windows: readonly [string, string, string]
}

/** A fixed time that the change leaves out runs once, at its end; one that comes twice runs the first time only. */
const CADENCES: readonly Cadence[] = [
  {
    name: '2:30 in Berlin, where the clock goes from 2:00 to 3:00',
    definition: { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
    windows: ['2026-03-28T01:30:00Z', '2026-03-29T01:00:00Z', '2026-03-30T00:30:00Z'],
  },
  {
    name: '2:30 in Berlin, where the clock goes from 3:00 back to 2:00',
    definition: { cron: '30 2 * * *', timezone: 'Europe/Berlin' },
    windows: ['2026-10-24T00:30:00Z', '2026-10-25T00:30:00Z', '2026-10-26T01:30:00Z'],
  },
  {
    name: '9:00 in Berlin, over a weekend on which the clock goes forward',
    definition: { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin' },
    windows: ['2026-03-26T08:00:00Z', '2026-03-27T08:00:00Z', '2026-03-30T07:00:00Z'],
  },
  {
    name: '2:30 in New York, where the clock goes from 2:00 to 3:00',
    definition: { cron: '30 2 * * *', timezone: 'America/New_York' },
    windows: ['2026-03-07T07:30:00Z', '2026-03-08T07:00:00Z', '2026-03-09T06:30:00Z'],
  },
  {
    name: '1:30 in New York, where the clock goes from 2:00 back to 1:00',
    definition: { cron: '30 1 * * *', timezone: 'America/New_York' },
    windows: ['2026-10-31T05:30:00Z', '2026-11-01T05:30:00Z', '2026-11-02T06:30:00Z'],
  },
  {
    name: '2:15 on Lord Howe, where the clock goes from 2:00 to 2:30',
    definition: { cron: '15 2 * * *', timezone: 'Australia/Lord_Howe' },
    windows: ['2026-10-02T15:45:00Z', '2026-10-03T15:30:00Z', '2026-10-04T15:15:00Z'],
  },
  {
    name: '1:45 on Lord Howe, where the clock goes from 2:00 back to 1:30',
    definition: { cron: '45 1 * * *', timezone: 'Australia/Lord_Howe' },
    windows: ['2026-04-03T14:45:00Z', '2026-04-04T14:45:00Z', '2026-04-05T15:15:00Z'],
  },
  {
    name: '2:30 in Kolkata, whose clock never changes',
    definition: { cron: '30 2 * * *', timezone: 'Asia/Kolkata' },
    windows: ['2026-03-27T21:00:00Z', '2026-03-28T21:00:00Z', '2026-03-29T21:00:00Z'],
  },
  {
    name: 'every day',
    definition: { every: '1d' },
    windows: ['2026-03-28T00:00:00Z', '2026-03-29T00:00:00Z', '2026-03-30T00:00:00Z'],
  },
  {
    name: 'every 90 minutes',
    definition: { every: '90m' },
    windows: ['2026-03-29T00:00:00Z', '2026-03-29T01:30:00Z', '2026-03-29T03:00:00Z'],
  },
]

const GRACE_MS = 20_000

/** A schedule that is made a minute before its first window, and what a test does to it. */
function made({ definition, windows }: Cadence, policies: Partial<ScheduleDefinition> = {}) {
  const [first, second, third] = windows.map((text) => Date.parse(text)) as [number, number, number]
  const at = setup({ startAt: first - MINUTE_MS, graceMs: GRACE_MS })
  const { schedules, handler, moveTo, decisions } = at
  return {
    ...at,
    windows: [first, second, third] as const,
    create: () => schedules.create({ id: 'a', workflow: 'brief', ...definition, ...policies }),
    /** The clock stands there, and a tick looks. */
    async tickAt(now: number) {
      moveTo(now)
      await schedules.tick()
      await settled()
    },
    /** The clock stands there, and a verb is called. */
    async verbAt(now: number, verb: 'pause' | 'resume') {
      moveTo(now)
      await schedules[verb]('a')
    },
    /** Which of the three were fired, in order; anything else fired is an error of the test's table. */
    fired: () => handler.windows.map((window) => [first, second, third].indexOf(window ?? 0) + 1),
    /** What the history says of the three. */
    told: async () =>
      (await decisions('a'))
        .filter(([, window]) => window !== null)
        .map(([decision, window]) => `${decision} ${[first, second, third].indexOf(window ?? 0) + 1}`)
        .reverse(),
  }
}

describe.each(CADENCES)('$name', (cadence) => {
  test('fires each window once, while a tick looks every ten seconds', async () => {
    const { windows, create, tickAt, fired } = made(cadence)
    await create()
    const [first, , third] = windows
    const isLong = third - first > 5 * HOUR_MS
    for (const window of windows) {
      const from = isLong ? window - 2 * MINUTE_MS : window - 10_000
      for (let now = from; now <= window + 2 * MINUTE_MS; now += 10_000) await tickAt(now)
    }
    expect(fired()).toEqual([1, 2, 3])
  })

  test('after downtime the latest missed one runs once', async () => {
    const { windows, create, tickAt, fired, told } = made(cadence)
    await create()
    await tickAt(windows[2] - 1)
    await tickAt(windows[2])
    expect(fired()).toEqual([2, 3])
    expect(await told()).toEqual(['skipped_catchup 1', 'fired 2', 'fired 3'])
  })

  test('after downtime none runs with catchup skip, but what is no later than graceMs', async () => {
    const { windows, create, tickAt, fired, told } = made(cadence, { catchup: 'skip' })
    await create()
    await tickAt(windows[0] + GRACE_MS)
    await tickAt(windows[1] + GRACE_MS + 1)
    await tickAt(windows[2])
    expect(fired()).toEqual([1, 3])
    expect(await told()).toEqual(['fired 1', 'skipped_catchup 2', 'fired 3'])
  })

  test('what was paused over is not caught up', async () => {
    const { windows, create, tickAt, verbAt, fired, told } = made(cadence)
    await create()
    await tickAt(windows[0])
    await verbAt(windows[0] + 1, 'pause')
    await tickAt(windows[1] + 1)
    await verbAt(windows[1] + 2, 'resume')
    await tickAt(windows[2] - 1)
    expect(fired()).toEqual([1])
    await tickAt(windows[2])
    expect(fired()).toEqual([1, 3])
    expect(await told()).toEqual(['fired 1', 'fired 3'])
  })

  test('resumed at the very instant of a window goes on after it; a moment before, with it', async () => {
    for (const [early, expected] of [
      [0, [3]],
      [1, [2, 3]],
    ] as const) {
      const { windows, create, tickAt, verbAt, fired } = made(cadence, { paused: true })
      await create()
      await verbAt(windows[1] - early, 'resume')
      await tickAt(windows[1])
      await tickAt(windows[2])
      expect(fired()).toEqual(expected)
    }
  })

  test('fires nothing twice when the clock goes back over a window', async () => {
    const { windows, create, tickAt, fired, told } = made(cadence)
    await create()
    for (const window of windows.slice(0, 2)) await tickAt(window)
    await tickAt(windows[0] - MINUTE_MS)
    for (const window of windows) await tickAt(window)
    expect(fired()).toEqual([1, 2, 3])
    expect(await told()).toEqual(['fired 1', 'fired 2', 'fired 3'])
  })

  test('fires no window twice that was fired before the clock went back and it was paused and resumed', async () => {
    const { windows, create, tickAt, verbAt, fired, schedules } = made(cadence)
    await create()
    await tickAt(windows[0])
    await tickAt(windows[1])
    await verbAt(windows[0] - MINUTE_MS, 'pause')
    await verbAt(windows[0] - MINUTE_MS, 'resume')
    expect((await schedules.get('a'))?.nextFireAt).toBe(windows[2])
    for (const window of windows) await tickAt(window)
    expect(fired()).toEqual([1, 2, 3])
  })

  test('fires the latest window once when the clock jumps ahead', async () => {
    const { windows, create, tickAt, fired, told } = made(cadence)
    await create()
    await tickAt(windows[0])
    await tickAt(windows[2] + 1)
    expect(fired()).toEqual([1, 3])
    expect(await told()).toEqual(['fired 1', 'skipped_catchup 2', 'fired 3'])
  })

  test('with jitter waits for the documented delay, which nothing moves', async () => {
    const jitterMs = 10 * MINUTE_MS
    const { windows, create, tickAt, fired, schedules, moveTo } = made(cadence, { jitter: '10m' })
    const delays = windows.map((window) => delayByHand('a', window, jitterMs))
    expect((await create()).nextFireAt).toBe(windows[0] + (delays[0] ?? 0))
    for (const [index, window] of windows.entries()) {
      const dueAt = window + (delays[index] ?? 0)
      await tickAt(dueAt - 1)
      expect(fired()).toHaveLength(index)
      moveTo(window - 5 * MINUTE_MS)
      await schedules.upsert({
        id: 'a',
        workflow: 'brief',
        ...cadence.definition,
        jitter: jitterMs,
        input: index,
      })
      await tickAt(dueAt)
    }
    expect(fired()).toEqual([1, 2, 3])
  })

  test('with jitter a window is missed when a later one is effective, not before', async () => {
    const { windows, create, tickAt, fired, told } = made(cadence, { jitter: '10m' })
    const delay = delayByHand('a', windows[1], 10 * MINUTE_MS)
    await create()
    await tickAt(windows[1] + delay - 1)
    expect(fired()).toEqual([1])
    await tickAt(windows[1] + delay)
    await tickAt(windows[2] - 1)
    expect(fired()).toEqual([1, 2])
    expect(await told()).toEqual(['fired 1', 'fired 2'])
  })

  test('with overlap skip is left out while the last run is live, however the clock goes', async () => {
    const { windows, create, tickAt, fired, told, handler } = made(cadence, { overlap: 'skip' })
    handler.instant = false
    await create()
    await tickAt(windows[0])
    await tickAt(windows[1])
    await tickAt(windows[0] - 1)
    handler.end(`sched:a:${windows[0]}`)
    await settled()
    await tickAt(windows[1])
    await tickAt(windows[2])
    expect(fired()).toEqual([1, 3])
    expect(await told()).toEqual(['fired 1', 'skipped_overlap 2', 'fired 3'])
  })

  test('with overlap allow runs beside the last one', async () => {
    const { windows, create, tickAt, fired, handler } = made(cadence)
    handler.instant = false
    await create()
    for (const window of windows) await tickAt(window)
    expect(fired()).toEqual([1, 2, 3])
  })

  test('keeps to startAt, inclusive, and endAt, exclusive', async () => {
    const [, second, third] = cadence.windows.map((text) => Date.parse(text)) as [number, number, number]
    const { windows, create, tickAt, fired, schedules } = made(cadence, { startAt: second, endAt: third })
    expect(await create()).toMatchObject({ nextFireAt: second, finished: false })
    for (const window of windows) await tickAt(window)
    expect(fired()).toEqual([2])
    expect(await schedules.get('a')).toMatchObject({ finished: true, nextFireAt: null })
  })

  test('does not catch up beyond its bounds', async () => {
    const [, second] = cadence.windows.map((text) => Date.parse(text)) as [number, number, number]
    const { windows, create, tickAt, fired, told } = made(cadence, { endAt: second })
    await create()
    await tickAt(windows[2])
    expect(fired()).toEqual([1])
    expect(await told()).toEqual(['fired 1'])
  })

  test('fires as often as maxRuns says, missed windows and the clock going back aside', async () => {
    const { windows, create, tickAt, fired, schedules } = made(cadence, { maxRuns: 2 })
    await create()
    await tickAt(windows[1])
    await tickAt(windows[0])
    expect(await schedules.get('a')).toMatchObject({ finished: false, fires: 1 })
    await tickAt(windows[2])
    await tickAt(windows[2] + DAY_MS)
    expect(fired()).toEqual([2, 3])
    expect(await schedules.get('a')).toMatchObject({ finished: true, nextFireAt: null, fires: 2 })
  })

  test('pauses after failures in a row, also over downtime', async () => {
    const { windows, create, tickAt, verbAt, fired, handler, schedules } = made(cadence, {
      pauseAfterFailures: 2,
    })
    handler.instant = false
    const failAt = async (window: number) => {
      await tickAt(window)
      handler.end(`sched:a:${window}`, new Error('no mail'))
      await settled()
    }
    await create()
    await failAt(windows[0])
    await failAt(windows[1])
    expect(await schedules.get('a')).toMatchObject({
      paused: true,
      lastError: expect.stringMatching(/2 failed/),
    })
    await tickAt(windows[2] - 2)
    await verbAt(windows[2] - 1, 'resume')
    await failAt(windows[2])
    expect(await schedules.get('a')).toMatchObject({ paused: false })
    expect(fired()).toEqual([1, 2, 3])
  })

  test('over its concurrency limit is a failed start, and goes on when there is room', async () => {
    const concurrency = { key: 'k', limit: 1 }
    const { windows, create, tickAt, fired, told, handler, engine } = made(cadence, { concurrency })
    handler.instant = false
    await create()
    await engine.start('brief', null, 'other', { concurrency })
    await tickAt(windows[0])
    await tickAt(windows[1])
    handler.end('other')
    await settled()
    await tickAt(windows[2])
    expect(fired().filter((window) => window > 0)).toEqual([3])
    expect(await told()).toEqual(['start_failed 1', 'start_failed 2', 'fired 3'])
  })
})
