import { describe, expect, it } from 'vitest'
import { DurabilitySchedule, type DurabilityScheduleOptions } from '../../src/experimental/index.ts'
import {
  DurabilityAlarms,
  type DurabilityAlarmsOptions,
  DurabilityScheduler,
  type DurabilitySchedulerOptions,
  type SchedulerHelper,
} from '../../src/index.ts'
import { setup } from './support/setup.ts'
import { freezeClock } from './support/time.ts'

const TOO_LONG = 2 ** 31
/** What is no integer duration from 1: by its value, and by its type. */
const BAD_VALUES = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, TOO_LONG, 2_592_000_000]
const BAD_TYPES = [null, '5', true, {}, [], 5n, () => 5, new Date(5)]

describe.each([
  {
    name: 'DurabilityScheduler',
    construct: scheduler,
    durations: ['alarmHandoffMs', 'alarmMinDelayMs', 'alarmConcurrency'],
    functions: ['onAlarmRetry'],
  },
  {
    name: 'DurabilitySchedule',
    construct: schedule,
    durations: [
      'maxConcurrentRuns',
      'runTimeoutMs',
      'interruptedWithinMs',
      'outcomeTimeoutMs',
      'maxConcurrentDeliveries',
      'outcomeRetries.maxAttempts',
    ],
    functions: ['nextOccurrence', 'run', 'onOutcome', 'onLifecycleEvent', 'outcomeRetries.delay'],
  },
  {
    name: 'DurabilityAlarms',
    construct: alarms,
    durations: [
      'attemptTimeoutMs',
      'retries.maxAttempts',
      'methods.renew.attemptTimeoutMs',
      'methods.renew.retries.maxAttempts',
    ],
    functions: ['onLifecycleEvent', 'retries.delay', 'handlers.renew', 'methods.renew.retries.delay'],
  },
])('the options of $name', ({ construct, durations, functions }) => {
  it.each(durations.map((option) => ({ option })))(
    '$option out of range throw a RangeError that names it and its value',
    ({ option }) =>
      inObject((ctx) => {
        for (const value of BAD_VALUES) {
          const error = thrownBy(ctx, construct, option, value)
          expect(error, `${option} = ${value}`).toBeInstanceOf(RangeError)
          expect(`${error}`).toContain(option)
          expect(`${error}`).toContain(String(value))
        }
      }),
  )

  it.each(durations.map((option) => ({ option })))(
    '$option of another type throw a TypeError that names it',
    ({ option }) =>
      inObject((ctx) => {
        for (const value of BAD_TYPES) {
          const error = thrownBy(ctx, construct, option, value)
          expect(error, `${option} = ${typeof value}`).toBeInstanceOf(TypeError)
          expect(`${error}`).toContain(option)
        }
      }),
  )

  it.each(functions.map((option) => ({ option })))(
    '$option that is no function throws a TypeError that names it',
    ({ option }) =>
      inObject((ctx) => {
        for (const value of [null, 5, 'text', {}, true]) {
          const error = thrownBy(ctx, construct, option, value)
          expect(error, `${option} = ${typeof value}`).toBeInstanceOf(TypeError)
          expect(`${error}`).toContain(option)
        }
      }),
  )

  it('that are no object throw a TypeError', () =>
    inObject((ctx) => {
      for (const value of [undefined, null, 5, 'text']) {
        expect(thrownBy(ctx, construct, '', value)).toBeInstanceOf(TypeError)
      }
    }))
})

describe('limits of single options', () => {
  it.each([
    { option: 'alarmMinDelayMs', construct: scheduler, good: [1_000, 15_000], bad: [999, 15_001] },
    { option: 'alarmHandoffMs', construct: scheduler, good: [1, 899_999], bad: [900_000] },
    { option: 'alarmConcurrency', construct: scheduler, good: [1, 1_000], bad: [] },
    { option: 'runTimeoutMs', construct: schedule, good: [1, 2 ** 31 - 1], bad: [TOO_LONG] },
    { option: 'outcomeTimeoutMs', construct: schedule, good: [1, 2 ** 31 - 1], bad: [TOO_LONG] },
    { option: 'interruptedWithinMs', construct: schedule, good: [1, 2 ** 31 - 1], bad: [TOO_LONG] },
    { option: 'attemptTimeoutMs', construct: alarms, good: [1, 2 ** 31 - 1], bad: [TOO_LONG] },
  ])('$option: the first and last good value, and the first bad ones', ({ option, construct, good, bad }) =>
    inObject((ctx) => {
      for (const value of good) expect(thrownBy(ctx, construct, option, value)).toBeUndefined()
      for (const value of bad) expect(thrownBy(ctx, construct, option, value)).toBeInstanceOf(RangeError)
    }),
  )

  it('liveTimers that is no boolean throws a TypeError', () =>
    inObject((ctx) => {
      for (const value of [1, 'true', null]) {
        expect(thrownBy(ctx, scheduler, 'liveTimers', value)).toBeInstanceOf(TypeError)
      }
    }))

  it.each([
    { option: 'scheduler', construct: schedule },
    { option: 'scheduler', construct: alarms },
    { option: 'context', construct: scheduler },
    { option: 'outcomeRetries', construct: schedule },
    { option: 'handlers', construct: alarms },
    { option: 'methods', construct: alarms },
    { option: 'retries', construct: alarms },
  ])('$option that is no object throws a TypeError that names it', ({ option, construct }) =>
    inObject((ctx) => {
      for (const value of [null, 5, 'text']) {
        const error = thrownBy(ctx, construct, option, value)
        expect(error, `${value}`).toBeInstanceOf(TypeError)
        expect(`${error}`).toContain(option)
      }
    }),
  )

  it.each([
    { option: 'scheduler', construct: schedule },
    { option: 'scheduler', construct: alarms },
    { option: 'context', construct: scheduler },
  ])('$option that is another object throws a TypeError that names it', ({ option, construct }) =>
    inObject((ctx) => {
      for (const value of [{}, []]) {
        const error = thrownBy(ctx, construct, option, value)
        expect(error).toBeInstanceOf(TypeError)
        expect(`${error}`).toContain(option)
      }
    }),
  )

  it('methods without a handler of that name throw', () =>
    inObject((ctx) => {
      expect(thrownBy(ctx, alarms, 'methods.unknown', {})).toBeInstanceOf(RangeError)
    }))

  it('an undefined option is as one left out', () =>
    inObject((ctx) => {
      for (const option of ['runTimeoutMs', 'onOutcome', 'outcomeRetries', 'interruptedWithinMs']) {
        expect(thrownBy(ctx, schedule, option, undefined)).toBeUndefined()
      }
      for (const option of ['alarmHandoffMs', 'onAlarmRetry', 'liveTimers']) {
        expect(thrownBy(ctx, scheduler, option, undefined)).toBeUndefined()
      }
    }))
})

describe('helpers of one scheduler', () => {
  it('are one schedule, one DurabilityAlarms, and users’ own of different names', async () => {
    const object = setup()
    await object.inside(({ scheduler: own }) => {
      const options = { scheduler: own, nextOccurrence: () => undefined, run: () => {} }
      expect(() => new DurabilitySchedule(options)).toThrow(/already/)
      expect(() => new DurabilityAlarms({ scheduler: own, handlers: {} })).toThrow(/already/)
      const helper: SchedulerHelper = { name: 'own', nextAt: () => undefined, run: () => {} }
      own.attach(helper)
      expect(() => own.attach(helper)).toThrow(/own.*already/)
      own.attach({ ...helper, name: 'other' })
    })
  })

  it.each(badHelpers())('with $what are refused with a TypeError', async ({ helper }) => {
    const object = setup()
    await object.inside(({ scheduler: own }) =>
      expect(() => own.attach(helper as unknown as SchedulerHelper)).toThrow(TypeError),
    )
  })

  it('that are refused leave the scheduler usable', async () => {
    const object = setup()
    await object.inside(({ scheduler: own }) =>
      expect(() => own.attach({ name: '' } as unknown as SchedulerHelper)).toThrow(),
    )
    freezeClock()
    expect(await object.set({ expression: 'every 1000', version: 1 })).toBe(true)
  })
})

describe('the arguments of calls', () => {
  it.each([
    { what: 'no definition', definition: undefined, error: TypeError, names: 'definition' },
    { what: 'null', definition: null, error: TypeError, names: 'definition' },
    { what: 'no expression', definition: { version: 1 }, error: TypeError, names: 'expression' },
    {
      what: 'an expression that is no text',
      definition: { expression: 5, version: 1 },
      error: TypeError,
      names: 'expression',
    },
    {
      what: 'an expression of a megabyte',
      definition: { expression: 'x'.repeat(1_000_000), version: 1 },
      error: RangeError,
      names: 'expression',
    },
    {
      what: 'an expression with NUL',
      definition: { expression: 'a\u0000b', version: 1 },
      error: RangeError,
      names: 'expression',
    },
    {
      what: 'an expression with half a surrogate pair',
      definition: { expression: 'a\ud800', version: 1 },
      error: RangeError,
      names: 'expression',
    },
    { what: 'no version', definition: { expression: '' }, error: TypeError, names: 'version' },
    {
      what: 'a version of text',
      definition: { expression: '', version: '1' },
      error: TypeError,
      names: 'version',
    },
    {
      what: 'version null',
      definition: { expression: '', version: null },
      error: TypeError,
      names: 'version',
    },
    { what: 'version -1', definition: { expression: '', version: -1 }, error: RangeError, names: 'version' },
    {
      what: 'version 1.5',
      definition: { expression: '', version: 1.5 },
      error: RangeError,
      names: 'version',
    },
    {
      what: 'version NaN',
      definition: { expression: '', version: Number.NaN },
      error: RangeError,
      names: 'version',
    },
    {
      what: 'version 2^53',
      definition: { expression: '', version: 2 ** 53 },
      error: RangeError,
      names: 'version',
    },
    ...[
      { jitterMs: -1, error: RangeError },
      { jitterMs: 0.5, error: RangeError },
      { jitterMs: TOO_LONG, error: RangeError },
      { jitterMs: Number.NaN, error: RangeError },
      { jitterMs: '5', error: TypeError },
      { jitterMs: null, error: TypeError },
      { jitterMs: {}, error: TypeError },
      { jitterMs: { maxMs: '5' }, error: TypeError },
      { jitterMs: { maxMs: -1 }, error: RangeError },
      { jitterMs: { maxMs: TOO_LONG }, error: RangeError },
      { jitterMs: true, error: TypeError },
    ].map(({ jitterMs, error }) => ({
      what: `jitterMs ${JSON.stringify(jitterMs)}`,
      definition: { expression: 'every 1000', version: 1, jitterMs },
      error,
      names: 'jitterMs',
    })),
  ])('set with $what rejects, names it, and stores nothing', async ({ definition, error, names }) => {
    freezeClock()
    const object = setup()
    const rejected = object.set(definition as unknown as Parameters<typeof object.set>[0])
    await expect(rejected).rejects.toThrow(error)
    await expect(rejected).rejects.toThrow(names)
    expect(await object.get()).toBeUndefined()
    expect(await object.alarmAt()).toBeNull()
  })

  it.each([
    { version: null, error: TypeError },
    { version: '1', error: TypeError },
    { version: {}, error: TypeError },
    { version: -1, error: RangeError },
    { version: 1.5, error: RangeError },
    { version: Number.NaN, error: RangeError },
  ])('cancel($version) rejects and cancels nothing', async ({ version, error }) => {
    freezeClock()
    const object = setup()
    await object.set({ expression: 'every 1000', version: 1 })
    await expect(object.cancel(version as unknown as number)).rejects.toThrow(error)
    expect(await object.get()).toMatchObject({ version: 1 })
  })

  it.each([
    { at: 1.5, error: RangeError },
    { at: -1, error: RangeError },
    { at: Number.NaN, error: RangeError },
    { at: Number.POSITIVE_INFINITY, error: RangeError },
    { at: 8e12, error: RangeError },
    { at: '5', error: TypeError },
    { at: new Date(5), error: TypeError },
    { at: undefined, error: TypeError },
    { at: null, error: TypeError },
  ])('a named alarm set for $at rejects', async ({ at, error }) => {
    const object = setup({ alarms: { handlers: { renew: () => {} } } })
    await object.inside(({ alarms: own }) =>
      expect(own.set('renew', at as unknown as number)).rejects.toThrow(error),
    )
    expect(await object.inside(({ alarms: own }) => own.get('renew'))).toBeUndefined()
  })

  it('an expression of 65,536 characters, and a jitter of 2^31 - 1, are taken', async () => {
    freezeClock()
    const object = setup({ schedule: { nextOccurrence: (_, after) => after + 1 } })
    const definition = { expression: 'ü'.repeat(65_536), version: 1, jitterMs: 2 ** 31 - 1 }
    expect(await object.set(definition)).toBe(true)
    expect(await object.get()).toMatchObject({ expression: definition.expression, jitterMs: 2 ** 31 - 1 })
  })
})

type Construct = (ctx: DurableObjectState, options: unknown) => unknown

function scheduler(ctx: DurableObjectState, options: unknown) {
  const complete = options instanceof Object ? { context: ctx, ...options } : options
  return new DurabilityScheduler(complete as unknown as DurabilitySchedulerOptions)
}

function schedule(ctx: DurableObjectState, options: unknown) {
  const required = {
    scheduler: new DurabilityScheduler({ context: ctx }),
    nextOccurrence: () => 1,
    run: () => {},
  }
  const complete = options instanceof Object ? { ...required, ...options } : options
  return new DurabilitySchedule(complete as unknown as DurabilityScheduleOptions)
}

function alarms(ctx: DurableObjectState, options: unknown) {
  const required = { scheduler: new DurabilityScheduler({ context: ctx }), handlers: { renew: () => {} } }
  const complete = options instanceof Object ? { ...required, ...options } : options
  return new DurabilityAlarms(complete as unknown as DurabilityAlarmsOptions)
}

/** What construction throws with that option, a path of names; with an empty path the value is all the options. */
function thrownBy(ctx: DurableObjectState, construct: Construct, path: string, value: unknown): unknown {
  const names = path === '' ? [] : path.split('.')
  const options = names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value)
  try {
    construct(ctx, options)
    return undefined
  } catch (error) {
    return error
  }
}

function inObject(work: (ctx: DurableObjectState) => void): Promise<void> {
  return setup().inside(({ ctx }) => work(ctx))
}

function badHelpers(): { what: string; helper: unknown }[] {
  const nextAt = () => undefined
  const run = () => {}
  return [
    { what: 'null', helper: null },
    { what: 'no name', helper: { nextAt, run } },
    { what: 'no nextAt', helper: { name: 'x', run } },
    { what: 'no run', helper: { name: 'x', nextAt } },
    { what: 'a name that is no text', helper: { name: 5, nextAt, run } },
  ]
}
