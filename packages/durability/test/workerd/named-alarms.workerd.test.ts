import { describe, expect, it, vi } from 'vitest'
import type { NamedAlarmEvent, NamedAlarmHandler, NamedAlarmInfo } from '../../src/index.ts'
import { killer } from './support/killing.ts'
import { crash, type SetupOptions, setup } from './support/setup.ts'
import { FAR_AHEAD, freezeClock, probeLag, realTime, until } from './support/time.ts'

const SECOND = 1_000
const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`
const never = new Promise<never>(() => {})

describe('a named alarm', () => {
  it('runs once at its time, with its name, time, attempt and key, and is gone', async () => {
    const { object, clock, calls } = named()
    const at = FAR_AHEAD + 10 * SECOND
    await object.inside(({ alarms }) => alarms.set('renew', at))
    expect(await pending(object)).toEqual({ name: 'renew', scheduledTime: at, attempt: 0, nextAttemptAt: at })
    expect(await object.alarmAt()).toBe(at)
    clock.moveTo(at)
    await object.fireAlarm()
    expect(calls).toMatchObject([{ name: 'renew', scheduledTime: at, attempt: 1, startedAt: at }])
    expect(await pending(object)).toBeUndefined()
    expect(await object.alarmAt()).toBeNull()
  })

  it('of a past time runs at once', async () => {
    const { object, calls } = named()
    await object.inside(({ alarms }) => alarms.set('renew', 5))
    await until('it runs', () => calls.length === 1)
    expect(calls).toMatchObject([{ scheduledTime: 5 }])
  })

  it('is armed a year ahead at most, and runs at its time', async () => {
    const { object, clock, calls } = named({ scheduler: { alarmMinDelayMs: 1_000 } })
    const year = 365 * 24 * 60 * MINUTE
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + 1.5 * year))
    expect(await object.alarmAt()).toBe(FAR_AHEAD + year)
    clock.moveTo(FAR_AHEAD + year)
    await object.fireAlarm()
    clock.moveTo(FAR_AHEAD + 1.5 * year)
    await object.fireAlarm()
    expect(calls).toHaveLength(1)
  })

  it('is cancelled: true once, then false', async () => {
    const { object, clock, calls } = named()
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + SECOND))
    expect(await object.inside(({ alarms }) => alarms.cancel('renew'))).toBe(true)
    expect(await object.inside(({ alarms }) => alarms.cancel('renew'))).toBe(false)
    expect(await object.alarmAt()).toBeNull()
    clock.moveBy(SECOND)
    await object.pass()
    expect(calls).toEqual([])
  })

  it('set again replaces what is pending under its name', async () => {
    const { object, clock, calls } = named()
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + 10 * SECOND))
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + 20 * SECOND))
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 20 * SECOND)
    clock.moveTo(FAR_AHEAD + 20 * SECOND)
    await object.fireAlarm()
    expect(calls).toMatchObject([{ scheduledTime: FAR_AHEAD + 20 * SECOND }])
  })

  it.each([{ call: 'set' }, { call: 'cancel' }, { call: 'get' }])(
    'that no handler is named after makes $call throw a RangeError',
    async ({ call }) => {
      const { object } = named()
      await object.inside(async ({ alarms }) => {
        for (const name of ['unknown', 'toString', '__proto__', 'constructor', '']) {
          await expect(
            (async () =>
              call === 'set'
                ? alarms.set(name, 5)
                : call === 'get'
                  ? alarms.get(name)
                  : alarms.cancel(name))(),
            name,
          ).rejects.toThrow(RangeError)
        }
      })
    },
  )

  it('survives a crash between set and its time', async () => {
    const { object, clock, calls } = named()
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + SECOND))
    await crash()
    clock.moveBy(SECOND)
    await object.fireAlarm()
    expect(calls).toHaveLength(1)
  })

  it('set inside a transaction that rolls back is not there', async () => {
    const { object } = named()
    await object.inside(async ({ ctx, alarms }) => {
      let setting: Promise<void> | undefined
      try {
        ctx.storage.transactionSync(() => {
          setting = alarms.set('renew', FAR_AHEAD + SECOND)
          throw new Error('Undo')
        })
      } catch {}
      await setting
    })
    expect(await pending(object)).toBeUndefined()
    await object.inside(({ alarms }) => alarms.set('other', FAR_AHEAD + MINUTE))
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })
})

describe('a named alarm that fails', () => {
  it('is retried with back-off, its attempt counted and its key kept, and then dropped with a report', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object, clock, calls, events } = named({
      handler: () => {
        throw new RangeError('It failed')
      },
      alarms: { retries: { delay: (attempt) => attempt * 10 * SECOND } },
    })
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + SECOND))
    const starts = [0, 10, 30, 60, 100].map((second) => FAR_AHEAD + SECOND + second * SECOND)
    for (const at of starts) {
      expect(await object.alarmAt()).toBe(at)
      clock.moveTo(at)
      await object.fireAlarm()
    }
    expect(calls.map(({ attempt, startedAt }) => [attempt, startedAt])).toEqual(
      starts.map((at, index) => [index + 1, at]),
    )
    expect(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
    expect(await pending(object)).toBeUndefined()
    expect(events.map(({ type }) => type)).toEqual([
      ...Array(4).fill(['started', 'retry']).flat(),
      'started',
      'dead_lettered',
    ])
    const lines = errors.mock.calls.flat().map((line): unknown => JSON.parse(`${line}`))
    expect(lines).toMatchObject([{ name: 'renew', error: { name: 'RangeError', message: 'It failed' } }])
  })

  it('by default is tried five times', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object, clock, calls } = named({
      handler: () => Promise.reject(new Error('It failed')),
    })
    await object.inside(({ alarms }) => alarms.set('renew', 1))
    for (let pass = 0; pass < 8; pass += 1) {
      clock.moveBy(10 * MINUTE)
      await object.fireIfDue()
    }
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
  })

  it('has another key when it is set anew', async () => {
    const { object, clock, calls } = named()
    for (let occurrence = 1; occurrence <= 3; occurrence += 1) {
      await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + SECOND))
      clock.moveTo(FAR_AHEAD + SECOND)
      await object.pass()
    }
    expect(new Set(calls.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(3)
  })

  it('by exceeding attemptTimeoutMs has its signal aborted, and is retried', async () => {
    let calls = 0
    let reason: unknown
    const { object, clock } = named({
      handler: ({ signal }) => {
        calls += 1
        if (calls > 1) return undefined
        return new Promise((_, reject) => {
          signal.addEventListener('abort', () => {
            reason = signal.reason
            reject(signal.reason)
          })
        })
      },
      alarms: { attemptTimeoutMs: 30, retries: { delay: () => 0 } },
    })
    await object.inside(({ alarms }) => alarms.set('renew', 1))
    await untilWithAlarms(object, clock, 'it is retried', () => calls === 2)
    expect(reason).toMatchObject({ name: 'AlarmTimeoutError' })
    await until('it is done', async () => (await pending(object)) === undefined)
  })

  it('is retried after its timeout also when its abort listener throws', async () => {
    const { object, clock, calls } = named({
      handler: ({ attempt, signal }) => {
        if (attempt > 1) return undefined
        signal.addEventListener('abort', () => {
          throw new Error('The listener failed')
        })
        return never
      },
      alarms: { attemptTimeoutMs: 30, retries: { delay: () => 0 } },
    })
    await object.inside(({ alarms }) => alarms.set('renew', 1))
    await untilWithAlarms(object, clock, 'it is retried', () => calls.length === 2, 2_000)
    await until('it is done', async () => (await pending(object)) === undefined)
  })

  it('takes retries and attemptTimeoutMs from methods of its name', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object, clock, calls } = named({
      handler: () => {
        throw new Error('It failed')
      },
      alarms: {
        retries: { maxAttempts: 4, delay: () => 0 },
        methods: { renew: { retries: { maxAttempts: 2 } } },
      },
    })
    await object.inside(({ alarms }) => Promise.all([alarms.set('renew', 1), alarms.set('other', 1)]))
    const isDropped = async (name: string) => (await pending(object, name)) === undefined
    await untilWithAlarms(
      object,
      clock,
      'both are dropped',
      async () => (await isDropped('renew')) && (await isDropped('other')),
    )
    expect(calls.filter(({ name }) => name === 'renew')).toHaveLength(2)
    expect(calls.filter(({ name }) => name === 'other')).toHaveLength(4)
  })
})

describe('a named alarm and crashes', () => {
  it('is run again after a crash, at least once, its attempt counted', async () => {
    let hangs = true
    const { object, clock, calls } = named({ handler: () => (hangs ? never : undefined) })
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + SECOND))
    clock.moveBy(SECOND)
    object.startAlarm()
    await until('it runs', () => calls.length === 1)
    expect(await pending(object)).toMatchObject({ attempt: 1 })
    hangs = false
    await crash()
    expect(await object.alarmAt()).toBeGreaterThan(clock.now())
    clock.moveBy(15 * SECOND)
    await object.fireAlarm()
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2])
    expect(calls[1]?.idempotencyKey).toBe(calls[0]?.idempotencyKey)
    expect(await pending(object)).toBeUndefined()
  })

  it('that kills its object each time is called maxAttempts times', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { context, kill } = killer()
    const { object, clock, calls } = named({
      context,
      handler: kill,
      alarms: { retries: { delay: () => 0 } },
    })
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + SECOND))
    clock.moveBy(SECOND)
    for (let attempt = 1; attempt <= 5; attempt += 1) {
      object.startAlarm()
      await until('it was called', () => calls.length === attempt)
      clock.moveBy(15 * SECOND)
    }
    await until('it is dropped', async () => {
      await object.pass()
      return (await pending(object)) === undefined
    })
    expect(calls.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5])
  })

  it('that crash-loops on the platform’s own alarms ends, and does not stop the schedule', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { context, kill } = killer()
    const calls: number[] = []
    const object = setup({
      context,
      scheduler: { alarmMinDelayMs: 1_000 },
      alarms: {
        handlers: {
          renew: ({ attempt }) => {
            calls.push(attempt)
            kill()
          },
        },
        retries: { maxAttempts: 2, delay: () => 0 },
      },
    })
    await object.set({ expression: 'every 200', version: 1 })
    await object.inside(({ alarms }) => alarms.set('renew', Date.now() + 300))
    await until('both attempts', () => calls.length === 2, 15_000)
    const { length } = object.seen.deliveries
    await until('the schedule goes on', () => object.seen.deliveries.length > length + 3, 10_000)
    expect(calls).toEqual([1, 2])
    const times = object.seen.runTimes
    expect(new Set(times).size).toBe(times.length)
  })
})

describe('a named alarm that is changed while it runs', () => {
  it('set again: the running handler finishes, the replacement runs after it, and only its own goes', async () => {
    const { object, clock, calls, gate } = await running()
    const later = clock.now() + 5 * SECOND
    await object.inside(({ alarms }) => alarms.set('renew', later))
    gate.resolve()
    await until('the pass is over', () => object.seen.passes.every(({ state }) => state === 'returned'))
    expect(await pending(object)).toMatchObject({ scheduledTime: later, attempt: 0 })
    expect(await object.alarmAt()).toBe(later)
    clock.moveTo(later)
    await object.fireAlarm()
    expect(calls.map(({ scheduledTime }) => scheduledTime)).toEqual([FAR_AHEAD + SECOND, later])
    expect(await pending(object)).toBeUndefined()
  })

  it('set again for now runs once more, only after the running one is done', async () => {
    const { object, clock, calls, gate } = await running()
    await object.inside(({ alarms }) => alarms.set('renew', 1))
    await realTime(30)
    expect(calls).toHaveLength(1)
    gate.resolve()
    await untilWithAlarms(object, clock, 'the replacement', () => calls.length === 2)
    await until('nothing is pending', async () => (await pending(object)) === undefined)
  })

  it('set by its own handler recurs, and does not wait for it', async () => {
    const clock = freezeClock()
    const times: number[] = []
    const object = setup({
      alarms: {
        handlers: {
          renew: async ({ scheduledTime }) => {
            times.push(scheduledTime)
            if (times.length < 4) await set(scheduledTime + MINUTE)
          },
        },
      },
    })
    const set = (at: number) => object.inside(({ alarms }) => alarms.set('renew', at))
    await set(FAR_AHEAD + MINUTE)
    for (let minute = 1; minute <= 5; minute += 1) {
      clock.moveTo(FAR_AHEAD + minute * MINUTE)
      await object.fireIfDue()
    }
    expect(times).toEqual([1, 2, 3, 4].map((minute) => FAR_AHEAD + minute * MINUTE))
  })

  it('replaced while it fails: its failure does not touch the replacement', async () => {
    const { object, clock, calls, gate } = await running()
    const later = clock.now() + 5 * SECOND
    await object.inside(({ alarms }) => alarms.set('renew', later))
    gate.reject(new Error('It failed'))
    await until('the pass is over', () => object.seen.passes.every(({ state }) => state === 'returned'))
    expect(await pending(object)).toMatchObject({ scheduledTime: later, attempt: 0, nextAttemptAt: later })
    expect(calls).toHaveLength(1)
  })

  it('cancelled: the handler finishes, and nothing is left', async () => {
    const { object, gate, events } = await running()
    expect(await object.inside(({ alarms }) => alarms.cancel('renew'))).toBe(true)
    gate.reject(new Error('It failed'))
    await until('the pass is over', () => object.seen.passes.every(({ state }) => state === 'returned'))
    expect(await pending(object)).toBeUndefined()
    expect(await object.alarmAt()).toBeNull()
    expect(events.map(({ type }) => type)).not.toContain('dead_lettered')
  })
})

describe('a named alarm whose handler a deploy removed', () => {
  it('is kept with back-off and a report, and runs once the handler is back', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const calls: NamedAlarmInfo[] = []
    const handlers: { renew?: NamedAlarmHandler } = { renew: (info) => calls.push(info) }
    const object = setup({ alarms: { handlers: handlers as Record<string, NamedAlarmHandler> } })
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + SECOND))
    delete handlers.renew
    await crash()
    clock.moveBy(SECOND)
    const delays: number[] = []
    for (let miss = 0; miss < 6; miss += 1) {
      await object.fireAlarm()
      const alarmAt = (await object.alarmAt()) ?? 0
      delays.push(alarmAt - clock.now())
      clock.moveTo(alarmAt)
    }
    expect(delays.every((ms, index) => ms >= 1_000 && ms > (delays[index - 1] ?? 0))).toBe(true)
    expect(errors).toHaveBeenCalledTimes(6)
    expect(await pending(object)).toMatchObject({ attempt: 0 })
    handlers.renew = (info) => calls.push(info)
    await crash()
    await object.fireAlarm()
    expect(calls).toMatchObject([{ attempt: 1, scheduledTime: FAR_AHEAD + SECOND }])
    expect(await pending(object)).toBeUndefined()
  })

  it('does not delay the other alarms', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const calls: number[] = []
    const handlers: { gone?: NamedAlarmHandler; other: NamedAlarmHandler } = {
      gone: () => {},
      other: () => calls.push(Date.now()),
    }
    const object = setup({ alarms: { handlers: handlers as Record<string, NamedAlarmHandler> } })
    await object.inside(({ alarms }) => alarms.set('gone', FAR_AHEAD + SECOND))
    delete handlers.gone
    await crash()
    await object.inside(({ alarms }) => alarms.set('other', FAR_AHEAD + 2 * SECOND))
    for (let second = 1; second <= 3; second += 1) {
      clock.moveTo(FAR_AHEAD + second * SECOND)
      await object.fireIfDue()
    }
    expect(calls).toEqual([FAR_AHEAD + 2 * SECOND])
  })
})

describe('named alarms and permits', () => {
  it('run alarmConcurrency at once, in the order they came due', async () => {
    const clock = freezeClock()
    const names = Array.from({ length: 9 }, (_, index) => `job ${index}`)
    const gates = new Map(names.map((name) => [name, Promise.withResolvers<void>()]))
    const started: string[] = []
    const handler = ({ name }: NamedAlarmInfo) => {
      started.push(name)
      return gates.get(name)?.promise
    }
    const object = setup({
      scheduler: { alarmConcurrency: 3 },
      alarms: { handlers: Object.fromEntries(names.map((name) => [name, handler])) },
    })
    await object.inside(({ alarms }) =>
      Promise.all(names.map((name) => alarms.set(name, FAR_AHEAD + SECOND))),
    )
    clock.moveBy(SECOND)
    object.startAlarm()
    for (let done = 0; done < names.length; done += 1) {
      await until('three at once', () => started.length === Math.min(done + 3, names.length))
      await realTime(5)
      expect(started).toEqual(names.slice(0, done + 3))
      gates.get(names[done] ?? '')?.resolve()
    }
    await until('the pass is over', () => object.seen.passes[0]?.state === 'returned')
  })

  it('take none from the schedule, whose limit is its own', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const { object, calls } = named({
      clock,
      handler: () => gate.promise,
      scheduler: { alarmConcurrency: 1, liveTimers: true },
    })
    await object.set({ expression: 'every 1000', version: 1 })
    await object.inside(({ alarms }) => alarms.set('renew', 1))
    await until('it takes the only permit', () => calls.length === 1)
    clock.moveBy(SECOND)
    object.startAlarm()
    await until('the schedule runs', () => object.seen.deliveries.length === 1)
    gate.resolve()
  })

  it('a user’s helper waits for them in the same queue, and gives one back only once', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const { object, calls } = named({
      clock,
      handler: () => gate.promise,
      scheduler: { alarmConcurrency: 1 },
    })
    await object.inside(({ alarms }) => alarms.set('renew', 1))
    await until('it takes the only permit', () => calls.length === 1)
    const order: string[] = []
    await object.inside(async ({ scheduler, alarms }) => {
      const port = scheduler.attach({ name: 'own', nextAt: () => undefined, run: () => {} })
      const mine = port.acquirePermit().then((release) => {
        order.push('own')
        release()
        release()
      })
      await alarms.set('other', 1)
      gate.resolve()
      await mine
    })
    await until('the other runs', () => calls.length === 2)
    expect(order).toEqual(['own'])
  })
})

describe('named alarms beside a schedule in one object', () => {
  it('each keep their times while nothing holds', async () => {
    const { object, clock, calls } = named()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + 90 * SECOND))
    const alarmTimes: (number | null)[] = []
    for (let second = 0; second <= 180; second += 30) {
      clock.moveTo(FAR_AHEAD + second * SECOND)
      await object.fireIfDue()
      alarmTimes.push(await object.alarmAt())
    }
    expect(object.seen.runs.map(({ startedAt }) => startedAt - FAR_AHEAD)).toEqual([60_000, 120_000, 180_000])
    expect(calls.map(({ startedAt }) => startedAt - FAR_AHEAD)).toEqual([90_000])
    expect(alarmTimes.map((at) => (at ?? 0) - FAR_AHEAD)).toEqual(
      [60, 60, 90, 120, 180, 180, 240].map((second) => second * SECOND),
    )
  })

  it('each keep their times with liveTimers while a run holds', async () => {
    const lag = probeLag()
    const gate = Promise.withResolvers<void>()
    const times: number[] = []
    const object = setup({
      scheduler: { liveTimers: true },
      schedule: { run: () => gate.promise, maxConcurrentRuns: 100 },
      alarms: {
        handlers: {
          renew: async ({ scheduledTime }) => {
            times.push(Date.now() - scheduledTime)
            if (times.length < 5)
              await object.inside(({ alarms }) => alarms.set('renew', scheduledTime + 130))
          },
        },
      },
    })
    await object.set({ expression: 'every 100', version: 1 })
    await until('a run holds the pass', () => object.seen.runs.length === 1)
    await object.inside(({ alarms }) => alarms.set('renew', Date.now() + 50))
    await until('five alarms', () => times.length === 5, 4_000)
    const late = [...times, ...object.seen.runs.map(({ startedAt, dueAt }) => startedAt - dueAt)]
    expect(Math.min(...late)).toBeGreaterThanOrEqual(0)
    expect(Math.max(...late)).toBeLessThan(50 + lag.stop())
    gate.resolve()
  })

  it('a cancel of one leaves the alarm of the other', async () => {
    const { object } = named()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + 10 * SECOND))
    await object.inside(({ alarms }) => alarms.cancel('renew'))
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + 2 * MINUTE))
    await object.cancel()
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
  })

  it('that hang do not delay the schedule', async () => {
    const { object, clock } = named({ handler: () => never })
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + MINUTE))
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('the schedule is on time', () => object.seen.deliveries.length === 1)
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('and again', () => object.seen.deliveries.length === 2)
  })

  it('deleteAll() during an attempt ends it without an error or a revival', async () => {
    const { object, gate } = await running()
    await object.inside(({ ctx }) => ctx.storage.deleteAll())
    gate.resolve()
    await until('the pass is over', () => object.seen.passes.every(({ state }) => state === 'returned'))
    expect(await pending(object)).toBeUndefined()
    expect(object.seen.retries).toEqual([])
    expect(await object.alarmAt()).toBeNull()
  })
})

interface NamedOptions extends Pick<SetupOptions, 'scheduler' | 'context'> {
  readonly handler?: (info: NamedAlarmInfo) => unknown
  readonly alarms?: Omit<NonNullable<SetupOptions['alarms']>, 'handlers'>
  readonly clock?: ReturnType<typeof freezeClock>
}

/** An object with the named alarms `renew` and `other`. */
function named({ handler = () => {}, alarms = {}, clock = freezeClock(), ...options }: NamedOptions = {}) {
  const calls: (NamedAlarmInfo & { startedAt: number })[] = []
  const events: NamedAlarmEvent[] = []
  const recorded = (info: NamedAlarmInfo) => {
    calls.push({ ...info, startedAt: Date.now() })
    return handler(info)
  }
  const object = setup({
    ...options,
    alarms: {
      ...alarms,
      handlers: { renew: recorded, other: recorded },
      onLifecycleEvent: (event) => events.push(event),
    },
  })
  return { object, clock, calls, events }
}

/** The alarm `renew` in its handler, which waits for the gate the first time. */
async function running() {
  const gate = Promise.withResolvers<void>()
  const made = named({ handler: () => gate.promise, alarms: { retries: { maxAttempts: 1 } } })
  await made.object.inside(({ alarms }) => alarms.set('renew', FAR_AHEAD + SECOND))
  made.clock.moveBy(SECOND)
  made.object.startAlarm()
  await until('it runs', () => made.calls.length === 1)
  return { ...made, gate }
}

/** Moves the clock on by a millisecond and fires the alarm when it is due, as the platform would, until it holds. */
function untilWithAlarms(
  object: ReturnType<typeof setup>,
  clock: ReturnType<typeof freezeClock>,
  what: string,
  holds: () => boolean | Promise<boolean>,
  withinMs = 10_000,
): Promise<void> {
  const holdsAfterAlarm = async () => {
    clock.moveBy(1)
    const alarmAt = await object.alarmAt()
    if (alarmAt !== null && alarmAt <= clock.now()) object.startAlarm()
    return holds()
  }
  return until(what, holdsAfterAlarm, withinMs)
}

function pending(object: ReturnType<typeof setup>, name = 'renew') {
  return object.inside(({ alarms }) => alarms.get(name))
}
