import { describe, expect, it, vi } from 'vitest'
import type { DurabilityScheduleOptions } from '../../src/experimental/index.ts'
import { nextOccurrence } from './support/expressions.ts'
import { crash, type Parts, setup } from './support/setup.ts'
import { ticker } from './support/ticker.ts'
import { FAR_AHEAD, freezeClock, until } from './support/time.ts'

const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`
const places = ['run', 'onOutcome', 'onLifecycleEvent'] as const

describe.each(places.map((place) => ({ place })))('inside $place', ({ place }) => {
  it('set does not wait for the run, and takes effect', async () => {
    const { object } = await calling(place, async ({ schedule }) => {
      expect(await schedule.set({ expression: 'every 7000', version: 2 })).toBe(true)
    })
    expect(object.seen.deliveries).toMatchObject([{ outcome: { status: 'complete' }, run: { version: 1 } }])
    const { nextAt } = (await object.get()) ?? {}
    expect(await object.get()).toMatchObject({ version: 2, expression: 'every 7000' })
    await until('the alarm is right', async () => (await object.alarmAt()) === nextAt)
  })

  it('cancel does not wait for the run, which still reports', async () => {
    const { object } = await calling(place, async ({ schedule }) => {
      expect(await schedule.cancel()).toBe(true)
    })
    expect(object.seen.deliveries).toHaveLength(1)
    await until('no alarm is left', async () => (await object.alarmAt()) === null)
    expect(await object.rows()).toEqual([])
  })

  it('a cancel and a set of the same version go on with the next tick, and repeat none', async () => {
    const { object, clock } = await calling(place, async ({ schedule }) => {
      await schedule.cancel()
      await schedule.set({ expression: MINUTELY, version: 1 })
    })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE, FAR_AHEAD + 2 * MINUTE])
  })

  it('get and status answer at once', async () => {
    const seen: unknown[] = []
    await calling(place, ({ schedule }) => {
      seen.push(schedule.get(), schedule.status())
    })
    expect(seen).toMatchObject([
      { version: 1, nextAt: FAR_AHEAD + 2 * MINUTE },
      { state: 'live', waiting: 0 },
    ])
  })

  it('alarm() does not deadlock when it is not awaited, and starts nothing twice', async () => {
    const { object } = await calling(place, ({ scheduler }) => {
      scheduler.alarm()
    })
    expect(object.seen.runs).toHaveLength(1)
    expect(object.seen.deliveries).toHaveLength(1)
  })

  it('deleteAll() ends the schedule cleanly', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object, clock } = await calling(place, ({ ctx }) => ctx.storage.deleteAll())
    clock.moveBy(5 * MINUTE)
    await object.pass()
    expect(await object.status()).toMatchObject({ state: 'none', running: 0, waiting: 0, undelivered: 0 })
    expect(object.seen.runs).toHaveLength(1)
    expect(object.seen.retries).toEqual([])
    expect(await object.alarmAt()).toBeNull()
  })
})

describe('inside a handler', () => {
  it('many sets of the same turn leave the last one and its alarm', async () => {
    const { object } = await calling('run', async ({ schedule }) => {
      const setting = [2, 3, 4].map((version) =>
        schedule.set({ expression: `every ${version * 1_000}`, version }),
      )
      await Promise.all([
        ...setting,
        schedule.cancel(3),
        schedule.set({ expression: 'every 9000', version: 5 }),
      ])
    })
    expect(await object.get()).toMatchObject({ version: 5, expression: 'every 9000' })
    const { nextAt } = (await object.get()) ?? {}
    await until('the alarm is right', async () => (await object.alarmAt()) === nextAt)
  })

  it('a set that makes the next tick due at once is followed by its run', async () => {
    const { object, clock } = await calling('run', async ({ schedule }) => {
      await schedule.set({ expression: `at ${FAR_AHEAD + MINUTE + 5}`, version: 2 })
    })
    clock.moveBy(5)
    await object.fireIfDue()
    await until('it runs', () => object.seen.runs.length === 2)
    expect(object.seen.runs[1]).toMatchObject({ scheduledTime: FAR_AHEAD + MINUTE + 5, version: 2 })
  })
})

describe('inside nextOccurrence', () => {
  it('a set to a newer version wins over the tick, or the set, that asked', async () => {
    const clock = freezeClock()
    let inner: (() => Promise<boolean>) | undefined
    const object = setup({
      schedule: {
        nextOccurrence: (expression, after) => {
          const call = inner
          inner = undefined
          call?.()
          return nextOccurrence(expression, after)
        },
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.inside(async ({ schedule, scheduler }) => {
      inner = () => schedule.set({ expression: 'every 7000', version: 9 })
      await scheduler.alarm()
    })
    expect(await object.get()).toMatchObject({ version: 9 })
    await object.inside(async ({ schedule }) => {
      inner = () => schedule.set({ expression: 'every 8000', version: 20 })
      await schedule.set({ expression: MINUTELY, version: 15 })
    })
    expect(await object.get()).toMatchObject({ version: 20 })
    const times = object.seen.runTimes
    expect(new Set(times).size).toBe(times.length)
  })
})

describe('a set inside a user’s transaction', () => {
  it('that rolls back leaves nothing behind, and the alarm is right afterwards', async () => {
    freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ ctx, schedule }) =>
      rolledBack(ctx, () => schedule.set({ expression: 'every 1000', version: 2 })),
    )
    expect(await object.get()).toMatchObject({ version: 1, nextAt: FAR_AHEAD + MINUTE })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })

  it('that rolls back and is made again in the same turn stores its row and its alarm in that turn', async () => {
    freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(async ({ ctx, schedule }) => {
      const undone = rolledBack(ctx, () => schedule.set({ expression: 'every 1000', version: 2 }))
      const done = schedule.set({ expression: 'every 1000', version: 2 })
      const alarmAt = ctx.storage.getAlarm()
      expect(schedule.get()).toMatchObject({ version: 2 })
      expect(await alarmAt).toBe(FAR_AHEAD + 1_000)
      await Promise.all([undone, done])
    })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 1_000)
  })

  it('that rolls back the very first set leaves no table and no alarm, and a later set works', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.inside(({ ctx, schedule }) =>
      rolledBack(ctx, () => schedule.set({ expression: 'every 1000', version: 2 })),
    )
    expect(await object.status()).toMatchObject({ state: 'none' })
    expect(await object.alarmAt()).toBeNull()
    expect(await object.set({ expression: MINUTELY, version: 1 })).toBe(true)
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.deliveries).toHaveLength(1)
  })

  it('that rolls back a cancel leaves the schedule live and armed', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ ctx, schedule }) => rolledBack(ctx, () => schedule.cancel(5)))
    expect(await object.status()).toMatchObject({ state: 'live', version: 1 })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.runs).toHaveLength(1)
  })

  it('that rolls back a recorded due tick loses nothing and repeats nothing', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.inside(({ ctx, schedule }) =>
      rolledBack(ctx, () => schedule.set({ expression: 'every 1000', version: 2 })),
    )
    await object.fireIfDue()
    await until('the tick runs', () => object.seen.deliveries.length === 1)
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.runs.map(({ scheduledTime, version }) => [scheduledTime, version])).toEqual([
      [FAR_AHEAD + MINUTE, 1],
      [FAR_AHEAD + 2 * MINUTE, 1],
    ])
  })

  it('that rolls back beside a call on another helper in the same turn leaves the alarm of the other', async () => {
    freezeClock()
    const object = setup({ alarms: { handlers: { renew: () => {} } } })
    await object.inside(async ({ ctx, schedule, alarms }) => {
      const rolling = rolledBack(ctx, () => schedule.set({ expression: 'every 1000', version: 2 }))
      await alarms.set('renew', FAR_AHEAD + 5 * MINUTE)
      await rolling
    })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 5 * MINUTE)
    await crash()
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 5 * MINUTE)
  })

  it('that commits stores both, or neither after a crash', async () => {
    freezeClock()
    const object = setup()
    await object.inside(async ({ ctx, schedule }) => {
      let setting: Promise<boolean> | undefined
      ctx.storage.transactionSync(() => {
        ctx.storage.kv.put('order', 17)
        setting = schedule.set({ expression: MINUTELY, version: 1 })
      })
      await setting
    })
    await crash()
    expect(await object.inside(({ ctx }) => ctx.storage.kv.get('order'))).toBe(17)
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })

  it('while a pass is open rolls back without harm to the pass', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    await object.inside(({ ctx, schedule }) => rolledBack(ctx, () => schedule.cancel()))
    gate.resolve()
    await until('it is delivered', () => object.seen.deliveries.length === 1)
    await until('the alarm is right', async () => (await object.alarmAt()) === FAR_AHEAD + 2 * MINUTE)
  })
})

describe('a user’s helper', () => {
  it('that calls set in its run does not upset the pass', async () => {
    const clock = freezeClock()
    let parts: Parts | undefined
    const beside = ticker(MINUTE, async () => {
      await parts?.schedule.set({ expression: 'every 7000', version: 2 })
    })
    const object = setup({ helpers: [beside.helper] })
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside((made) => {
      parts = made
    })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(await object.get()).toMatchObject({ version: 2 })
    expect(await object.alarmAt()).toBe((await object.get())?.nextAt)
  })
})

/** A minutely schedule that ran once, and made that call at that place of its first run. */
async function calling(place: (typeof places)[number], call: (parts: Parts) => unknown) {
  const clock = freezeClock()
  let parts: Parts | undefined
  let failure: unknown
  let calls = 0
  const callOnce = async () => {
    calls += 1
    if (calls > 1 || parts === undefined) return
    try {
      await call(parts)
    } catch (error) {
      failure = error
    }
  }
  const schedule: Partial<DurabilityScheduleOptions> = {
    [place]: (event: { type?: string }) =>
      place !== 'onLifecycleEvent' || event.type === 'settled' ? callOnce() : undefined,
  }
  const object = setup({ schedule })
  await object.set({ expression: MINUTELY, version: 1 })
  await object.inside((made) => {
    parts = made
  })
  clock.moveBy(MINUTE)
  await object.fireAlarm()
  await until('the call was made', () => calls > 0)
  if (failure !== undefined) throw failure
  return { object, clock }
}

/** Makes the call inside a transaction that is rolled back, and waits for it. */
async function rolledBack(ctx: DurableObjectState, call: () => Promise<unknown>): Promise<void> {
  let called: Promise<unknown> | undefined
  try {
    ctx.storage.transactionSync(() => {
      called = call()
      throw new Error('Undo')
    })
  } catch {}
  await called
}
