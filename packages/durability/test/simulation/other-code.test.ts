import { beforeEach, describe, expect, test, vi } from 'vitest'
import { DurabilitySchedule } from '../../src/experimental/index.ts'
import { DurabilityScheduler, type SchedulerHelper } from '../../src/index.ts'
import { simulateObject } from '../../src/testing/index.ts'
import { MINUTE_MS, START_AT } from './expressions.ts'
import { Model } from './model.ts'

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  return () => vi.restoreAllMocks()
})

const seconds = (instant: number | null | undefined) =>
  instant == null ? instant : (instant - START_AT) / 1_000

async function finish(model: Model): Promise<void> {
  await model.end()
  model.verify('history')
  model.close()
}

/** Calls `write` within a transaction that is rolled back. */
function rolledBack(storage: { transactionSync<T>(write: () => T): T }, write: () => void): void {
  try {
    storage.transactionSync(() => {
      write()
      throw new Error('rolled back')
    })
  } catch {
    // As intended.
  }
}

describe('a transaction of other code that is rolled back', () => {
  test.each(['same turn', 'later turn'] as const)(
    'takes a set back with its tick and its alarm (alarm calls: %s)',
    async (alarmCalls) => {
      const model = new Model({ alarmCalls })
      await model.set('every:60000', 1)
      await model.advance(90_000)
      await model.call('a set that is rolled back', ({ ctx, schedule }) =>
        rolledBack(ctx.storage, () => void schedule.set({ expression: 'every:3600000', version: 2 })),
      )
      expect(model.object.instance.schedule.get()).toMatchObject({ version: 1, nextAt: START_AT + 120_000 })
      expect(seconds(model.object.alarmAt)).toBe(120)
      await model.advance(MINUTE_MS)
      await finish(model)
      expect(model.outside.invocations.length).toBe(2)
    },
  )

  test.each(['same turn', 'later turn'] as const)(
    'takes a set back, and the alarm that was lost before is put right (alarm calls: %s)',
    async (alarmCalls) => {
      const model = new Model({ alarmCalls })
      await model.set('every:60000', 1)
      await model.overwriteAlarm(null)
      await model.crash()
      await model.call('a set that is rolled back', ({ ctx, schedule }) =>
        rolledBack(ctx.storage, () => void schedule.set({ expression: 'every:60000', version: 2 })),
      )
      expect(seconds(model.object.alarmAt)).toBe(60)
      await finish(model)
    },
  )

  test('takes back a due tick that a set recorded, and it is run once', async () => {
    const model = new Model()
    await model.set('every:60000', 1)
    model.holdAlarms(3 * MINUTE_MS)
    await model.advance(90_000)
    await model.call('a set that is rolled back', ({ ctx, schedule }) =>
      rolledBack(ctx.storage, () => void schedule.set({ expression: 'every:3600000', version: 2 })),
    )
    await model.advance(10_000)
    expect(model.outside.invocations.map(({ scheduledTime }) => seconds(scheduledTime))).toEqual([60])
    await finish(model)
  })

  test('takes back the first set of all, with its tables', async () => {
    const model = new Model()
    await model.call('a set that is rolled back', ({ ctx, schedule }) =>
      rolledBack(ctx.storage, () => void schedule.set({ expression: 'every:60000', version: 1 })),
    )
    expect(model.object.instance.schedule.get()).toBeUndefined()
    expect(await model.set('every:60000', 1)).toBe(true)
    await model.advance(MINUTE_MS)
    await finish(model)
    expect(model.outside.invocations.length).toBe(1)
  })

  test('does not let another helper arm for what was taken back, however the object dies', async () => {
    for (let seam = 1; seam <= 6; seam += 1) {
      const model = new Model({ hasAlarms: true, alarmCalls: 'later turn', mayFail: true })
      await model.set('every:60000', 1)
      await model.advance(90_000)
      model.object.crashAtAwait(model.object.progress.seams + seam)
      model.invariants.alarms.requested()
      await model.call('a cancel that is rolled back, and a ping', async ({ ctx, schedule, alarms }) => {
        rolledBack(ctx.storage, () => void schedule.cancel())
        await alarms?.set('ping', START_AT + 600_000)
      })
      await model.advance(MINUTE_MS)
      await finish(model)
      expect(model.outside.invocations.length).toBe(2)
    }
  })
})

describe('deleteAll() under a live instance', () => {
  test.each([
    ['a run', { run: () => ({ takesMs: 30_000 }) }],
    ['a delivery', { receive: () => ({ takesMs: 30_000 }) }],
  ])('during %s re-creates nothing, and a set starts anew', async (_what, options) => {
    const model = new Model(options)
    await model.set('every:60000', 1)
    await model.advance(70_000)
    await model.call('deleteAll', ({ ctx }) => {
      // The simulated storage has it; the part that the package uses does not.
      const storage = model.object.ctx.storage
      expect(ctx.storage).toBeDefined()
      model.invariants.excuseRows()
      return storage.deleteAll()
    })
    await model.advance(MINUTE_MS)
    expect(model.object.rows("SELECT name FROM sqlite_schema WHERE name LIKE 'durability%'")).toEqual([])
    expect(model.object.alarmAt).toBeNull()
    expect(model.object.inAlarm).toBe(false)
    expect(model.object.instance.schedule.status()).toMatchObject({
      state: 'none',
      running: 0,
      undelivered: 0,
    })
    expect(await model.set('every:60000', 1)).toBe(true)
    await model.advance(MINUTE_MS)
    expect(model.outside.invocations.length).toBe(2)
    await finish(model)
  })

  test('tells of an outcome that was in flight', async () => {
    const model = new Model({ run: () => ({ takesMs: 30_000 }) })
    await model.set('every:60000', 1)
    await model.advance(70_000)
    await model.call('deleteAll', () => {
      model.invariants.excuseRows()
      return model.object.ctx.storage.deleteAll()
    })
    await model.advance(MINUTE_MS)
    expect(model.outside.events.map(({ type }) => type)).toEqual([
      'due',
      'started',
      'settled',
      'dead_lettered',
    ])
    model.close()
  })
})

describe('migrate under a live instance', () => {
  test.each([
    ['removed', [null]],
    ['made anew', [null, 'v1']],
  ] as const)('tables that were %s work with the next set', async (_what, targets) => {
    const model = new Model({ schedule: { maxConcurrentRuns: 1 }, run: () => ({ takesMs: 25_000 }) })
    await model.set('every:10000', 1)
    await model.advance(45_000)
    await model.call('migrate', ({ ctx }) => {
      model.invariants.excuseRows()
      for (const target of targets) DurabilitySchedule.migrate(ctx, target)
    })
    expect(model.object.instance.schedule.get()).toBeUndefined()
    await model.set('every:10000', 1)
    await model.advance(45_000)
    const { waiting } = model.object.instance.schedule.status()
    expect(waiting).toBeGreaterThan(0)
    await finish(model)
  })
})

describe('a nextOccurrence that changes the schedule it is asked about', () => {
  test.each([
    ['by a set, while a tick is searched', 'tick'],
    ['by a set, while another set is', 'set'],
  ])('%s never lowers the version', async (_what, when) => {
    let schedule: DurabilitySchedule | undefined
    let isAsked = false
    const nextOccurrence = (_expression: string, after: number) => {
      if (isAsked && schedule !== undefined) {
        isAsked = false
        void schedule.set({ expression: 'newest', version: 9 })
      }
      return (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS
    }
    const object = simulateObject((context, clock) => {
      const scheduler = new DurabilityScheduler({ context, clock, onAlarmRetry: () => undefined })
      schedule = new DurabilitySchedule({ scheduler, nextOccurrence, run: () => undefined })
      return { schedule, alarm: (info: object) => scheduler.alarm(info) }
    })
    const set = (version: number) =>
      object.call((instance) => instance.schedule.set({ expression: 'older', version })).catch(() => false)
    await set(1)
    isAsked = true
    if (when === 'set') await set(2)
    await object.advance(3 * MINUTE_MS)
    expect(object.instance.schedule.get()).toMatchObject({ version: 9, expression: 'newest' })
    object.close()
  })
})

describe('helpers of others', () => {
  /** A schedule beside a helper of the user's own. */
  function setup(helper: (now: () => number) => SchedulerHelper) {
    const ticks: number[] = []
    const retries: number[] = []
    const object = simulateObject((context, clock) => {
      const scheduler = new DurabilityScheduler({
        context,
        clock,
        onAlarmRetry: ({ consecutiveFailures }) => retries.push(consecutiveFailures),
      })
      scheduler.attach(helper(() => clock.now()))
      const schedule = new DurabilitySchedule({
        scheduler,
        nextOccurrence: (_expression, after) => (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS,
        run: () => void ticks.push(clock.now()),
      })
      return { schedule, alarm: (info: object) => scheduler.alarm(info) }
    })
    return { object, ticks, retries }
  }

  test('one that fails 50 times is left out each time for alarmMinDelayMs, and the schedule ticks on time', async () => {
    let attempts = 0
    let isDone = false
    const { object, ticks, retries } = setup((now) => ({
      name: 'failing',
      nextAt: () => (isDone ? undefined : now()),
      run: () => {
        attempts += 1
        if (attempts <= 50) throw new Error('again')
        isDone = true
      },
    }))
    await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
    await object.advance(50 * 15_000)
    expect(attempts).toBe(51)
    expect(retries).toEqual(Array.from({ length: 50 }, (_, failure) => failure + 1))
    expect(ticks).toEqual(Array.from({ length: 12 }, (_, tick) => (ticks[0] as number) + tick * MINUTE_MS))
    object.close()
  })

  test('one that hangs delays no tick', async () => {
    let isRunning = false
    const { object, ticks } = setup((now) => ({
      name: 'hanging',
      nextAt: () => (isRunning ? undefined : now()),
      run: () => {
        isRunning = true
        return new Promise(() => {})
      },
    }))
    await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
    await object.advance(60 * MINUTE_MS)
    expect(ticks.length).toBe(60)
    object.close()
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('nextAt')
      },
    ],
    ['answers NaN', () => Number.NaN],
    ['answers infinity', () => Number.POSITIVE_INFINITY],
  ])('one whose nextAt %s delays no tick, and does not spin', async (_how, nextAt) => {
    const { object, ticks, retries } = setup(() => ({ name: 'broken', nextAt, run: () => undefined }))
    await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
    await object.advance(10 * MINUTE_MS)
    expect(ticks.length).toBe(10)
    expect(retries.length).toBeLessThanOrEqual(41)
    expect(object.alarmAt).not.toBeNull()
    object.close()
  })

  test('one that stays due after it ran has failed, and does not spin', async () => {
    const { object, ticks, retries } = setup((now) => ({ name: 'due', nextAt: now, run: () => undefined }))
    await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
    await object.advance(10 * MINUTE_MS)
    expect(ticks.length).toBe(10)
    expect(retries.length).toBeLessThanOrEqual(41)
    object.close()
  })
})
