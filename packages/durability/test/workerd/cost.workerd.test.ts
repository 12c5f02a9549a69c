import { describe, expect, it } from 'vitest'
import { type Bundle, crash, type SetupOptions, setup } from './support/setup.ts'
import { freezeClock, until } from './support/time.ts'
import { addWaitingRuns } from './support/waiting-rows.ts'

const MINUTELY = 'every 60000'

describe('what an ordinary run costs', () => {
  it.each([
    { what: '4 rows', rows: 4, withoutOutcomes: false },
    { what: '3 rows without onOutcome', rows: 3, withoutOutcomes: true },
  ])(
    'each of the runs by the platform’s own alarms writes $what and arms 1 alarm',
    async ({ rows, withoutOutcomes }) => {
      const object = setup({ withoutOutcomes })
      const first = Date.now() + 500
      const ticks = Array.from({ length: 25 }, (_, tick) => first + tick * 150)
      const last = first + 3_600_000
      await object.set({ expression: `at ${ticks},${last}`, version: 1 })
      const spent = await object.costOf(async () => {
        await until('the last tick', async () => (await object.get())?.nextAt === last)
        await until('all is settled', async () => (await object.rows()).length === 0)
        await until('every pass is over', () => object.seen.passes.every(({ state }) => state === 'returned'))
      })
      // The platform can be late by more than an interval: then ticks collapse, and the costs are those of the runs.
      const runs = object.seen.runs.length
      expect({ rows: spent.rowsWritten, alarms: spent.alarms }).toEqual({ rows: rows * runs, alarms: runs })
    },
  )

  it('every one of 100 runs, one after the other, writes 4 rows and arms 1 alarm', async () => {
    const clock = freezeClock()
    const object = await live({}, MINUTELY)
    const costs = new Set<string>()
    for (let run = 1; run <= 100; run += 1) {
      clock.moveBy(60_000)
      const { rowsWritten, alarms, alarmDeletes } = await object.costOf(() => object.fireAlarm())
      costs.add(`${rowsWritten} rows, ${alarms} alarms, ${alarmDeletes} deletes`)
      expect(object.seen.deliveries).toHaveLength(run)
    }
    expect([...costs]).toEqual(['4 rows, 1 alarms, 0 deletes'])
  })

  it('a run beside ten others in flight writes no more rows', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = await live({ schedule: { run: () => gate.promise, maxConcurrentRuns: 20 } }, MINUTELY)
    const passes: Promise<boolean>[] = []
    const spent = await object.costOf(async () => {
      for (let run = 1; run <= 10; run += 1) {
        clock.moveBy(60_000)
        passes.push(object.fireAlarm())
        await until('it runs', () => object.seen.runs.length === run)
      }
      gate.resolve()
      await Promise.all(passes)
    })
    expect(spent).toMatchObject({ rowsWritten: 40, alarms: 10 })
  })

  it('interruptedWithinMs costs one more alarm per run', async () => {
    const clock = freezeClock()
    const object = await live({ schedule: { interruptedWithinMs: 5_000 } }, MINUTELY)
    clock.moveBy(60_000)
    expect(await object.costOf(() => object.fireAlarm())).toMatchObject({ rowsWritten: 4, alarms: 2 })
  })

  it('a run that waited for a slot writes one row more', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = await live({ schedule: { run: () => gate.promise, maxConcurrentRuns: 1 } }, MINUTELY)
    const spent = await object.costOf(async () => {
      clock.moveBy(60_000)
      const first = object.fireAlarm()
      await until('the first runs', () => object.seen.runs.length === 1)
      clock.moveBy(60_000)
      const second = object.fireAlarm()
      await until('the second waits', () => object.seen.events.some((e) => e.type === 'due' && e.queued))
      gate.resolve()
      await Promise.all([first, second])
    })
    expect(object.seen.deliveries).toHaveLength(2)
    expect(spent).toMatchObject({ rowsWritten: 4 + 5, alarms: 2 })
  })

  it('each failed delivery writes one row more', async () => {
    const clock = freezeClock()
    let failures = 3
    const object = await live(
      {
        schedule: {
          outcomeRetries: { delay: () => 0 },
          onOutcome: () => {
            failures -= 1
            if (failures >= 0) throw new Error('The receiver is down')
          },
        },
      },
      MINUTELY,
    )
    clock.moveBy(60_000)
    expect(await object.costOf(() => object.fireAlarm())).toMatchObject({ rowsWritten: 4 + 3, alarms: 1 })
  })

  it('a delivery that waits for a slot writes at most one row more', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = await live(
      { schedule: { onOutcome: () => gate.promise, maxConcurrentDeliveries: 1 } },
      MINUTELY,
    )
    const spent = await object.costOf(async () => {
      clock.moveBy(60_000)
      const first = object.fireAlarm()
      await until('the first is delivered', () => object.seen.deliveries.length === 1)
      clock.moveBy(60_000)
      const second = object.fireAlarm()
      await until('the second has settled', () => object.seen.events.filter(isSettled).length === 2)
      gate.resolve()
      await Promise.all([first, second])
    })
    expect(object.seen.deliveries).toHaveLength(2)
    expect(spent.rowsWritten - 8).toBeLessThanOrEqual(1)
  })
})

describe('what a public call costs', () => {
  it('set writes one row and arms one alarm', async () => {
    freezeClock()
    const object = await live({}, MINUTELY)
    expect(await object.costOf(() => object.set({ expression: 'every 7000', version: 2 }))).toMatchObject({
      rowsWritten: 1,
      alarms: 1,
    })
  })

  it.each([
    { what: 'set', call: (object: Bundle) => object.set({ expression: 'every 7000', version: 2 }) },
    { what: 'cancel', call: (object: Bundle) => object.cancel() },
  ])('$what writes one row more, in the same turn, when it records a due tick', async ({ call }) => {
    const clock = freezeClock()
    const object = await live({}, MINUTELY)
    clock.moveBy(60_000)
    // The rest is what the recorded run costs, which waited: its start, its outcome and its end.
    expect(await object.costOf(async () => [await call(object), await object.fireAlarm()])).toMatchObject({
      rowsWritten: 2 + 3,
    })
    expect(object.seen.deliveries).toHaveLength(1)
  })

  it('cancel writes one row and no alarm', async () => {
    freezeClock()
    const object = await live({}, MINUTELY)
    expect(await object.costOf(() => object.cancel())).toMatchObject({ rowsWritten: 1, alarms: 0 })
    expect(await object.alarmAt()).toBeNull()
  })

  it('cancel with a version writes one row', async () => {
    freezeClock()
    const object = await live({}, MINUTELY)
    expect(await object.costOf(() => object.cancel(5))).toMatchObject({ rowsWritten: 1, alarms: 0 })
  })

  it.each([
    { what: 'resending the definition', call: (o: Bundle) => o.set({ expression: MINUTELY, version: 1 }) },
    { what: 'a lower version', call: (o: Bundle) => o.set({ expression: 'every 5', version: 0 }) },
    { what: 'cancelling a lower version', call: (o: Bundle) => o.cancel(0) },
    { what: 'get', call: (o: Bundle) => o.get() },
    { what: 'status', call: (o: Bundle) => o.status() },
  ])('$what writes nothing', async ({ call }) => {
    freezeClock()
    const object = await live({}, MINUTELY)
    expect(await object.costOf(() => call(object))).toMatchObject({
      rowsWritten: 0,
      alarms: 0,
      alarmDeletes: 0,
    })
  })

  it('B035 200 cold starts that resend the definition write nothing and lead to one run', async () => {
    const clock = freezeClock()
    const object = await live({}, MINUTELY)
    const restarts = await object.costOf(async () => {
      for (let start = 0; start < 200; start += 1) {
        await crash()
        await object.set({ expression: MINUTELY, version: 1 })
      }
    })
    expect(restarts).toMatchObject({ rowsWritten: 0, alarms: 0 })
    clock.moveBy(60_000)
    expect(await object.costOf(() => object.fireAlarm())).toMatchObject({ rowsWritten: 4 })
    expect(object.seen.runs).toHaveLength(1)
  })

  it('merely constructing creates no table', async () => {
    const object = setup()
    expect(await object.get()).toBeUndefined()
    expect(await object.status()).toMatchObject({ state: 'none', version: undefined })
    const tables = await object.inside(({ ctx }) =>
      ctx.storage.sql.exec("SELECT name FROM sqlite_master WHERE name LIKE 'durability%'").toArray(),
    )
    expect(tables).toEqual([])
  })

  it('the two tables have row ids and no secondary index', async () => {
    freezeClock()
    const object = await live({}, MINUTELY)
    const schema = await object.inside(({ ctx }) =>
      ctx.storage.sql
        .exec("SELECT name, type, sql FROM sqlite_master WHERE name LIKE '%durability_schedule%'")
        .toArray(),
    )
    expect(schema.map(({ name, type }) => `${type} ${name}`).sort()).toEqual([
      'table durability_schedule',
      'table durability_schedule_runs',
    ])
    expect(JSON.stringify(schema)).not.toContain('WITHOUT ROWID')
  })
})

describe('what is read', () => {
  it('a tick reads as many rows beside 10,000 waiting runs as beside none', async () => {
    const { object, tick, release } = await heldSlot()
    const beforeAny = await tick()
    const besideOne = await tick()
    await addWaitingRuns(object, 10_000)
    expect((await tick()).rowsRead).toBe(besideOne.rowsRead)
    expect(besideOne.rowsRead).toBe(beforeAny.rowsRead)
    await release()
  })

  it('starting the next waiting run reads as many rows beside 10,000 waiting runs as beside ten', async () => {
    const { object, tick, startNext, release } = await heldSlot()
    await tick()
    await addWaitingRuns(object, 10)
    const besideTen = await startNext()
    await addWaitingRuns(object, 10_000)
    expect(await startNext()).toEqual(besideTen)
    await release()
  })

  it('the first pass and the status of a new instance read each started row once and no waiting one', async () => {
    const { object, release } = await heldSlot()
    const firstLook = async () => {
      await crash()
      return {
        status: await object.costOf(() => object.status()),
        waiting: (await object.status()).waiting,
      }
    }
    await addWaitingRuns(object, 10)
    const few = await firstLook()
    await addWaitingRuns(object, 10_000)
    const many = await firstLook()
    expect(many.waiting - few.waiting).toBe(10_000)
    expect(many.status).toEqual(few.status)

    await crash()
    const passCost = await object.costOf(async () => {
      const pass = object.pass()
      await until('the run cut off is reported', () => object.seen.deliveries.length === 1)
      pass.catch(() => {})
    })
    // The definition a few times, the started row, the first that waits.
    expect(passCost.rowsRead).toBeLessThan(40)
    await release()
  })
})

/** An object whose only slot is taken by a run, so that what ticks now waits. */
async function heldSlot() {
  const clock = freezeClock()
  let gate = Promise.withResolvers<void>()
  const object = await live({ schedule: { run: () => gate.promise, maxConcurrentRuns: 1 } }, MINUTELY)
  const passes: Promise<unknown>[] = []
  const pass = () => {
    // Rejects when the object is made to crash under it.
    passes.push(object.fireAlarm().catch(() => {}))
  }
  clock.moveBy(60_000)
  pass()
  await until('the slot is taken', () => object.seen.runs.length === 1)
  return {
    object,
    tick: () => {
      const recorded = object.seen.events.length
      return object.costOf(async () => {
        clock.moveBy(60_000)
        pass()
        await until('the tick is recorded', () => object.seen.events.length > recorded)
      })
    },
    startNext: () => {
      const { length } = object.seen.runs
      return object.costOf(async () => {
        const done = gate
        gate = Promise.withResolvers()
        done.resolve()
        await until('the next one runs', () => object.seen.runs.length > length)
        await until('the last outcome is gone', () => object.seen.deliveries.length === length)
      })
    },
    release: async () => {
      await crash()
      await Promise.all(passes)
    },
  }
}

async function live(options: SetupOptions, expression: string): Promise<Bundle> {
  const object = setup(options)
  await object.set({ expression, version: 1 })
  return object
}

function isSettled({ type }: { readonly type: string }): boolean {
  return type === 'settled'
}
