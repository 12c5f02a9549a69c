import { describe, expect, it, vi } from 'vitest'
import type { ScheduledRunEvent } from '../../src/experimental/index.ts'
import { crash, setup } from './support/setup.ts'
import { FAR_AHEAD, freezeClock, until } from './support/time.ts'

const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`
const never = new Promise<never>(() => {})
const about = {
  entityKind: 'scheduled_run',
  idempotencyKey: expect.stringMatching(/^[0-9a-f]{64}:\d+$/),
  scheduledTime: FAR_AHEAD + MINUTE,
  dueAt: FAR_AHEAD + MINUTE + 500,
  version: 3,
}

describe('lifecycle events', () => {
  it('tell an ordinary run: due, started, settled', async () => {
    const { object, clock } = await ran({})
    const timestamp = clock.now()
    expect(object.seen.events).toEqual([
      { ...about, timestamp, type: 'due', queued: false },
      { ...about, timestamp, type: 'started' },
      { ...about, timestamp, type: 'settled', outcome: 'complete', error: undefined, durationMs: 0 },
    ])
  })

  it('tell a failed run and its failed deliveries, up to the dead letter', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object, clock } = await ran({
      run: () => {
        throw new RangeError('Wrong')
      },
      onOutcome: () => {
        throw new TypeError('Down')
      },
      outcomeRetries: { maxAttempts: 2, delay: () => 0 },
    })
    const timestamp = clock.now()
    const error = { name: 'RangeError', message: 'Wrong' }
    expect(object.seen.events.slice(2)).toEqual([
      { ...about, timestamp, type: 'settled', outcome: 'errored', error, durationMs: 0 },
      {
        ...about,
        timestamp,
        type: 'outcome_retry',
        attempt: 1,
        error: { name: 'TypeError', message: 'Down' },
        nextAttemptAt: timestamp,
      },
      {
        ...about,
        timestamp,
        type: 'dead_lettered',
        outcome: { status: 'errored', error },
        attempts: 2,
        error: { name: 'TypeError', message: 'Down' },
      },
    ])
  })

  it('tell a queued run, and when it starts', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({ schedule: { run: () => gate.promise, maxConcurrentRuns: 1 } })
    await object.set({ expression: MINUTELY, version: 3 })
    for (let tick = 1; tick <= 2; tick += 1) {
      clock.moveBy(MINUTE)
      object.startAlarm()
      await until('it is recorded', async () => (await object.rows()).length === tick)
    }
    clock.moveBy(10_000)
    gate.resolve()
    await until('both are delivered', () => object.seen.deliveries.length === 2)
    const second = object.seen.events.filter(({ scheduledTime }) => scheduledTime === FAR_AHEAD + 2 * MINUTE)
    expect(second).toMatchObject([
      { type: 'due', queued: true, timestamp: FAR_AHEAD + 2 * MINUTE },
      { type: 'started', timestamp: FAR_AHEAD + 2 * MINUTE + 10_000 },
      { type: 'settled' },
    ])
  })

  it('tell a tick that a change of the definition recorded', async () => {
    const clock = freezeClock()
    const object = setup()
    await object.set({ expression: MINUTELY, version: 3, jitterMs: 500 })
    clock.moveBy(MINUTE + 500)
    await object.cancel()
    expect(object.seen.events[0]).toMatchObject({ ...about, type: 'due' })
  })

  it('tell an interrupted run as settled, without a duration', async () => {
    const clock = freezeClock()
    const object = setup({ schedule: { run: () => never } })
    await object.set({ expression: MINUTELY, version: 3 })
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('it runs', () => object.seen.runs.length === 1)
    await crash()
    await object.pass()
    expect(object.seen.events.at(-1)).toMatchObject({
      type: 'settled',
      outcome: 'errored',
      error: { name: 'ScheduledRunInterruptedError' },
    })
  })

  it('tell nothing that was rolled back', async () => {
    const object = setup()
    const clock = freezeClock()
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    const told = await object.inside(async ({ ctx, schedule }) => {
      const { length } = object.seen.events
      let setting: Promise<boolean> | undefined
      try {
        ctx.storage.transactionSync(() => {
          setting = schedule.cancel()
          throw new Error('Undo')
        })
      } catch {}
      await setting
      return length
    })
    expect(told).toBe(0)
    await object.fireAlarm()
    expect(object.seen.runTimes).toEqual([FAR_AHEAD + MINUTE])
    expect(object.seen.deliveries).toHaveLength(1)
  })
})

describe.each([
  {
    how: 'throws',
    misbehave: () => {
      throw new Error('The hook failed')
    },
  },
  { how: 'rejects', misbehave: () => Promise.reject(new Error('The hook failed')) },
  { how: 'hangs', misbehave: () => never },
  {
    how: 'answers with a thenable that throws',
    misbehave: () => ({
      // biome-ignore lint/suspicious/noThenProperty: a hook may answer with anything.
      then: () => {
        throw new Error('The hook failed')
      },
    }),
  },
  {
    how: 'throws something hostile',
    misbehave: () => {
      throw new Proxy(
        {},
        {
          get() {
            throw new Error('It throws when it is looked at')
          },
        },
      )
    },
  },
])('an onLifecycleEvent that $how', ({ how, misbehave }) => {
  it('changes nothing about runs, deliveries, costs or alarms, and is reported', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const object = setup({ schedule: { onLifecycleEvent: misbehave } })
    await object.set({ expression: MINUTELY, version: 3 })
    for (let tick = 1; tick <= 3; tick += 1) {
      clock.moveBy(MINUTE)
      expect(await object.costOf(() => object.fireAlarm())).toMatchObject({ rowsWritten: 4, alarms: 1 })
    }
    expect(object.seen.deliveries).toHaveLength(3)
    expect(object.seen.retries).toEqual([])
    expect(await object.rows()).toEqual([])
    expect(errors.mock.calls.length > 0).toBe(how !== 'hangs')
  })

  it('does not stop a dead letter from being logged', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object } = await ran({
      onLifecycleEvent: misbehave,
      onOutcome: () => {
        throw new Error('Down')
      },
      outcomeRetries: { maxAttempts: 1 },
    })
    expect(await object.rows()).toEqual([])
    expect(
      errors.mock.calls.flat().filter((line) => `${line}`.includes('outcome_dead_lettered')),
    ).toHaveLength(1)
  })
})

describe('an onLifecycleEvent', () => {
  it('that fails at each single event changes nothing', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const failing of ['due', 'started', 'settled', 'outcome_retry', 'dead_lettered', 'stuck'] as const) {
      const clock = freezeClock()
      const object = setup({
        schedule: {
          run: () => (failing === 'stuck' ? never : undefined),
          runTimeoutMs: 30,
          onOutcome: ({ attempt }) => {
            if (failing === 'dead_lettered' || attempt === 1) throw new Error('Down')
          },
          outcomeRetries: { maxAttempts: 2, delay: () => 0 },
          onLifecycleEvent: ({ type }: ScheduledRunEvent) => {
            if (type === failing) throw new Error('The hook failed')
          },
        },
      })
      await object.set({ expression: MINUTELY, version: 3 })
      clock.moveBy(MINUTE)
      await object.fireAlarm()
      expect(object.seen.events.map(({ type }) => type)).toContain(failing)
      expect(object.seen.deliveries, failing).toHaveLength(2)
      expect(await object.rows(), failing).toEqual([])
      expect(await object.alarmAt(), failing).toBe(FAR_AHEAD + 2 * MINUTE)
    }
  })

  it('that changes what it is given changes nothing', async () => {
    const { object } = await ran({
      onLifecycleEvent: (event) => {
        for (const key of Object.keys(event)) Reflect.set(event, key, 'changed')
      },
    })
    expect(object.seen.deliveries).toMatchObject([
      { run: { scheduledTime: FAR_AHEAD + MINUTE, version: 3 }, outcome: { status: 'complete' } },
    ])
    expect(await object.rows()).toEqual([])
  })
})

/** A minutely schedule of version 3, half a second late, whose first tick was fired. */
async function ran(schedule: NonNullable<NonNullable<Parameters<typeof setup>[0]>['schedule']>) {
  const clock = freezeClock()
  const object = setup({ schedule })
  await object.set({ expression: MINUTELY, version: 3, jitterMs: 500 })
  clock.moveBy(MINUTE + 500)
  await object.fireAlarm()
  return { object, clock }
}
