import { describe, expect, it, vi } from 'vitest'
import type { DurabilityScheduleOptions } from '../../src/experimental/index.ts'
import { forwarding, withStorage } from './support/forwarding.ts'
import { crash, type SetupOptions, setup } from './support/setup.ts'
import { FAR_AHEAD, freezeClock, realTime, until } from './support/time.ts'

const MINUTE = 60_000
const HOUR = 60 * MINUTE
const MINUTELY = `every ${MINUTE}`
const never = new Promise<never>(() => {})

describe('the outcome of a run', () => {
  it.each([
    { how: 'returns', run: () => 'anything', outcome: { status: 'complete' } },
    { how: 'resolves', run: async () => 'anything', outcome: { status: 'complete' } },
    {
      how: 'returns a thenable that resolves',
      // biome-ignore lint/suspicious/noThenProperty: a handler may answer with any thenable.
      run: () => ({ then: (resolve: () => void) => resolve() }),
      outcome: { status: 'complete' },
    },
    {
      how: 'throws',
      run: () => {
        throw new RangeError('Too much')
      },
      outcome: { status: 'errored', error: { name: 'RangeError', message: 'Too much' } },
    },
    {
      how: 'rejects',
      run: () => Promise.reject(new TypeError('Wrong')),
      outcome: { status: 'errored', error: { name: 'TypeError', message: 'Wrong' } },
    },
    {
      how: 'returns a thenable that throws',
      run: () => ({
        // biome-ignore lint/suspicious/noThenProperty: this is what a hostile handler returns.
        then: () => {
          throw new Error('From then')
        },
      }),
      outcome: { status: 'errored', error: { name: 'Error', message: 'From then' } },
    },
  ])('whose handler $how is told once', async ({ run, outcome }) => {
    const { object } = await ran({ schedule: { run } })
    expect(object.seen.deliveries.map((delivery) => delivery.outcome)).toEqual([outcome])
    expect(await object.rows()).toEqual([])
  })

  it.each(hostileValues())(
    'whose handler throws $what is described, never a crash',
    async ({ thrown, described }) => {
      const { object } = await ran({
        schedule: {
          run: () => {
            throw thrown()
          },
        },
      })
      expect(object.seen.deliveries.map(({ outcome }) => outcome)).toEqual([
        { status: 'errored', error: described ?? { name: expect.any(String), message: expect.any(String) } },
      ])
      expect(await object.rows()).toEqual([])
      expect(object.seen.retries).toEqual([])
    },
  )

  it('has its error’s name and message cut to 128 and 2,048 characters', async () => {
    const { object } = await ran({
      schedule: {
        run: () => {
          const error = new Error('m'.repeat(3_000_000))
          error.name = 'n'.repeat(3_000_000)
          throw error
        },
      },
    })
    const outcome = object.seen.deliveries[0]?.outcome
    if (outcome?.status !== 'errored') throw new Error('The run should have failed')
    expect(outcome.error.name).toHaveLength(128)
    expect(outcome.error.message).toHaveLength(2_048)
  })

  it('is the same at each delivery, over crashes', async () => {
    let failures = 3
    const { object, clock } = await ran({
      schedule: {
        run: () => {
          throw new Error('It said "ü", \u0000, \ud800 and 😀')
        },
        onOutcome: () => {
          failures -= 1
          if (failures >= 0) throw new Error('The receiver is down')
        },
        outcomeRetries: { delay: () => 20_000 },
      },
    })
    for (let attempt = 0; attempt < 3; attempt += 1) {
      await crash()
      clock.moveBy(20_000)
      await object.fireIfDue()
    }
    const told = object.seen.deliveries
      .filter(({ run }) => run.scheduledTime === FAR_AHEAD + MINUTE)
      .map(({ run: { attempt: _, ...run }, outcome }) => JSON.stringify({ run, outcome }))
    expect(told).toHaveLength(4)
    expect(new Set(told).size).toBe(1)
  })

  it('is the same again after a receiver changed what it was given', async () => {
    const heard: string[] = []
    const { object } = await ran({
      schedule: {
        run: () => {
          throw new Error('The handler’s own')
        },
        onOutcome: (run, outcome) => {
          const told = JSON.stringify({ ...run, attempt: 0, outcome })
          Object.assign(outcome, { status: 'complete', error: undefined })
          Object.assign(run, { scheduledTime: 1, idempotencyKey: 'changed' })
          if (heard.push(told) < 3) throw new Error('The receiver is down')
        },
        outcomeRetries: { delay: () => 0 },
      },
    })
    expect(heard).toHaveLength(3)
    expect(new Set(heard).size).toBe(1)
    expect(await object.rows()).toEqual([])
  })

  it('is stored before it is first delivered', async () => {
    const rows: unknown[] = []
    let objectRows = () => Promise.resolve<unknown>(undefined)
    const { object } = await ran({
      schedule: {
        onOutcome: async () => {
          rows.push(await objectRows())
        },
      },
      onMade: (made) => {
        objectRows = () => made.rows()
      },
    })
    expect(rows).toMatchObject([[{ state: 2 }]])
    expect(object.seen.deliveries).toHaveLength(1)
  })
})

describe('a delivery that fails', () => {
  it('is made again after outcomeRetries.delay of its attempt, from 1', async () => {
    const asked: number[] = []
    const { object, clock } = await ran({
      schedule: {
        onOutcome: ({ attempt }) => {
          if (attempt < 4) throw new Error('The receiver is down')
        },
        outcomeRetries: {
          delay: (attempt) => {
            asked.push(attempt)
            return attempt * 16_000
          },
        },
      },
      expression: `at ${FAR_AHEAD + MINUTE},${FAR_AHEAD + 24 * HOUR}`,
    })
    for (const delayMs of [16_000, 32_000, 48_000]) {
      expect(await object.alarmAt()).toBe(clock.now() + delayMs)
      clock.moveBy(delayMs - 1)
      await object.fireAlarm()
      clock.moveBy(1)
      await object.fireAlarm()
    }
    expect(asked).toEqual([1, 2, 3])
    expect(object.seen.deliveries.map(({ run }) => run.attempt)).toEqual([1, 2, 3, 4])
    expect(await object.rows()).toEqual([])
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 24 * HOUR)
  })

  it('and is retried far away does not hold the pass; the alarm is the earlier of tick and retry', async () => {
    const { object, clock } = await ran({
      schedule: { onOutcome: failing, outcomeRetries: { delay: () => 10 * MINUTE } },
    })
    expect(object.seen.passes[0]?.state).toBe('returned')
    expect(await object.alarmAt()).toBe(clock.now() + MINUTE)
    await object.cancel()
    expect(await object.alarmAt()).toBe(clock.now() + 10 * MINUTE)
  })

  it('and is retried soon is retried within the pass', async () => {
    const { object } = await ran({
      schedule: {
        onOutcome: ({ attempt }) => {
          if (attempt < 5) throw new Error('The receiver is down')
        },
        outcomeRetries: { delay: () => 0 },
      },
    })
    expect(object.seen.deliveries.map(({ run }) => run.attempt)).toEqual([1, 2, 3, 4, 5])
    expect(object.seen.passes).toHaveLength(1)
  })

  it('by exceeding outcomeTimeoutMs frees its slot at once, and its late answer is ignored', async () => {
    const gate = Promise.withResolvers<void>()
    const { object } = await ran({
      schedule: {
        onOutcome: ({ attempt }) => (attempt === 1 ? gate.promise : undefined),
        outcomeTimeoutMs: 30,
        maxConcurrentDeliveries: 1,
        outcomeRetries: { delay: () => 0 },
      },
    })
    expect(object.seen.deliveries.map(({ run }) => run.attempt)).toEqual([1, 2])
    expect(object.seen.events.find(({ type }) => type === 'outcome_retry')).toMatchObject({
      error: { name: 'OutcomeDeliveryError' },
    })
    gate.reject(new Error('Too late'))
    await realTime(30)
    expect(object.seen.deliveries).toHaveLength(2)
    expect(await object.rows()).toEqual([])
  })

  it('late and successful is not an acknowledgement: the retry is', async () => {
    const late = Promise.withResolvers<void>()
    const retry = Promise.withResolvers<void>()
    const { object } = await ran(
      {
        schedule: {
          onOutcome: ({ attempt }) => (attempt === 1 ? late.promise : retry.promise),
          outcomeTimeoutMs: 100,
          outcomeRetries: { delay: () => 0 },
        },
      },
      'start',
    )
    await until('the retry', () => object.seen.deliveries.length === 2)
    late.resolve()
    await realTime(20)
    expect(await object.rows()).toHaveLength(1)
    retry.resolve()
    await until('it is acknowledged', async () => (await object.rows()).length === 0)
  })

  it.each([
    {
      what: 'throws',
      delay: () => {
        throw new Error('The delay failed')
      },
      from: 500,
      to: 1_000,
    },
    { what: 'is NaN', delay: () => Number.NaN, from: 500, to: 1_000 },
    { what: 'is no number', delay: () => '5' as unknown as number, from: 500, to: 1_000 },
    { what: 'is null', delay: () => null as unknown as number, from: 500, to: 1_000 },
    { what: 'is a boolean', delay: () => true as unknown as number, from: 500, to: 1_000 },
    { what: 'is undefined', delay: () => undefined as unknown as number, from: 500, to: 1_000 },
    { what: 'is a promise', delay: () => Promise.resolve(5) as unknown as number, from: 500, to: 1_000 },
    { what: 'is infinite', delay: () => Number.POSITIVE_INFINITY, from: 24 * HOUR, to: 24 * HOUR },
    { what: 'is a year', delay: () => 365 * 24 * HOUR, from: 24 * HOUR, to: 24 * HOUR },
    { what: 'is negative', delay: () => -5_000, from: 0, to: 0 },
    { what: 'is a fraction', delay: () => 99_999.5, from: 99_999, to: 100_000 },
  ])('with a delay that $what is retried after $from to $to ms', async ({ delay, from, to }) => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object, clock } = await ran(
      { schedule: { onOutcome: failing, outcomeRetries: { delay, maxAttempts: 2 } } },
      'start',
    )
    await until('it failed', () => object.seen.events.some(({ type }) => type === 'outcome_retry'))
    const retry = object.seen.events.find(({ type }) => type === 'outcome_retry')
    if (retry?.type !== 'outcome_retry') throw new Error('There is no retry')
    expect(retry.nextAttemptAt).toBeGreaterThanOrEqual(clock.now() + from)
    expect(retry.nextAttemptAt).toBeLessThanOrEqual(clock.now() + to)
    expect(Number.isSafeInteger(retry.nextAttemptAt)).toBe(true)
  })

  it('by default is retried after half a second to a second', async () => {
    const { object, clock } = await ran({ schedule: { onOutcome: failing } }, 'start')
    await until('it failed', () => object.seen.events.some(({ type }) => type === 'outcome_retry'))
    const retry = object.seen.events.find(({ type }) => type === 'outcome_retry')
    if (retry?.type !== 'outcome_retry') throw new Error('There is no retry')
    expect(retry.nextAttemptAt - clock.now()).toBeGreaterThanOrEqual(500)
    expect(retry.nextAttemptAt - clock.now()).toBeLessThanOrEqual(1_000)
  })

  it('maxAttempts times is a dead letter: one JSON line, one event, and its row is gone', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object } = await ran({
      schedule: {
        run: () => {
          throw new RangeError('The run’s own')
        },
        onOutcome: failing,
        outcomeRetries: { maxAttempts: 3, delay: () => 0 },
      },
    })
    expect(object.seen.deliveries).toHaveLength(3)
    expect(await object.rows()).toEqual([])
    const outcome = { status: 'errored', error: { name: 'RangeError', message: 'The run’s own' } }
    const lines = errors.mock.calls.filter(([line]) => `${line}`.includes('outcome_dead_lettered'))
    expect(lines).toHaveLength(1)
    expect(lines[0]).toHaveLength(1)
    expect(JSON.parse(`${lines[0]?.[0]}`)).toMatchObject({
      event: 'durability.schedule.outcome_dead_lettered',
      scheduledTime: FAR_AHEAD + MINUTE,
      idempotencyKey: expect.stringContaining(`:${FAR_AHEAD + MINUTE}`),
      version: 1,
      outcome,
      error: { message: 'The receiver is down' },
    })
    expect(object.seen.events.filter(({ type }) => type === 'dead_lettered')).toMatchObject([
      { outcome, attempts: 3 },
    ])
  })

  it('ten times by default is a dead letter', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object } = await ran({ schedule: { onOutcome: failing, outcomeRetries: { delay: () => 0 } } })
    expect(object.seen.deliveries).toHaveLength(10)
    expect(await object.rows()).toEqual([])
  })

  it('merges a partial outcomeRetries with the defaults', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { object } = await ran({ schedule: { onOutcome: failing, outcomeRetries: { maxAttempts: 1 } } })
    expect(object.seen.deliveries).toHaveLength(1)
    expect(await object.rows()).toEqual([])
  })

  it('does not delay the deliveries of other runs', async () => {
    const { object, clock } = await ran({
      schedule: {
        onOutcome: ({ scheduledTime }) => {
          if (scheduledTime === FAR_AHEAD + MINUTE) throw new Error('The receiver is down')
        },
        outcomeRetries: { delay: () => HOUR },
      },
    })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(await object.status()).toMatchObject({ undelivered: 1 })
    expect(object.seen.deliveries.map(({ run }) => run.scheduledTime)).toEqual([
      FAR_AHEAD + MINUTE,
      FAR_AHEAD + 2 * MINUTE,
    ])
  })
})

describe('a schedule without onOutcome', () => {
  it('deletes the row as the run settles', async () => {
    const { object } = await ran({ withoutOutcomes: true })
    expect(await object.rows()).toEqual([])
    expect(await object.status()).toMatchObject({ undelivered: 0, running: 0 })
  })

  it('deletes the row of an interrupted run, and says so in an event', async () => {
    const { object } = await ran({ withoutOutcomes: true, schedule: { run: () => never } }, 'start')
    await until('it runs', () => object.seen.runs.length === 1)
    await crash()
    await object.pass()
    expect(await object.rows()).toEqual([])
    expect(object.seen.events.at(-1)).toMatchObject({
      type: 'settled',
      outcome: 'errored',
      error: { name: 'ScheduledRunInterruptedError' },
    })
  })

  it('after a deploy removed it, dead-letters what waits, with an event', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const options: { withoutOutcomes?: boolean; schedule: Partial<DurabilityScheduleOptions> } = {
      schedule: { onOutcome: failing, outcomeRetries: { delay: () => 20_000 } },
    }
    const { object, clock } = await ran(options)
    options.withoutOutcomes = true
    await crash()
    clock.moveBy(20_000)
    await object.fireAlarm()
    expect(await object.rows()).toEqual([])
    expect(object.seen.deliveries).toHaveLength(1)
    expect(object.seen.events.at(-1)).toMatchObject({
      type: 'dead_lettered',
      outcome: { status: 'complete' },
    })
    expect(errors.mock.calls.filter(([line]) => `${line}`.includes('outcome_dead_lettered'))).toHaveLength(1)
  })
})

describe('an outcome that cannot be stored', () => {
  it('is kept in memory and stored later; the handler is not called again', async () => {
    const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
    const storage = { isFull: false }
    const { object } = await ran(
      {
        scheduler: { alarmMinDelayMs: 1_000 },
        schedule: {
          run: () => {
            storage.isFull = true
          },
        },
        context: (ctx) => fillable(ctx, storage),
      },
      'start',
    )
    await until('it was tried', () => errors.mock.calls.length > 0)
    expect(object.seen.deliveries).toEqual([])
    storage.isFull = false
    await until('it is delivered', () => object.seen.deliveries.length === 1, 4_000)
    expect(object.seen.runs).toHaveLength(1)
    await until('its row is gone', async () => (await object.rows()).length === 0)
  })

  it('after an acknowledgement is not delivered again by this instance', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const storage = { isFull: false }
    const { object } = await ran(
      {
        scheduler: { alarmMinDelayMs: 1_000 },
        schedule: {
          onOutcome: () => {
            storage.isFull = true
          },
        },
        context: (ctx) => fillable(ctx, storage),
      },
      'start',
    )
    await until('it was delivered', () => object.seen.deliveries.length === 1)
    await realTime(50)
    storage.isFull = false
    await until('its row is gone', async () => (await object.rows()).length === 0, 4_000)
    expect(object.seen.deliveries).toHaveLength(1)
  })
})

function failing(): never {
  throw new Error('The receiver is down')
}

/** A storage whose run rows cannot be changed while it is full. */
function fillable(ctx: DurableObjectState, storage: { readonly isFull: boolean }): DurableObjectState {
  return withStorage(ctx, ({ sql }) => ({
    sql: forwarding(sql, {
      exec: (query: string, ...bindings: unknown[]) => {
        if (storage.isFull && !query.startsWith('SELECT'))
          throw new Error('database or disk is full: SQLITE_FULL')
        return sql.exec(query, ...bindings)
      },
    }),
  }))
}

interface RanOptions extends SetupOptions {
  readonly expression?: string
  readonly onMade?: (object: ReturnType<typeof setup>) => void
}

/** A minutely schedule whose first tick was fired. */
async function ran(options: RanOptions, how: 'wait' | 'start' = 'wait') {
  const clock = freezeClock()
  const object = setup(options)
  options.onMade?.(object)
  await object.set({ expression: options.expression ?? MINUTELY, version: 1 })
  clock.moveBy(MINUTE)
  if (how === 'wait') await object.fireAlarm()
  else object.startAlarm()
  return { object, clock }
}

function hostileValues(): {
  what: string
  thrown: () => unknown
  described?: { name: unknown; message: unknown }
}[] {
  return [
    { what: 'undefined', thrown: () => undefined },
    { what: 'null', thrown: () => null },
    {
      what: 'a string',
      thrown: () => 'plain text',
      described: { name: expect.any(String), message: expect.stringContaining('plain text') },
    },
    { what: 'a symbol', thrown: () => Symbol('odd') },
    { what: 'a bigint', thrown: () => 12n },
    { what: 'a function', thrown: () => () => {} },
    { what: 'an object without a prototype', thrown: () => Object.create(null) },
    { what: 'a frozen error', thrown: () => Object.freeze(new Error('Frozen')) },
    { what: 'a plain object', thrown: () => ({ code: 5 }) },
    { what: 'an object that refers to itself', thrown: selfReferring },
    {
      what: 'an error whose getters throw',
      thrown: () =>
        Object.defineProperties(new Error(), {
          name: { get: throwing },
          message: { get: throwing },
          stack: { get: throwing },
        }),
    },
    { what: 'a revoked proxy', thrown: revokedProxy },
    {
      what: 'a proxy that throws at everything',
      thrown: () =>
        new Proxy({}, { get: throwing, has: throwing, getPrototypeOf: throwing, ownKeys: throwing }),
    },
    { what: 'an object whose toString throws', thrown: () => ({ toString: throwing, toJSON: throwing }) },
    { what: 'an object whose toJSON answers undefined', thrown: () => ({ toJSON: () => undefined }) },
    {
      what: 'an error whose message is an object',
      thrown: () => Object.assign(new Error(), { message: { a: 1 } }),
    },
    { what: 'an error whose name is a number', thrown: () => Object.assign(new Error('x'), { name: 5 }) },
    {
      what: 'an error with NUL and half a surrogate pair',
      thrown: () => new Error('a\u0000b\ud800c'),
      described: { name: 'Error', message: 'a\ufffdb\ufffdc' },
    },
    { what: 'a DOMException', thrown: () => new DOMException('Stopped', 'AbortError') },
    { what: 'an AggregateError', thrown: () => new AggregateError([new Error('inner')], 'Several') },
    {
      what: 'an error of an empty message',
      thrown: () => new Error(''),
      described: { name: 'Error', message: '' },
    },
  ]
}

function throwing(): never {
  throw new Error('It throws when it is looked at')
}

function selfReferring(): object {
  const self: { self?: object } = {}
  self.self = self
  return self
}

function revokedProxy(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
