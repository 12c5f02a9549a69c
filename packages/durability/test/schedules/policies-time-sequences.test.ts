import { afterEach, describe, expect, test, vi } from 'vitest'
import { dispatch, type ScheduleDefinition } from '../../src/schedules/index.node.ts'
import { delayByHand } from './support/jitter-oracle.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS, START_AT, settled, setup, silenceReports } from './support/setup.ts'

afterEach(() => vi.restoreAllMocks())

interface Sequence {
  readonly name: string
  readonly definition: Partial<ScheduleDefinition>
  /** The clock of a tick that looks every so often, from one instant to another. A later stretch may begin earlier. */
  readonly ticks: readonly (readonly [from: string, to: string])[]
  readonly everyMs?: number
  /** Windows that are fired, in order. Written by hand. */
  readonly fired: readonly string[]
}

const SEQUENCES: readonly Sequence[] = [
  {
    name: 'every half hour of a zone runs in both passes when the clock goes back',
    definition: { cron: '*/30 * * * *', timezone: 'Europe/Berlin' },
    ticks: [['2026-10-24T23:45:00Z', '2026-10-25T01:35:00Z']],
    fired: ['2026-10-25T00:00:00Z', '2026-10-25T00:30:00Z', '2026-10-25T01:00:00Z', '2026-10-25T01:30:00Z'],
  },
  {
    name: 'every second hour of a zone leaves out the one that the clock skips, and nothing else',
    definition: { cron: '0 */2 * * *', timezone: 'Europe/Berlin' },
    ticks: [['2026-03-28T22:30:00Z', '2026-03-29T04:05:00Z']],
    fired: ['2026-03-28T23:00:00Z', '2026-03-29T02:00:00Z', '2026-03-29T04:00:00Z'],
  },
  {
    name: 'every second hour runs in both passes of the one that comes twice',
    definition: { cron: '0 */2 * * *', timezone: 'Europe/Berlin' },
    ticks: [['2026-10-24T21:30:00Z', '2026-10-25T03:05:00Z']],
    fired: ['2026-10-24T22:00:00Z', '2026-10-25T00:00:00Z', '2026-10-25T01:00:00Z', '2026-10-25T03:00:00Z'],
  },
  {
    name: 'every second hour in a zone without midnight does not lose the day (B005)',
    definition: { cron: '0 */2 * * *', timezone: 'Africa/Cairo' },
    ticks: [['2025-04-24T19:10:00Z', '2025-04-25T03:05:00Z']],
    fired: ['2025-04-24T20:00:00Z', '2025-04-24T23:00:00Z', '2025-04-25T01:00:00Z', '2025-04-25T03:00:00Z'],
  },
  {
    name: 'a weekly time in the hour that is skipped goes on afterwards (B007)',
    definition: { cron: '30 2 * * 0', timezone: 'Europe/Berlin' },
    ticks: [
      ['2025-03-29T12:00:00Z', '2025-03-30T01:10:00Z'],
      ['2025-04-06T00:00:00Z', '2025-04-06T00:40:00Z'],
    ],
    fired: ['2025-03-30T01:00:00Z', '2025-04-06T00:30:00Z'],
  },
  {
    name: 'an interval is not moved by the changes of any clock',
    definition: { every: '6h' },
    ticks: [['2026-03-28T23:00:00Z', '2026-03-29T18:05:00Z']],
    fired: ['2026-03-29T00:00:00Z', '2026-03-29T06:00:00Z', '2026-03-29T12:00:00Z', '2026-03-29T18:00:00Z'],
  },
  {
    name: 'downtime over both passes is one run, of the last of them',
    definition: { cron: '*/30 * * * *', timezone: 'America/New_York' },
    ticks: [
      ['2026-11-01T04:45:00Z', '2026-11-01T05:05:00Z'],
      ['2026-11-01T07:10:00Z', '2026-11-01T07:35:00Z'],
    ],
    fired: ['2026-11-01T05:00:00Z', '2026-11-01T07:00:00Z', '2026-11-01T07:30:00Z'],
  },
  {
    name: 'a machine whose clock goes back an hour does not run the hour again',
    definition: { every: '15m' },
    ticks: [
      ['2026-01-01T10:05:00Z', '2026-01-01T11:05:00Z'],
      ['2026-01-01T10:05:00Z', '2026-01-01T11:20:00Z'],
    ],
    fired: [
      '2026-01-01T10:15:00Z',
      '2026-01-01T10:30:00Z',
      '2026-01-01T10:45:00Z',
      '2026-01-01T11:00:00Z',
      '2026-01-01T11:15:00Z',
    ],
  },
  {
    name: 'a machine whose clock jumps ahead and back again runs what it fired once',
    definition: { cron: '0 * * * *', timezone: 'Europe/Berlin' },
    ticks: [
      ['2026-01-01T10:30:00Z', '2026-01-01T11:05:00Z'],
      ['2026-01-01T15:05:00Z', '2026-01-01T15:05:00Z'],
      ['2026-01-01T11:10:00Z', '2026-01-01T16:05:00Z'],
    ],
    fired: ['2026-01-01T11:00:00Z', '2026-01-01T15:00:00Z', '2026-01-01T16:00:00Z'],
  },
  {
    name: 'a window on 29 February that is a Wednesday is found 14 years ahead (B019)',
    definition: { cron: '0 0 29 2 +WED', timezone: 'UTC' },
    ticks: [
      ['2026-01-01T00:00:00Z', '2026-01-01T00:05:00Z'],
      ['2040-02-28T23:55:00Z', '2040-02-29T00:05:00Z'],
    ],
    fired: ['2040-02-29T00:00:00Z'],
  },
]

describe('in time', () => {
  test.each(SEQUENCES)('$name', async ({ definition, ticks, everyMs = 5 * MINUTE_MS, fired }) => {
    const { schedules, moveTo, handler } = setup({ startAt: Date.parse(ticks[0]?.[0] ?? '') })
    await schedules.create({ id: 'a', workflow: 'brief', ...definition })
    for (const [from, to] of ticks) {
      for (let now = Date.parse(from); now <= Date.parse(to); now += everyMs) {
        moveTo(now)
        await schedules.tick()
      }
    }
    await settled()
    const windows = handler.windows.map((window) => new Date(window ?? 0).toISOString().replace('.000', ''))
    expect(windows).toEqual(fired)
    expect(await schedules.get('a')).toMatchObject({ fires: fired.length, paused: false, finished: false })
  })
})

const hour = (n: number) => START_AT + n * HOUR_MS
const HOURLY = { id: 'a', workflow: 'brief', every: '1h' }

describe('catchup skip', () => {
  test('lets a window be late by graceMs and its jitter, and no more', async () => {
    const jitterMs = 10 * MINUTE_MS
    const graceMs = 20_000
    for (const [lateBy, isFired] of [
      [graceMs + jitterMs, true],
      [graceMs + jitterMs + 1, false],
    ] as const) {
      const { schedules, tickIn } = setup({ graceMs })
      await schedules.create({ ...HOURLY, catchup: 'skip', jitter: jitterMs })
      expect(await tickIn(HOUR_MS + lateBy)).toEqual(isFired ? [`sched:a:${hour(1)}`] : [])
    }
  })

  test('fires of several within graceMs the latest alone', async () => {
    const { schedules, tickIn, decisions } = setup({ graceMs: 60_000 })
    await schedules.create({ id: 'a', workflow: 'brief', every: '10s', catchup: 'skip' })
    expect(await tickIn(35_000)).toEqual([`sched:a:${START_AT + 30_000}`])
    expect(await decisions('a')).toEqual([
      ['fired', START_AT + 30_000],
      ['skipped_catchup', START_AT + 20_000],
    ])
  })

  test('says of what was dropped from when to when, and why', async () => {
    const { schedules, tickIn } = setup()
    await schedules.create({ ...HOURLY, catchup: 'skip' })
    await tickIn(4.5 * HOUR_MS)
    expect(await schedules.history('a')).toEqual([
      {
        decision: 'skipped_catchup',
        scheduledTime: hour(4),
        from: hour(1),
        to: hour(4),
        decidedAt: hour(4.5),
        reason: 'later than graceMs of 60000',
      },
    ])
  })
})

describe('jitter', () => {
  test('of a thousand schedules spreads them over its range, each where the hash says', async () => {
    const { schedules } = setup()
    const jitterMs = 2 * MINUTE_MS
    const delays: number[] = []
    for (let n = 0; n < 1_000; n += 1) {
      const id = `brief:${n}`
      const { nextFireAt } = await schedules.create({ ...HOURLY, id, jitter: '2m' })
      const delay = (nextFireAt ?? 0) - hour(1)
      expect(delay).toBe(delayByHand(id, hour(1), jitterMs))
      delays.push(delay)
    }
    expect(Math.min(...delays)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...delays)).toBeLessThan(jitterMs)
    for (let quarter = 0; quarter < 4; quarter += 1) {
      const inIt = delays.filter((delay) => Math.floor(delay / (jitterMs / 4)) === quarter)
      expect(inIt.length).toBeGreaterThan(200)
    }
  })

  test('of a window that a pause came before does not fire it after the resume', async () => {
    const { schedules, tickIn, moveTo } = setup()
    await schedules.create({ ...HOURLY, jitter: '30m' })
    const delay = delayByHand('a', hour(1), 30 * MINUTE_MS)
    moveTo(hour(1) + delay - 1)
    await schedules.pause('a')
    await schedules.resume('a')
    expect(await tickIn(31 * MINUTE_MS)).toEqual([])
    expect((await schedules.get('a'))?.nextFireAt).toBe(hour(2) + delayByHand('a', hour(2), 30 * MINUTE_MS))
  })

  test('that is overtaken since a later one is effective: the overtaken window is missed', async () => {
    const { schedules, store, moveTo, tickIn, decisions } = setup()
    await schedules.create({ ...HOURLY, jitter: '59m' })
    const row = await store.getSchedule('a')
    if (row === null) throw new Error('no row')
    // As a change of the clock can make it: longer than the gap.
    const jitterMs = 10 * HOUR_MS
    await store.updateSchedule('a', { definition: { ...row.definition, jitterMs } })
    moveTo(START_AT + 2 * DAY_MS)
    await schedules.tick()
    const last = (await decisions('a'))[0]?.[1] ?? 0
    const later = Array.from({ length: 48 }, (_, n) => hour(n + 1)).filter((window) => window > last)
    expect(later.every((window) => window + delayByHand('a', window, jitterMs) > START_AT + 2 * DAY_MS)).toBe(
      true,
    )
    expect(last + delayByHand('a', last, jitterMs)).toBeLessThanOrEqual(START_AT + 2 * DAY_MS)
    expect(await tickIn(0)).toEqual([])
  })
})

test('a manual run and the length of runs do not move an interval (B057)', async () => {
  const { schedules, handler, moveTo, tickIn } = setup()
  handler.instant = false
  await schedules.create({ id: 'a', workflow: 'brief', every: '1d' })
  moveTo(START_AT + 11.5 * HOUR_MS)
  await schedules.trigger('a')
  expect(await schedules.get('a')).toMatchObject({ nextFireAt: START_AT + DAY_MS, fires: 0 })
  await schedules.create({ id: 'm', workflow: 'brief', every: '60s' })
  for (let n = 0; n < 100; n += 1) {
    await tickIn(57_000)
    for (const { runId } of handler.runs) handler.end(runId)
    await tickIn(3_000)
  }
  const windows = handler.runs
    .filter(({ scheduleId }) => scheduleId === 'm')
    .map((run) => run.scheduledTime ?? 0)
  const gaps = windows.slice(1).map((window, index) => window - (windows[index] ?? 0))
  expect(new Set(gaps)).toEqual(new Set([60_000]))
  expect(windows).toHaveLength(100)
})

test('an interval longer than the time between restarts fires, for the same upsert moves nothing (B059)', async () => {
  const { engineWith, moveTo, handler } = setup()
  const every6 = { id: 'a', workflow: 'brief', every: '6h' }
  for (let at = START_AT; at <= START_AT + DAY_MS; at += 2 * HOUR_MS) {
    moveTo(at)
    const { schedules } = engineWith()
    await schedules.upsert(every6)
    await schedules.tick()
  }
  await settled()
  expect(handler.windows).toEqual([6, 12, 18, 24].map(hour))
})

test('a start that is tried again is not tried before its time when the clock goes back, and fires once', async () => {
  silenceReports()
  const sent: string[] = []
  let isDown = true
  const flaky = dispatch(({ runId }) => {
    if (isDown) throw new Error('down')
    sent.push(runId)
  })
  const { schedules, tickIn } = setup({ workflows: { flaky } })
  await schedules.create({ ...HOURLY, workflow: 'flaky' })
  await tickIn(HOUR_MS)
  isDown = false
  expect(await tickIn(-30 * MINUTE_MS)).toEqual([])
  expect(await tickIn(30 * MINUTE_MS + 1_000)).toEqual([`sched:a:${hour(1)}`])
  expect(sent).toEqual([`sched:a:${hour(1)}`])
})
