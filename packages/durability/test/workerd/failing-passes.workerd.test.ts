import { describe, expect, it, vi } from 'vitest'
import { nextOccurrence } from './support/expressions.ts'
import { withStorage } from './support/forwarding.ts'
import { type SetupOptions, setup } from './support/setup.ts'
import { stubbornHelper, ticker } from './support/ticker.ts'
import { FAR_AHEAD, freezeClock, probeLag, until } from './support/time.ts'

const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`
const RETRY_MS = 15_000
const never = new Promise<never>(() => {})

describe('a schedule whose nextOccurrence throws', () => {
  it('B039 fails 50 passes in a row, stays armed, leaves others on time, and goes on in the 51st', async () => {
    const { object, clock, expression } = brokenSoon({ everyMs: 7_000 })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    expression.isBroken = true
    const failedAt: number[] = []
    while (object.seen.retries.length < 50) {
      const failures = object.seen.retries.length
      await object.fireAlarm()
      if (object.seen.retries.length > failures) failedAt.push(clock.now())
      const alarmAt = await object.alarmAt()
      expect(alarmAt).toBeGreaterThan(clock.now())
      clock.moveTo(alarmAt ?? 0)
    }
    expect(object.seen.passes.every(({ state }) => state === 'returned')).toBe(true)
    expect(object.seen.retries.map(({ consecutiveFailures }) => consecutiveFailures)).toEqual(
      Array.from({ length: 50 }, (_, failure) => failure + 1),
    )
    expect(failedAt.every((at, index) => index === 0 || at - (failedAt[index - 1] ?? 0) === RETRY_MS)).toBe(
      true,
    )
    const late = expression.ticks.filter(({ dueAt, ranAt }) => ranAt !== dueAt && dueAt > FAR_AHEAD + MINUTE)
    expect(late).toEqual([])
    expect(object.seen.runs).toEqual([])

    expression.isBroken = false
    clock.moveTo((object.seen.retries.at(-1)?.retryAt ?? 0) + 1)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
  })

  it('tells onAlarmRetry what failed, how often and until when it is left out', async () => {
    const { object, clock, expression } = brokenSoon()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    expression.isBroken = true
    const info = { isRetry: true, retryCount: 2 }
    await object.pass(info)
    expect(object.seen.retries).toEqual([
      {
        error: expect.objectContaining({ message: 'The expression is broken for now' }),
        helper: 'schedule',
        consecutiveFailures: 1,
        retryAt: clock.now() + RETRY_MS,
        info,
      },
    ])
    expect(await object.alarmAt()).toBe(clock.now() + RETRY_MS)
  })

  it('leaves cursor and rows as they were', async () => {
    const { object, clock, expression } = brokenSoon()
    await object.set({ expression: MINUTELY, version: 1 })
    const before = await object.get()
    clock.moveBy(MINUTE)
    expression.isBroken = true
    await object.fireAlarm()
    expect(await object.get()).toEqual(before)
    expect(await object.rows()).toEqual([])
  })

  it.each([
    { returned: 'null' },
    { returned: '"1000"' },
    { returned: '1.5' },
    { returned: '0' },
    { returned: '-1' },
    { returned: '9007199254740993' },
    { returned: '7000000000001' },
    { returned: '{"valueOf":1}' },
  ])('is as one that returns $returned: no run, and a retry', async ({ returned }) => {
    const { object, clock, expression } = brokenSoon()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    expression.isBroken = JSON.parse(returned)
    await object.fireAlarm()
    expect(object.seen.retries).toMatchObject([{ error: { name: 'RangeError' } }])
    expect(object.seen.runs).toEqual([])
    expect(await object.alarmAt()).toBe(clock.now() + RETRY_MS)
  })

  it('can be replaced, and its due tick is recorded as a run of the old version first', async () => {
    const { object, clock, expression } = brokenSoon()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    expression.isBroken = true
    await object.fireAlarm()
    expect(await object.set({ expression: 'at 4102444999000', version: 2 })).toBe(true)
    expect(object.seen.runs).toMatchObject([{ scheduledTime: FAR_AHEAD + MINUTE, version: 1 }])
    expect(await object.get()).toMatchObject({ version: 2, nextAt: 4_102_444_999_000 })
    await until('the alarm is right', async () => (await object.alarmAt()) !== clock.now() + RETRY_MS)
  })

  it('can be cancelled, and its due tick still runs and reports', async () => {
    const { object, clock, expression } = brokenSoon()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    expression.isBroken = true
    await object.fireAlarm()
    expect(await object.cancel()).toBe(true)
    await object.fireAlarm()
    expect(object.seen.deliveries).toMatchObject([{ run: { scheduledTime: FAR_AHEAD + MINUTE } }])
    expect(await object.alarmAt()).toBeNull()
  })

  it('does not keep back the outcomes and the waiting runs of before', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const isBroken = { now: false }
    const object = setup({
      schedule: {
        run: () => gate.promise,
        maxConcurrentRuns: 1,
        nextOccurrence: (expression, after) => {
          if (isBroken.now) throw new Error('The expression is broken for now')
          return nextOccurrence(expression, after)
        },
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    for (let tick = 1; tick <= 2; tick += 1) {
      clock.moveBy(MINUTE)
      object.startAlarm()
      await until('it is recorded', async () => (await object.rows()).length === tick)
    }
    isBroken.now = true
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it failed', () => object.seen.retries.length === 1)
    gate.resolve()
    await until('both runs are delivered', () => object.seen.deliveries.length === 2, 2_000)
  })
})

describe('a user’s helper that fails', () => {
  it.each([
    {
      how: 'throws',
      parts: {
        run: () => {
          throw new Error('The helper failed')
        },
      },
    },
    { how: 'rejects', parts: { run: () => Promise.reject(new Error('The helper failed')) } },
    { how: 'stays due after it ran', parts: {} },
    {
      how: 'cannot say when it is due',
      parts: {
        nextAt: () => {
          throw new Error('The helper failed')
        },
      },
    },
    { how: 'says NaN', parts: { nextAt: () => Number.NaN } },
    { how: 'says minus infinity', parts: { nextAt: () => Number.NEGATIVE_INFINITY } },
    { how: 'says infinity', parts: { nextAt: () => Number.POSITIVE_INFINITY } },
  ])('in that it $how is left out for alarmMinDelayMs, and the schedule is on time', async ({ parts }) => {
    const clock = freezeClock()
    const object = setup({ helpers: [stubbornHelper('faulty', parts)] })
    await object.set({ expression: 'every 10000', version: 1 })
    for (let tick = 1; tick <= 6; tick += 1) {
      clock.moveTo(FAR_AHEAD + tick * 10_000)
      await object.pass()
      expect(object.seen.runTimes.at(-1)).toBe(clock.now())
      expect(await object.alarmAt()).toBeGreaterThan(clock.now())
    }
    expect(object.seen.runs).toHaveLength(6)
    expect(object.seen.passes.every(({ state }) => state === 'returned')).toBe(true)
    const failures = object.seen.retries.length
    // 60 s hold a failure at 0 (by the set), and then one every 20 s: the first pass at or after each retryAt.
    expect(failures).toBeGreaterThanOrEqual(3)
    expect(failures).toBeLessThanOrEqual(5)
    expect(new Set(object.seen.retries.map(({ helper }) => helper))).toEqual(new Set(['faulty']))
  })

  it('hangs for ever without delaying the schedule', async () => {
    const lag = probeLag()
    const object = setup({ helpers: [ticker(50, () => never).helper] })
    await object.set({ expression: 'every 100', version: 1 })
    await until('five runs', () => object.seen.runs.length >= 5, 3_000)
    const late = object.seen.runs.map(({ startedAt, dueAt }) => startedAt - dueAt)
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...late)).toBeLessThan(50 + lag.stop())
    expect(object.seen.passes.filter(({ state }) => state === 'open')).toHaveLength(1)
  })

  it('recovers: the count begins anew after a success', async () => {
    const clock = freezeClock()
    let fails = true
    const object = setup({
      helpers: [
        ticker(1_000, () => {
          if (fails) throw new Error('The helper failed')
        }).helper,
      ],
    })
    await object.pass()
    for (const failing of [true, true, false, true]) {
      fails = failing
      clock.moveBy(RETRY_MS + 1_000)
      await object.fireAlarm()
    }
    expect(object.seen.retries.map(({ consecutiveFailures }) => consecutiveFailures)).toEqual([1, 2, 1])
  })
})

describe('an onAlarmRetry that fails', () => {
  it.each([
    {
      how: 'throws',
      hook: () => {
        throw new Error('The hook failed')
      },
      isReported: true,
    },
    { how: 'rejects', hook: () => Promise.reject(new Error('The hook failed')), isReported: true },
    { how: 'hangs', hook: () => never, isReported: false },
  ])('in that it $how changes nothing', async ({ hook, isReported }) => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object, clock, expression } = brokenSoon({ onAlarmRetry: hook })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    expression.isBroken = true
    await object.fireAlarm()
    expect(await object.alarmAt()).toBe(clock.now() + RETRY_MS)
    expression.isBroken = false
    clock.moveBy(RETRY_MS)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(errors.mock.calls.flat().some((line) => `${line}`.includes('The hook failed'))).toBe(isReported)
  })
})

describe('an alarm that cannot be armed', () => {
  it('makes alarm() reject at once, and nothing is recorded', async () => {
    const { object, clock, platform } = refusing()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    platform.refuses = 'throws'
    await expect(object.pass()).rejects.toThrow('No alarm')
    expect(object.seen.runs).toEqual([])
    expect(await object.rows()).toEqual([])
    expect(await object.get()).toMatchObject({ nextAt: FAR_AHEAD + MINUTE })

    platform.refuses = undefined
    await object.pass()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
  })

  it('makes set and cancel reject, and nothing is stored', async () => {
    const { object, platform } = refusing()
    platform.refuses = 'throws'
    await expect(object.set({ expression: MINUTELY, version: 1 })).rejects.toThrow('No alarm')
    expect(await object.get()).toBeUndefined()
    platform.refuses = undefined
    await object.set({ expression: MINUTELY, version: 1 })
    platform.refuses = 'throws'
    await expect(object.set({ expression: 'every 1000', version: 2 })).rejects.toThrow('No alarm')
    expect(await object.get()).toMatchObject({ version: 1 })
    platform.refuses = undefined
    await object.set({ expression: MINUTELY, version: 1 })
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })

  it('and is refused only later makes alarm() reject, and no handler is called before it is taken', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object, clock, platform } = refusing()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    platform.refuses = 'rejects'
    await expect(object.pass()).rejects.toThrow('No alarm')
    expect(object.seen.runs).toEqual([])
    platform.refuses = undefined
    clock.moveBy(RETRY_MS)
    await object.pass()
    expect(object.seen.runs.length).toBeLessThanOrEqual(1)
    expect(object.seen.deliveries).toHaveLength(1)
    expect(await object.alarmAt()).toBeGreaterThan(clock.now())
  })

  it('leaves the helpers side by side: none has run half', async () => {
    const work = ticker(MINUTE)
    const { object, clock, platform } = refusing(work.helper)
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    platform.refuses = 'throws'
    await expect(object.pass()).rejects.toThrow('No alarm')
    platform.refuses = undefined
    clock.moveBy(RETRY_MS)
    await object.pass()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(work.ticks.length).toBeGreaterThanOrEqual(1)
  })
})

/** An object whose `nextOccurrence` can be broken: `true` makes it throw, any other value is what it returns. */
function brokenSoon({
  everyMs = 0,
  onAlarmRetry = () => {},
}: {
  everyMs?: number
  onAlarmRetry?: () => unknown
} = {}) {
  const clock = freezeClock()
  const beside = ticker(everyMs)
  const expression: { isBroken: unknown; readonly ticks: typeof beside.ticks } = {
    isBroken: false,
    ticks: beside.ticks,
  }
  const object = setup({
    scheduler: { onAlarmRetry },
    helpers: everyMs > 0 ? [beside.helper] : [],
    schedule: {
      nextOccurrence: (text, after) => {
        if (text !== MINUTELY || expression.isBroken === false) return nextOccurrence(text, after)
        if (expression.isBroken === true) throw new Error('The expression is broken for now')
        return expression.isBroken as number
      },
    },
  })
  return { object, clock, expression }
}

/** An object whose platform can be made to refuse alarms. */
function refusing(...helpers: NonNullable<SetupOptions['helpers']>[number][]) {
  const clock = freezeClock()
  const platform: { refuses: 'throws' | 'rejects' | undefined } = { refuses: undefined }
  const object = setup({
    helpers,
    context: (ctx) =>
      withStorage(ctx, (storage) => ({
        setAlarm: (at) => {
          if (platform.refuses === 'throws') throw new Error('No alarm can be set')
          if (platform.refuses === 'rejects') return Promise.reject(new Error('No alarm can be set'))
          return storage.setAlarm(at)
        },
      })),
  })
  return { object, clock, platform }
}
