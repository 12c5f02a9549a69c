import { describe, expect, test } from 'vitest'
import type { Catchup, ScheduleDefinition } from '../../src/schedules/index.node.ts'
import { DAY_MS, MINUTE_MS, setup } from './support/setup.ts'

const YEAR_MS = 365 * DAY_MS
/** ms of CPU that a catch-up may use, and how many tries it has: other work on the machine is not its own. */
const MOST_CPU_MS = 50
const TRIES = 5

interface Timing {
  readonly what: string
  readonly timing: Pick<ScheduleDefinition, 'cron' | 'every' | 'timezone' | 'jitter'>
}

const TIMINGS: readonly Timing[] = [
  { what: 'every 1000', timing: { every: 1_000 } },
  { what: '* * * * * *', timing: { cron: '* * * * * *' } },
  { what: '* * * * * * in New York', timing: { cron: '* * * * * *', timezone: 'America/New_York' } },
  { what: '* * * * * * on Lord Howe', timing: { cron: '* * * * * *', timezone: 'Australia/Lord_Howe' } },
  { what: 'every 1000, with jitter', timing: { every: 1_000, jitter: 900 } },
  {
    what: '* * * * * * in New York, with jitter',
    timing: { cron: '* * * * * *', timezone: 'America/New_York', jitter: 900 },
  },
]

/** A schedule that last fired at the start of the year, and the first tick after it. */
async function missedYear(timing: Timing['timing'], catchup: Catchup, afterMs = YEAR_MS) {
  const made = setup()
  const { schedules, tickIn, now } = made
  await schedules.create({ id: 'a', workflow: 'brief', catchup, ...timing })
  await tickIn(3_000)
  const before = await schedules.get('a')
  if (before === null) throw new Error('It is gone')
  const firstMissed = (before.lastFireAt ?? 0) + 1_000
  const cpu = process.cpuUsage()
  const runIds = await tickIn(afterMs)
  const { user, system } = process.cpuUsage(cpu)
  return { ...made, runIds, before, firstMissed, now: now(), cpuMs: (user + system) / 1_000 }
}

describe.each(TIMINGS)('missed for a year at one-second cadence: $what', ({ timing }) => {
  test('makes one run, of the latest window, and one decision for the stretch before it', async () => {
    const { schedules, handler, runIds, before, firstMissed, now } = await missedYear(timing, 'latest')
    const [runId] = runIds
    const latest = Number(runId?.split(':').at(-1))
    expect(runIds).toEqual([`sched:a:${latest}`])
    // Its effective time has passed, that of the one after it has not.
    expect(now - latest).toBeLessThan(2_000)
    expect(now - latest).toBeGreaterThanOrEqual(0)
    expect(handler.windows.at(-1)).toBe(latest)
    const decisions = (await schedules.history('a')).filter(({ decision }) => decision !== 'fired')
    const missed = decisions.filter(({ decidedAt }) => decidedAt === now)
    expect(missed).toEqual([
      expect.objectContaining({
        decision: 'skipped_catchup',
        from: firstMissed,
        to: latest - 1_000,
        scheduledTime: latest - 1_000,
      }),
    ])
    expect(await schedules.get('a')).toMatchObject({ fires: before.fires + 1, lastFireAt: latest })
  })

  test("with catchup: 'skip' and graceMs behind it makes none, and one decision for the stretch", async () => {
    // A year and a day without a window in its last hours: everything missed is older than graceMs.
    const endAt = setup().now() + YEAR_MS
    const { schedules, runIds, firstMissed, before } = await missedYear(
      { ...timing, ...{ endAt } },
      'skip',
      YEAR_MS + 10 * MINUTE_MS,
    )
    expect(runIds).toEqual([])
    const [missed, ...others] = (await schedules.history('a')).filter(
      ({ decision, to }) => decision === 'skipped_catchup' && (to ?? 0) > firstMissed + DAY_MS,
    )
    expect(others).toEqual([])
    expect(missed).toMatchObject({ from: firstMissed, to: endAt - 1_000 })
    expect(await schedules.get('a')).toMatchObject({ fires: before.fires, nextFireAt: null, finished: true })
  })

  test("with catchup: 'skip' runs the latest window, which is not late", async () => {
    const { runIds, schedules, before, now } = await missedYear(timing, 'skip')
    expect(runIds).toHaveLength(1)
    const history = await schedules.history('a')
    expect(
      history.filter(({ decision, decidedAt }) => decision !== 'fired' && decidedAt === now),
    ).toHaveLength(1)
    expect(await schedules.get('a')).toMatchObject({ fires: before.fires + 1 })
  })

  // Nobody walks from window to window: ten years take no longer.
  test.each<Catchup>(['latest', 'skip'])(
    `uses at most ${MOST_CPU_MS} ms of CPU, catchup: '%s'`,
    async (catchup) => {
      let best = Number.POSITIVE_INFINITY
      for (let attempt = 0; attempt < TRIES && best > MOST_CPU_MS; attempt += 1) {
        best = Math.min(best, (await missedYear(timing, catchup, 10 * YEAR_MS)).cpuMs)
      }
      expect(best).toBeLessThanOrEqual(MOST_CPU_MS)
    },
  )
})
