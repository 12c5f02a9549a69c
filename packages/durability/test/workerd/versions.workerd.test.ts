import { describe, expect, it, vi } from 'vitest'
import { DurabilitySchedule } from '../../src/experimental/index.ts'
import { crash, type Parts, setup } from './support/setup.ts'
import { FAR_AHEAD, freezeClock, until } from './support/time.ts'

const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`

describe('set', () => {
  it('takes effect for a higher version only, and answers whether it did', async () => {
    const object = fresh()
    expect(await object.set({ expression: MINUTELY, version: 3 })).toBe(true)
    expect(await object.set({ expression: 'every 1000', version: 2 })).toBe(false)
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    expect(await object.set({ expression: 'every 1000', version: 3 })).toBe(false)
    expect(await object.get()).toEqual({
      expression: MINUTELY,
      version: 3,
      jitterMs: 0,
      nextAt: FAR_AHEAD + MINUTE,
    })
    expect(await object.set({ expression: 'every 1000', version: 4 })).toBe(true)
    expect(await object.get()).toMatchObject({ expression: 'every 1000', version: 4 })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 1_000)
  })

  it('takes version 0, and the largest safe integer', async () => {
    const object = fresh()
    expect(await object.set({ expression: MINUTELY, version: 0 })).toBe(true)
    expect(await object.set({ expression: MINUTELY, version: 0 })).toBe(false)
    expect(await object.set({ expression: MINUTELY, version: Number.MAX_SAFE_INTEGER })).toBe(true)
    expect(await object.status()).toMatchObject({ version: Number.MAX_SAFE_INTEGER, state: 'live' })
  })

  it('takes negative zeros as zeros', async () => {
    const object = fresh()
    expect(await object.set({ expression: MINUTELY, version: -0, jitterMs: -0 })).toBe(true)
    await crash()
    expect(await object.get()).toEqual({
      expression: MINUTELY,
      version: 0,
      jitterMs: 0,
      nextAt: FAR_AHEAD + MINUTE,
    })
    expect(await object.set({ expression: MINUTELY, version: 0 })).toBe(false)
  })

  it.each([
    { what: 'the same definition', change: {}, warnings: 0 },
    { what: 'another expression', change: { expression: 'every 5' }, warnings: 1 },
    { what: 'another jitter', change: { jitterMs: 5 }, warnings: 1 },
    { what: 'a drawn jitter', change: { jitterMs: { maxMs: 0 } }, warnings: 1 },
  ])('of the same version with $what logs $warnings warnings', async ({ change, warnings }) => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const object = fresh()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.set({ expression: MINUTELY, version: 1, ...change })
    expect(warn).toHaveBeenCalledTimes(warnings)
  })

  it('of a lower version with another definition logs nothing', async () => {
    const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
    const object = fresh()
    await object.set({ expression: MINUTELY, version: 2 })
    await object.set({ expression: 'every 5', version: 1 })
    expect(warn).not.toHaveBeenCalled()
  })

  it('checks its input before it looks at the version', async () => {
    const object = fresh()
    await object.set({ expression: MINUTELY, version: 5 })
    await expect(object.set({ expression: 5 as unknown as string, version: 1 })).rejects.toThrow(TypeError)
    await expect(object.set({ expression: MINUTELY, version: 1, jitterMs: -1 })).rejects.toThrow(RangeError)
  })

  it('does not ask nextOccurrence about a version that has no effect', async () => {
    const object = fresh()
    await object.set({ expression: MINUTELY, version: 5 })
    vi.spyOn(console, 'warn').mockImplementation(() => {})
    expect(await object.set({ expression: 'broken', version: 4 })).toBe(false)
    expect(await object.set({ expression: 'broken', version: 5 })).toBe(false)
  })

  it.each([
    { expression: 'broken', error: 'is broken' },
    { expression: 'returns null', error: 'nextOccurrence' },
    { expression: 'returns "5"', error: 'nextOccurrence' },
    { expression: 'returns 1.5', error: 'nextOccurrence' },
    { expression: 'returns 1', error: 'nextOccurrence' },
    { expression: `returns ${FAR_AHEAD}`, error: 'nextOccurrence' },
    { expression: 'returns 9007199254740993', error: 'nextOccurrence' },
    { expression: 'returns 7000000000001', error: '7000000000001' },
    { expression: 'returns [5]', error: 'nextOccurrence' },
    { expression: 'returns true', error: 'nextOccurrence' },
  ])('with the expression "$expression" rejects and stores nothing', async ({ expression, error }) => {
    const object = fresh()
    await expect(object.set({ expression, version: 1 })).rejects.toThrow(error)
    expect(await object.get()).toBeUndefined()
    expect(await object.status()).toMatchObject({ state: 'none', version: undefined })
    expect(await object.alarmAt()).toBeNull()
    await object.set({ expression: MINUTELY, version: 1 })
    await expect(object.set({ expression, version: 2 })).rejects.toThrow(error)
    expect(await object.get()).toMatchObject({ version: 1, nextAt: FAR_AHEAD + MINUTE })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })

  it('rejects a due time that no alarm holds, jitter included, and takes the last one that does', async () => {
    const object = fresh()
    await expect(object.set({ expression: 'at 7000000000000', version: 1, jitterMs: 1 })).rejects.toThrow(
      RangeError,
    )
    expect(await object.set({ expression: 'at 7000000000000', version: 1 })).toBe(true)
    expect(await object.get()).toMatchObject({ nextAt: 7_000_000_000_000 })
  })

  it('with an expression that has no occurrence stores an ended schedule', async () => {
    const object = fresh()
    expect(await object.set({ expression: 'at 5', version: 1 })).toBe(true)
    expect(await object.get()).toEqual({ expression: 'at 5', version: 1, jitterMs: 0 })
    expect(await object.status()).toMatchObject({ state: 'ended', version: 1 })
    expect(await object.alarmAt()).toBeNull()
    expect(await object.cancel()).toBe(false)
    expect(await object.status()).toMatchObject({ state: 'cancelled' })
  })

  it.each([
    { expression: '' },
    { expression: ' ' },
    { expression: "'); DROP TABLE durability_schedule; --" },
    { expression: '😀\n\t' },
  ])('takes the text $expression as it is', async ({ expression }) => {
    freezeClock()
    const asked: string[] = []
    const object = setup({
      schedule: {
        nextOccurrence: (text, after) => {
          asked.push(text)
          return after + MINUTE
        },
      },
    })
    await object.set({ expression, version: 1 })
    expect(asked).toEqual([expression])
    await crash()
    expect(await object.get()).toMatchObject({ expression })
  })

  it('raced from several callers stores the highest version and its alarm', async () => {
    const object = fresh()
    const taken = await object.inside(({ schedule }) =>
      Promise.all(
        [3, 1, 5, 2, 4].map((version) => schedule.set({ expression: `every ${version * 1_000}`, version })),
      ),
    )
    expect(taken).toEqual([true, false, true, false, false])
    expect(await object.get()).toMatchObject({ version: 5, expression: 'every 5000' })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 5_000)
  })

  it('writes before its first await', async () => {
    const object = fresh()
    const atOnce = await object.inside(({ schedule }) => {
      const setting = schedule.set({ expression: MINUTELY, version: 1 })
      const stored = schedule.get()
      return setting.then(() => stored)
    })
    expect(atOnce).toMatchObject({ version: 1 })
  })
})

describe('cancel', () => {
  it('stops the ticks and answers whether a schedule was live', async () => {
    const { object, clock } = await live(7)
    expect(await object.cancel()).toBe(true)
    expect(await object.get()).toBeUndefined()
    expect(await object.status()).toMatchObject({ state: 'cancelled', version: undefined })
    expect(await object.alarmAt()).toBeNull()
    expect(await object.cancel()).toBe(false)
    clock.moveBy(10 * MINUTE)
    await object.pass()
    expect(object.seen.runs).toEqual([])
  })

  it('without a version lets any version be set afterwards', async () => {
    const { object } = await live(7)
    await object.cancel()
    expect(await object.set({ expression: MINUTELY, version: 0 })).toBe(true)
    expect(await object.status()).toMatchObject({ state: 'live', version: 0 })
  })

  it('of a lower version than the stored one is ignored', async () => {
    const { object } = await live(7)
    expect(await object.cancel(6)).toBe(false)
    expect(await object.get()).toMatchObject({ version: 7 })
  })

  it.each([{ version: 7 }, { version: 8 }])(
    'of version $version leaves a tombstone that a delayed set cannot get past',
    async ({ version }) => {
      const { object } = await live(7)
      expect(await object.cancel(version)).toBe(true)
      expect(await object.get()).toBeUndefined()
      expect(await object.status()).toMatchObject({ state: 'cancelled', version })
      await crash()
      expect(await object.set({ expression: MINUTELY, version })).toBe(false)
      expect(await object.set({ expression: MINUTELY, version: version - 1 })).toBe(false)
      expect(await object.alarmAt()).toBeNull()
      expect(await object.set({ expression: MINUTELY, version: version + 1 })).toBe(true)
    },
  )

  it('when nothing was live resolves false and leaves the tombstone all the same', async () => {
    const object = fresh()
    expect(await object.cancel(5)).toBe(false)
    expect(await object.status()).toMatchObject({ state: 'cancelled', version: 5 })
    expect(await object.set({ expression: MINUTELY, version: 5 })).toBe(false)
    expect(await object.set({ expression: MINUTELY, version: 6 })).toBe(true)
  })

  it('of an ended schedule resolves false, and leaves its tombstone', async () => {
    const object = fresh()
    await object.set({ expression: 'at 5', version: 3 })
    expect(await object.cancel(3)).toBe(false)
    expect(await object.status()).toMatchObject({ state: 'cancelled', version: 3 })
    expect(await object.set({ expression: MINUTELY, version: 3 })).toBe(false)
  })

  it('of a cancelled schedule with a version leaves a tombstone', async () => {
    const { object } = await live(7)
    await object.cancel()
    expect(await object.cancel(2)).toBe(false)
    expect(await object.status()).toMatchObject({ state: 'cancelled', version: 2 })
  })

  it.each([{ version: undefined }, { version: 3 }, { version: 5 }])(
    'on a tombstone of 5 leaves it when given $version, and writes nothing',
    async ({ version }) => {
      const object = fresh()
      await object.cancel(5)
      expect(await object.costOf(async () => expect(await object.cancel(version)).toBe(false))).toMatchObject(
        {
          rowsWritten: 0,
        },
      )
      expect(await object.status()).toMatchObject({ version: 5 })
    },
  )

  it('on a tombstone of a lower version raises it', async () => {
    const object = fresh()
    await object.cancel(5)
    expect(await object.cancel(9)).toBe(false)
    expect(await object.status()).toMatchObject({ version: 9 })
  })

  it('on an object that never had a schedule stores nothing', async () => {
    const object = fresh()
    expect(await object.cancel()).toBe(false)
    expect(await object.status()).toMatchObject({ state: 'none' })
  })

  it('lets runs that are due or in flight finish and report', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise, maxConcurrentRuns: 1 } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    clock.moveBy(MINUTE)
    expect(await object.cancel(1)).toBe(true)
    expect(await object.status()).toMatchObject({ running: 1, waiting: 1, state: 'cancelled' })
    gate.resolve()
    await until('both report', () => object.seen.deliveries.length === 2)
    expect(object.seen.runs.map(({ version }) => version)).toEqual([1, 1])
    await until('nothing is armed', async () => (await object.alarmAt()) === null)
  })

  it('while a run is in flight keeps an alarm for the case of a crash', async () => {
    const clock = freezeClock()
    const object = setup({ schedule: { run: () => new Promise(() => {}) } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    await object.cancel()
    expect(await object.alarmAt()).toBeGreaterThan(clock.now())
    expect(await object.alarmAt()).toBeLessThanOrEqual(clock.now() + 15_000)
    await crash()
    await object.fireAlarm()
    expect(object.seen.deliveries).toMatchObject([
      { outcome: { error: { name: 'ScheduledRunInterruptedError' } } },
    ])
    expect(await object.alarmAt()).toBeNull()
  })
})

describe('migrate', () => {
  it('to null removes both tables, also under a live instance, and set starts afresh', async () => {
    const { object, clock } = await live(7)
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    await object.inside(({ ctx }) => DurabilitySchedule.migrate(ctx, null))
    expect(await tables(object)).toEqual([])
    expect(await object.status()).toMatchObject({ state: 'none', version: undefined })
    await object.pass()
    expect(await object.alarmAt()).toBeNull()
    expect(await object.set({ expression: MINUTELY, version: 0 })).toBe(true)
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.runs).toHaveLength(2)
    expect(await object.rows()).toEqual([])
  })

  it('to null with runs in flight, waiting and undelivered, also by a new instance that looked at them', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const object = setup({
      schedule: {
        run: () => new Promise(() => {}),
        maxConcurrentRuns: 2,
        runTimeoutMs: 20,
        onOutcome: () => new Promise(() => {}),
      },
    })
    for (const isNew of [false, true]) {
      await object.set({ expression: MINUTELY, version: 1 })
      for (let tick = 1; tick <= 5; tick += 1) {
        clock.moveBy(MINUTE)
        object.startAlarm()
        await until('it is recorded', async () => (await object.rows()).length === tick)
      }
      if (isNew) await crash()
      expect(await object.status()).toMatchObject({ waiting: 3 })
      await object.inside(({ ctx }) => DurabilitySchedule.migrate(ctx, null))
      expect(await tables(object)).toEqual([])
      await crash()
    }
  })

  it('to "v1" creates the schema, keeps what is there, and is free to repeat', async () => {
    const object = fresh()
    await object.inside(({ ctx }) => DurabilitySchedule.migrate(ctx, 'v1'))
    expect(await tables(object)).toEqual(['durability_schedule', 'durability_schedule_runs'])
    expect(await object.status()).toMatchObject({ state: 'none' })
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ ctx }) => DurabilitySchedule.migrate(ctx, 'v1'))
    expect(await object.get()).toMatchObject({ version: 1 })
  })

  it('to null where there is nothing does nothing', async () => {
    const object = fresh()
    await object.inside(({ ctx }) => DurabilitySchedule.migrate(ctx, null))
    expect(await tables(object)).toEqual([])
  })

  it('rolls back with the user’s transaction', async () => {
    const { object } = await live(7)
    await object.inside(({ ctx }) => {
      try {
        ctx.storage.transactionSync(() => {
          DurabilitySchedule.migrate(ctx, null)
          throw new Error('Undo')
        })
      } catch {}
    })
    expect(await object.get()).toMatchObject({ version: 7 })
  })

  it.each([
    { what: 'a look at the status', looks: ({ schedule }: Parts) => void schedule.status() },
    {
      what: 'a set',
      looks: ({ schedule }: Parts) => void schedule.set({ expression: MINUTELY, version: 9 }),
    },
  ])('rolls back with the user’s transaction and $what: no run is started again', async ({ looks }) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({
      schedule: {
        // The first outcome is refused and waits for its retry; the second run stays in flight.
        run: ({ scheduledTime }) => (scheduledTime > FAR_AHEAD + MINUTE ? gate.promise : undefined),
        onOutcome: ({ attempt, scheduledTime }) => {
          if (attempt === 1 && scheduledTime === FAR_AHEAD + MINUTE) throw new Error('Later')
        },
        outcomeRetries: { delay: () => 10 * MINUTE },
      },
    })
    await object.set({ expression: MINUTELY, version: 7 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('the second run is in flight', () => object.seen.runs.length === 2)
    await object.inside((parts) => {
      try {
        parts.ctx.storage.transactionSync(() => {
          DurabilitySchedule.migrate(parts.ctx, null)
          looks(parts)
          throw new Error('Undo')
        })
      } catch {}
    })
    expect(await object.status()).toMatchObject({ version: 7, running: 1, waiting: 0, undelivered: 1 })
    gate.resolve()
    await until('the second outcome is delivered', () => object.seen.deliveries.length === 2)
    clock.moveBy(20 * MINUTE)
    await object.pass()
    expect(object.seen.runTimes).toEqual([1, 2, 3].map((tick) => FAR_AHEAD + tick * MINUTE))
    expect(object.seen.deliveries.map(({ outcome }) => outcome.status)).toEqual(Array(4).fill('complete'))
    expect(await object.rows()).toEqual([])
  })

  it.each([{ target: 'v2' }, { target: 'V1' }, { target: '' }, { target: 'v0' }])(
    'to "$target" throws a RangeError and changes nothing',
    async ({ target }) => {
      const { object } = await live(7)
      await object.inside(({ ctx }) =>
        expect(() => DurabilitySchedule.migrate(ctx, target)).toThrow(RangeError),
      )
      expect(await object.get()).toMatchObject({ version: 7 })
    },
  )

  it.each([{ target: undefined }, { target: 1 }, { target: {} }])(
    'to $target throws a TypeError',
    async ({ target }) => {
      const { object } = await live(7)
      await object.inside(({ ctx }) =>
        expect(() => DurabilitySchedule.migrate(ctx, target as unknown as string)).toThrow(TypeError),
      )
    },
  )

  it('under a live instance with runs in flight ends them with an event, and restores nothing', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    await object.inside(({ ctx }) => {
      DurabilitySchedule.migrate(ctx, null)
      DurabilitySchedule.migrate(ctx, 'v1')
    })
    gate.resolve()
    await until('its end is told', () => object.seen.events.some(({ type }) => type === 'dead_lettered'))
    expect(object.seen.deliveries).toEqual([])
    expect(await object.rows()).toEqual([])
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.runs).toHaveLength(2)
    expect(object.seen.deliveries).toHaveLength(1)
  })
})

describe('a schema of another version', () => {
  it('that needs a newer reader is refused with a clear error, and nothing is changed', async () => {
    const { object, clock } = await live(7)
    await object.inside(({ ctx }) =>
      ctx.storage.sql.exec('UPDATE durability_schedule SET schemaVersion = 3, oldestReader = 2'),
    )
    const before = await stored(object)
    await crash()
    await expect(object.set({ expression: MINUTELY, version: 8 })).rejects.toThrow(/v3.*newer|newer.*v3/)
    await expect(object.cancel()).rejects.toThrow('v3')
    await expect(object.get()).rejects.toThrow('v3')
    await expect(object.status()).rejects.toThrow('v3')
    clock.moveBy(5 * MINUTE)
    await object.fireAlarm()
    expect(object.seen.retries).toMatchObject([{ helper: 'schedule' }])
    await object.inside(({ ctx }) => expect(() => DurabilitySchedule.migrate(ctx, 'v1')).toThrow())
    expect(object.seen.runs).toEqual([])
    expect(await stored(object)).toEqual(before)
    expect(await object.alarmAt()).toBeGreaterThan(clock.now())
  })

  it('that is additive stays readable, and its own columns are kept', async () => {
    const { object, clock } = await live(7)
    await object.inside(({ ctx }) => {
      ctx.storage.sql.exec('ALTER TABLE durability_schedule ADD COLUMN later TEXT')
      ctx.storage.sql.exec('ALTER TABLE durability_schedule_runs ADD COLUMN later TEXT')
      ctx.storage.sql.exec(
        "UPDATE durability_schedule SET schemaVersion = 2, oldestReader = 1, later = 'kept'",
      )
    })
    await crash()
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.deliveries).toHaveLength(1)
    await object.set({ expression: 'every 7000', version: 8 })
    await object.cancel()
    expect(await stored(object)).toMatchObject([{ later: 'kept', schemaVersion: 2, oldestReader: 1 }])
  })
})

describe('deleteAll() under a live instance', () => {
  it('ends the schedule: a pass creates nothing again, and set starts afresh', async () => {
    const { object, clock } = await live(7)
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    await object.inside(({ ctx }) => ctx.storage.deleteAll())
    clock.moveBy(MINUTE)
    await object.pass()
    await object.cancel()
    expect(await object.status()).toMatchObject({ state: 'none', running: 0, waiting: 0, undelivered: 0 })
    expect(await tables(object)).toEqual([])
    expect(await object.alarmAt()).toBeNull()
    expect(object.seen.runs).toHaveLength(1)
    expect(await object.set({ expression: MINUTELY, version: 1 })).toBe(true)
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(object.seen.runs).toHaveLength(2)
    expect(object.seen.deliveries).toHaveLength(2)
  })

  it('ends outcomes in flight with an event, and their handlers’ results are not lost in silence', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise } })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    await object.inside(({ ctx }) => ctx.storage.deleteAll())
    gate.resolve()
    await until('its end is told', () => object.seen.events.some(({ type }) => type === 'dead_lettered'))
    expect(await tables(object)).toEqual([])
    expect(object.seen.deliveries).toEqual([])
    await until('the pass is over', () => object.seen.passes.every(({ state }) => state === 'returned'))
    expect(object.seen.retries).toEqual([])
    expect(await object.alarmAt()).toBeNull()
  })

  it('ends an outcome that waits for its retry with an event', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const object = setup({
      schedule: {
        onOutcome: () => {
          throw new Error('The receiver is down')
        },
        outcomeRetries: { delay: () => 20_000 },
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    await object.inside(({ ctx }) => ctx.storage.deleteAll())
    expect(await object.status()).toMatchObject({ state: 'none', undelivered: 0 })
    clock.moveBy(20_000)
    await object.pass()
    await object.set({ expression: MINUTELY, version: 1 })
    await until('its end is told', () => object.seen.events.some(({ type }) => type === 'dead_lettered'))
    expect(object.seen.deliveries).toHaveLength(1)
  })

  it('and a set at once, with a run in flight and one waiting, runs only what is new', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise, maxConcurrentRuns: 1 } })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 1; tick <= 3; tick += 1) {
      clock.moveBy(MINUTE)
      object.startAlarm()
      await until('it is recorded', async () => (await object.rows()).length === tick)
    }
    await object.inside(async ({ ctx, schedule }) => {
      await ctx.storage.deleteAll()
      await schedule.set({ expression: 'every 7000', version: 1 })
    })
    const nextAt = (await object.get())?.nextAt ?? 0
    clock.moveTo(nextAt)
    object.startAlarm()
    await until('the new tick is recorded', async () => (await object.rows()).length === 1)
    gate.resolve()
    await until('it is delivered', () => object.seen.deliveries.length === 1)
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE, nextAt])
    expect(object.seen.deliveries).toMatchObject([{ run: { scheduledTime: nextAt } }])
  })
})

function fresh() {
  freezeClock()
  return setup()
}

/** A minutely schedule of that version. */
async function live(version: number) {
  const clock = freezeClock()
  const object = setup()
  await object.set({ expression: MINUTELY, version })
  return { object, clock }
}

type TestedObject = ReturnType<typeof setup>

function tables(object: TestedObject): Promise<unknown[]> {
  return object.inside(({ ctx }) =>
    ctx.storage.sql
      .exec("SELECT name FROM sqlite_master WHERE name LIKE 'durability_schedule%' ORDER BY name")
      .toArray()
      .map(({ name }) => name),
  )
}

function stored(object: TestedObject): Promise<unknown[]> {
  return object.inside(({ ctx }) => ctx.storage.sql.exec('SELECT * FROM durability_schedule').toArray())
}
