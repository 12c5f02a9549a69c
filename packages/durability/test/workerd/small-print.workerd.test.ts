import { describe, expect, it, vi } from 'vitest'
import { crash, setup } from './support/setup.ts'
import { FAR_AHEAD, freezeClock, until } from './support/time.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE

describe('the drawn jitter', () => {
  it('is uniform: of two possible offsets each is drawn about half the time', async () => {
    const object = setup()
    const drawn = { 0: 0, 1: 0 }
    await object.inside(async ({ schedule }) => {
      for (let version = 1; version <= 400; version += 1) {
        await schedule.set({ expression: `every ${HOUR}`, version, jitterMs: { maxMs: 1 } })
        const jitterMs = schedule.get()?.jitterMs
        if (jitterMs === 0 || jitterMs === 1) drawn[jitterMs] += 1
      }
    })
    expect(drawn[0] + drawn[1]).toBe(400)
    // Five standard deviations: a fair coin is outside once in two million times.
    expect(Math.abs(drawn[0] - 200)).toBeLessThan(50)
  })
})

describe('an inherited outcome', () => {
  it('costs one row more than its own: the mark that is written before it is delivered', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    let fails = true
    const object = setup({
      schedule: {
        onOutcome: () => {
          if (fails) throw new Error('not now')
        },
        outcomeRetries: { delay: () => HOUR },
      },
    })
    await object.set({ expression: `at ${FAR_AHEAD + MINUTE}`, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    await crash()
    fails = false
    clock.moveBy(HOUR)
    const { rowsWritten } = await object.costOf(() => object.fireAlarm())
    expect(await object.rows()).toEqual([])
    // The mark and the delete.
    expect(rowsWritten).toBe(2)
  })
})

describe('a console.error that throws', () => {
  it('leaves the slots of what is given up free, and everything else as it is', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {
      throw new Error('The console failed')
    })
    const clock = freezeClock()
    const object = setup({
      schedule: {
        maxConcurrentDeliveries: 1,
        outcomeRetries: { maxAttempts: 1 },
        onOutcome: () => {
          throw new Error('not now')
        },
      },
    })
    await object.set({ expression: `every ${MINUTE}`, version: 1 })
    for (let tick = 1; tick <= 3; tick += 1) {
      clock.moveBy(MINUTE)
      object.startAlarm()
      await until('it is given up', async () => (await object.rows()).length === 0)
      await until('the pass has ended', () => object.seen.passes.every(({ state }) => state !== 'open'))
      expect(object.seen.deliveries).toHaveLength(tick)
    }
    expect(object.seen.retries).toEqual([])
  })
})

describe('30,000 undelivered outcomes', () => {
  it('are taken over by a new instance well within the time that the platform gives it', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: `every ${MINUTE}`, version: 1 })
    await object.inside(({ ctx }) => {
      ctx.storage.sql.exec(
        `WITH RECURSIVE ids(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM ids WHERE id < 30000)
         INSERT INTO durability_schedule_runs
         SELECT id, id, id, 1, 2, '{"status":"complete"}', 1, ?, 0 FROM ids`,
        clock.now() + HOUR,
      )
      ctx.storage.sql.exec('UPDATE durability_schedule SET lastRunId = 30000')
    })
    await crash()
    const startedAt = performance.now()
    expect(await object.status()).toMatchObject({ state: 'live', undelivered: 30_000 })
    // Of 30 s. Compared each with each they would take most of it, and some more would stop the object for ever.
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })
})

describe('B031 zone rules that change between the storing of a tick and its time', () => {
  it('give at most the one run at the stored time, then the times of the new rules; nothing is lost', async () => {
    const clock = freezeClock()
    let day = FAR_AHEAD
    // At first the days begin at 03:00, by the new rules at 04:00.
    let hours = 3
    const object = setup({
      schedule: {
        nextOccurrence: (_expression, after) => {
          const at = day + hours * HOUR
          return at > after ? at : at + 24 * HOUR
        },
      },
    })
    await object.set({ expression: 'daily', version: 1 })
    hours = 4
    for (let hour = 1; hour <= 48; hour += 1) {
      clock.moveTo(FAR_AHEAD + hour * HOUR)
      if (hour === 24) day += 24 * HOUR
      await object.fireIfDue()
    }
    expect(object.seen.runTimes).toEqual([3, 4, 28].map((hour) => FAR_AHEAD + hour * HOUR))
  })
})

describe('the failures of a helper', () => {
  it('are counted by the live instance: a new one begins at 1', async () => {
    const clock = freezeClock()
    const object = setup({
      schedule: {
        nextOccurrence: (_expression, after) => {
          if (after > FAR_AHEAD) throw new Error('broken')
          return FAR_AHEAD + MINUTE
        },
      },
    })
    await object.set({ expression: 'broken later', version: 1 })
    for (const instance of [1, 2]) {
      for (const failures of [1, 2]) {
        clock.moveBy(MINUTE)
        await object.fireAlarm()
        expect([instance, object.seen.retries.at(-1)?.consecutiveFailures]).toEqual([instance, failures])
      }
      await crash()
    }
  })
})

describe('liveTimers', () => {
  it('is off unless asked for: other work waits for the end of a hold', async () => {
    const gate = Promise.withResolvers<void>()
    const calls: string[] = []
    const object = setup({
      schedule: { run: () => gate.promise },
      alarms: { handlers: { other: () => calls.push('other') } },
    })
    await object.setOnce(50)
    await until('the run is in flight', async () => (await object.status()).running === 1)
    await object.inside(({ alarms }) => alarms.set('other', Date.now() + 100))
    await object.inside(() => new Promise((resolve) => setTimeout(resolve, 300)))
    expect(calls).toEqual([])
    gate.resolve()
    await until('the other work is done', () => calls.length === 1)
  })
})

describe('the permits of named alarms', () => {
  it('are given back at the timeout of an attempt, also when its handler never settles', async () => {
    const calls: string[] = []
    const object = setup({
      scheduler: { alarmConcurrency: 1 },
      alarms: {
        attemptTimeoutMs: 50,
        retries: { maxAttempts: 1 },
        handlers: { first: () => new Promise(() => {}), second: () => calls.push('second') },
      },
    })
    vi.spyOn(console, 'error').mockImplementation(() => {})
    await object.inside(async ({ alarms }) => {
      await alarms.set('first', 0)
      await alarms.set('second', 0)
    })
    await until('the second had its turn', () => calls.length === 1)
  })
})

describe('an expression', () => {
  it('may have 65,536 characters, and not one more', async () => {
    const object = setup({ schedule: { nextOccurrence: (_expression, after) => after + HOUR } })
    expect(await object.set({ expression: 'x'.repeat(65_536), version: 1 })).toBe(true)
    expect((await object.get())?.expression).toHaveLength(65_536)
    await expect(object.set({ expression: 'x'.repeat(65_537), version: 2 })).rejects.toThrow(
      /expression .* 65536/,
    )
    expect(await object.get()).toMatchObject({ version: 1 })
  })
})

describe('a hand-off', () => {
  it('arms one alarm, and the pass that joins arms one back on the next tick', async () => {
    const gate = Promise.withResolvers<void>()
    const object = setup({
      scheduler: { alarmHandoffMs: 100, alarmMinDelayMs: 1_000 },
      schedule: { run: () => gate.promise },
    })
    const first = Date.now() + 100
    await object.set({ expression: `at ${first},${first + HOUR}`, version: 1 })
    const { alarms, rowsWritten } = await object.costOf(async () => {
      await until('it has handed off', () => object.seen.passes.some(({ state }) => state === 'returned'))
      expect(await object.alarmAt()).toBeLessThanOrEqual(Date.now() + 1_000)
      await until('the next pass has joined', () => object.seen.passes.length === 2)
      gate.resolve()
      await until('all is settled', async () => (await object.rows()).length === 0)
      await until('every pass is over', () => object.seen.passes.every(({ state }) => state === 'returned'))
    })
    expect(await object.alarmAt()).toBe(first + HOUR)
    // The tick's, the hand-off's, and the one back on the next tick.
    expect({ alarms, rowsWritten }).toEqual({ alarms: 3, rowsWritten: 4 })
  })
})
