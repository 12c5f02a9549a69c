import { beforeEach, describe, expect, test, vi } from 'vitest'
import { MINUTE_MS, START_AT } from './expressions.ts'
import { Model, type ModelOptions } from './model.ts'

const HOUR_MS = 60 * MINUTE_MS

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  return () => vi.restoreAllMocks()
})

/** A history whose exact times are the fact; the invariants hold in it as well. */
async function inHistory(options: ModelOptions, script: (model: Model) => Promise<void>): Promise<void> {
  const model = new Model(options)
  await script(model)
  await model.end()
  model.verify('history')
  model.close()
}

/** Seconds from the start. */
const seconds = (instant: number | null) => (instant === null ? null : (instant - START_AT) / 1_000)
const startsOf = (model: Model) =>
  model.outside.invocations.map(({ scheduledTime, startedAt }) => [
    seconds(scheduledTime),
    seconds(startedAt),
  ])
const alarmOf = (model: Model) => seconds(model.object.alarmAt)

describe('times', () => {
  test('a tick within a held pass comes at its exact time, and the alarm stays on the tick after it', () =>
    inHistory({ run: () => ({ takesMs: 50_000 }) }, async (model) => {
      await model.set('every:20000', 1)
      await model.advance(70_000)
      expect(startsOf(model)).toEqual([
        [20, 20],
        [40, 40],
        [60, 60],
      ])
      expect(alarmOf(model)).toBe(80)
    }))

  test('a waiting run starts when a slot is free, not at the next tick', () =>
    inHistory(
      {
        schedule: { maxConcurrentRuns: 1 },
        run: ({ scheduledTime }) => ({ takesMs: scheduledTime === START_AT + 20_000 ? 25_000 : 1_000 }),
      },
      async (model) => {
        await model.set('every:20000', 1)
        await model.advance(70_000)
        expect(startsOf(model)).toEqual([
          [20, 20],
          [40, 45],
          [60, 60],
        ])
      },
    ))

  test('a tick is not put off by runs that end less than a millisecond apart', () =>
    inHistory(
      {
        schedule: { maxConcurrentRuns: 1, runTimeoutMs: HOUR_MS },
        run: ({ scheduledTime }) => ({ takesMs: scheduledTime === START_AT + 1_000 ? 300_000 : 0.4 }),
        receive: false,
      },
      async (model) => {
        await model.set('every:1000', 1)
        // The handler of the first run ends, and the 299 that waited for it take 120 ms from the tick at 301 s on.
        await model.advance(301_000)
        expect(model.object.instance.schedule.status().waiting).toBeGreaterThan(200)
        await model.advance(2)
        expect(seconds(model.object.instance.schedule.get()?.nextAt ?? null)).toBe(302)
      },
    ))

  test('100 ticks of a run that takes three seconds drift by nothing', () =>
    inHistory({ run: () => ({ takesMs: 3_000 }) }, async (model) => {
      await model.set('every:60000', 1)
      await model.advance(100 * MINUTE_MS)
      expect(startsOf(model)).toEqual(
        Array.from({ length: 100 }, (_, tick) => [60 * (tick + 1), 60 * (tick + 1)]),
      )
    }))

  test('an offset longer than the interval loses and reorders nothing', () =>
    inHistory({}, async (model) => {
      await model.set('every:20000', 1, 50_000)
      await model.advance(135_000)
      expect(startsOf(model)).toEqual([
        [20, 70],
        [40, 90],
        [60, 110],
        [80, 130],
      ])
    }))

  test('43,200 missed ticks are one run, and few questions', () => {
    const questions: number[] = []
    const nextOccurrence = (_expression: string, after: number) => {
      questions.push(after)
      return (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS
    }
    return inHistory({ schedule: { nextOccurrence } }, async (model) => {
      await model.set('every:60000', 1)
      model.holdAlarms(30 * 24 * HOUR_MS)
      await model.advance(30 * 24 * HOUR_MS + 30_000)
      expect(startsOf(model)).toEqual([[60, 30 * 24 * 3_600]])
      expect(model.object.instance.schedule.get()?.nextAt).toBe(START_AT + 30 * 24 * HOUR_MS + MINUTE_MS)
      expect(questions.length).toBeLessThanOrEqual(102)
    })
  })

  test('neither an early alarm nor a late one moves the cursor from the nominal times', () =>
    inHistory({}, async (model) => {
      await model.set('every:60000', 1)
      await model.advance(31_000)
      await model.deliverAlarm({ early: true })
      await model.advance(28_990)
      await model.deliverAlarm({ early: true })
      await model.advance(1_000)
      model.holdAlarms(70_000)
      await model.advance(2 * MINUTE_MS)
      expect(startsOf(model)).toEqual([
        [60, 60],
        [120, 130.99],
        [180, 180],
      ])
    }))

  test('after the clock went back an hour nothing runs again, and the next nominal time is waited for', () =>
    inHistory({}, async (model) => {
      await model.set('every:60000', 1)
      await model.advance(2.5 * MINUTE_MS)
      await model.jump(-HOUR_MS, true)
      await model.advance(10 * MINUTE_MS)
      await model.set('every:30000', 2)
      expect(seconds(model.object.instance.schedule.get()?.nextAt ?? null)).toBe(150)
      await model.advance(HOUR_MS)
      expect(startsOf(model)[2]).toEqual([150, 150])
    }))
})

describe('joining', () => {
  test('a call that finds due work arms the alarm that joins it one millisecond later', () =>
    inHistory({ run: () => ({ takesMs: 30_000 }) }, async (model) => {
      await model.set('every:3600000', 1)
      await model.advance(MINUTE_MS)
      await model.overwriteAlarm(null)
      await model.advance(HOUR_MS)
      await model.set('every:3600000', 1)
      expect(startsOf(model)).toEqual([[3_600, 3_660]])
      expect(alarmOf(model)).toBe(3_660.001)
      await model.advance(1)
      expect(model.object.inAlarm).toBe(true)
    }))

  test('an alarm in the past is lost outside a pass: a call arms it anew', () =>
    inHistory({}, async (model) => {
      await model.set('every:3600000', 1)
      model.holdAlarms(HOUR_MS + 5 * MINUTE_MS)
      await model.advance(HOUR_MS + MINUTE_MS)
      await model.set('every:3600000', 1)
      expect(alarmOf(model)).toBe(3_660.001)
    }))

  test('alarm() called within a pass starts what is due, waits for the same hold, and starts nothing twice', () =>
    inHistory({ hasAlarms: true, run: () => ({ takesMs: 30_000 }) }, async (model) => {
      await model.set('every:60000', 1)
      await model.ping(START_AT + 70_000)
      await model.advance(75_000)
      expect(model.outside.pings).toBe(0)
      let isOver = false
      await model.call('alarm()', (subject) => void subject.alarm().then(() => (isOver = true)))
      expect(model.outside.pings).toBe(1)
      expect(isOver).toBe(false)
      await model.advance(15_000)
      expect(isOver).toBe(true)
      expect(model.outside.pings).toBe(1)
      expect(startsOf(model)).toEqual([[60, 60]])
    }))

  test.each([
    [false, 90],
    [true, 70],
  ])('with live timers %s an alarm due during a hold runs at %d s', (liveTimers, runsAt) =>
    inHistory(
      { hasAlarms: true, scheduler: { liveTimers }, run: () => ({ takesMs: 30_000 }) },
      async (model) => {
        await model.set('every:60000', 1)
        await model.ping(START_AT + 70_000)
        await model.advance(runsAt * 1_000 - 1)
        expect(model.outside.pings).toBe(0)
        await model.advance(3)
        expect(model.outside.pings).toBe(1)
      },
    ),
  )

  test('a hand-off arms the alarm within alarmMinDelayMs, and the pass that joins holds again', () =>
    inHistory(
      { run: () => ({ takesMs: 20 * MINUTE_MS }), schedule: { runTimeoutMs: HOUR_MS } },
      async (model) => {
        await model.set('every:3600000', 1)
        await model.advance(HOUR_MS + 14 * MINUTE_MS)
        expect(model.object.inAlarm).toBe(false)
        expect(alarmOf(model)).toBe(3_600 + 840 + 15)
        await model.advance(15_000)
        expect(model.object.inAlarm).toBe(true)
        expect(alarmOf(model)).toBe(7_200)
        await model.advance(6 * MINUTE_MS)
        expect(model.object.inAlarm).toBe(false)
        expect(model.object.world.clock.pendingTimers).toBe(0)
      },
    ))

  test('work that ends between two passes leaves the alarm on the next tick, and no timer', () =>
    inHistory({ scheduler: { alarmHandoffMs: 20_000 }, run: () => ({ takesMs: 25_000 }) }, async (model) => {
      await model.set('every:3600000', 1)
      await model.advance(HOUR_MS + 26_000)
      expect(alarmOf(model)).toBe(7_200)
      expect(model.object.world.clock.pendingTimers).toBe(0)
    }))
})

describe('interruption', () => {
  test.each([
    [undefined, 7_200],
    [300_000, 3_900],
  ])('with interruptedWithinMs %s a run cut off by a crash is reported at %d s', (withinMs, reportedAt) =>
    inHistory(
      {
        schedule: withinMs === undefined ? {} : { interruptedWithinMs: withinMs },
        run: ({ scheduledTime }) => ({ takesMs: scheduledTime === START_AT + HOUR_MS ? 10 * MINUTE_MS : 0 }),
      },
      async (model) => {
        await model.set('every:3600000', 1)
        await model.advance(HOUR_MS + MINUTE_MS)
        await model.crash()
        await model.advance(HOUR_MS)
        const [report] = model.outside.deliveries
        expect(report?.outcome).toContain('ScheduledRunInterruptedError')
        expect(seconds(report?.at ?? null)).toBe(reportedAt)
      },
    ),
  )

  test('six deploys cut off six runs, each reported once and none run again, and lose no tick', () =>
    inHistory({ run: () => ({ takesMs: 50_000 }) }, async (model) => {
      await model.set('every:60000', 1)
      for (let deploy = 0; deploy < 6; deploy += 1) {
        await model.advance(MINUTE_MS)
        await model.crash()
      }
      await model.advance(2 * MINUTE_MS)
      const interrupted = model.outside.deliveries.filter(({ outcome }) => outcome.includes('Interrupted'))
      expect(interrupted.length).toBe(6)
      expect(startsOf(model).length).toBe(8)
    }))

  test('200 cold starts that set the same version leave one row, one version and one run', () =>
    inHistory({}, async (model) => {
      await model.set('every:60000', 1)
      for (let start = 0; start < 200; start += 1) {
        await model.crash()
        expect(await model.set('every:60000', 1)).toBe(false)
      }
      await model.advance(MINUTE_MS)
      expect(startsOf(model)).toEqual([[60, 60]])
    }))

  test('a killed object whose alarm was lost is repaired by a resend: one run for the earliest missed time', () =>
    inHistory({}, async (model) => {
      await model.set('every:30000', 1)
      await model.advance(65_000)
      await model.crash()
      await model.overwriteAlarm(null)
      await model.advance(235_000)
      expect(await model.set('every:30000', 1)).toBe(false)
      expect(startsOf(model)[2]).toEqual([90, 300])
      expect(seconds(model.object.instance.schedule.get()?.nextAt ?? null)).toBe(330)
    }))
})

describe('cost', () => {
  test.each([
    [true, 4],
    [false, 3],
  ])('with onOutcome %s an ordinary run writes %d rows and one alarm', (hasReceiver, rows) =>
    inHistory(
      { run: () => ({ takesMs: 1_000 }), ...(hasReceiver ? {} : { receive: false }) },
      async (model) => {
        await model.set('every:60000', 1)
        await model.advance(1.5 * MINUTE_MS)
        model.object.resetCosts()
        await model.advance(10 * MINUTE_MS)
        const { rowsWritten, alarmsSet, alarmsDeleted } = model.object.costs
        expect({ rowsWritten, alarmsSet, alarmsDeleted }).toEqual({
          rowsWritten: 10 * rows,
          alarmsSet: 10,
          alarmsDeleted: 0,
        })
      },
    ),
  )

  test('a run that waited writes one row more', () =>
    inHistory({ schedule: { maxConcurrentRuns: 1 }, run: () => ({ takesMs: 65_000 }) }, async (model) => {
      await model.set('every:60000', 1)
      await model.advance(MINUTE_MS + 1_000)
      model.object.resetCosts()
      // Until two more have ticked, the first has ended and the second has started.
      await model.advance(2 * MINUTE_MS)
      // Two ticks (4), the outcome and the delete of the first (2), the start of the second (1).
      expect(model.object.costs.rowsWritten).toBe(7)
    }))

  test('a resend writes nothing', () =>
    inHistory({}, async (model) => {
      await model.set('every:60000', 1)
      model.object.resetCosts()
      await model.set('every:60000', 1)
      const { rowsWritten, alarmsSet } = model.object.costs
      expect({ rowsWritten, alarmsSet }).toEqual({ rowsWritten: 0, alarmsSet: 0 })
    }))

  test('reading status() and ticking cost the same whether 3 or 200 runs wait', async () => {
    const read = async (waiting: number) => {
      let rowsRead = 0
      await inHistory(
        {
          schedule: { maxConcurrentRuns: 1, runTimeoutMs: 24 * HOUR_MS },
          run: ({ scheduledTime }) => ({
            takesMs: scheduledTime === START_AT + 1_000 ? waiting * 1_000 + 2_500 : 0,
          }),
        },
        async (model) => {
          await model.set('every:1000', 1)
          await model.advance(waiting * 1_000 + 1_500)
          expect(model.object.instance.schedule.status().waiting).toBe(waiting)
          model.object.resetCosts()
          await model.advance(1_000)
          model.object.instance.schedule.status()
          rowsRead = model.object.costs.rowsRead
        },
      )
      return rowsRead
    }
    expect(await read(200)).toBe(await read(3))
  })
})
