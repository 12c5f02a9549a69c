import { beforeEach, describe, expect, test, vi } from 'vitest'
import type { OutcomeRun, RunOutcome } from '../../../src/experimental/outcome.ts'
import { DurabilitySchedule } from '../../../src/experimental/schedule.ts'
import { idle, MINUTE_MS, objectWith, SECOND_MS } from './own-helper.ts'

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => vi.restoreAllMocks()
})

/** An object whose receiver does at each delivery what the list says, and acknowledges from its end on. */
function receiving(
  answers: readonly (() => unknown)[],
  options: Parameters<typeof objectWith>[1] & { readonly delayMs?: number } = {},
) {
  const deliveries: { attempt: number; status: string; at: number }[] = []
  const { delayMs = SECOND_MS } = options
  const { object, seen } = objectWith(idle, {
    ...options,
    schedule: {
      outcomeRetries: { delay: () => delayMs },
      ...options.schedule,
      onOutcome: ({ attempt }: OutcomeRun, { status }: RunOutcome) => {
        deliveries.push({ attempt, status, at: object.world.clock.now() })
        return answers[deliveries.length - 1]?.()
      },
    },
  })
  const startAt = object.world.clock.now()
  return { object, seen, deliveries, seconds: (at: number) => (at - startAt) / SECOND_MS }
}

/** A schedule of one tick, at the next minute after it is first asked. */
function once(): (expression: string, after: number) => number | undefined {
  let at: number | undefined
  return (_expression, after) => {
    at ??= (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS
    return after < at ? at : undefined
  }
}

const fails = () => Promise.reject(new Error('again'))
const hangs = () => new Promise(() => {})

async function start(object: ReturnType<typeof receiving>['object'], advanceMs = MINUTE_MS): Promise<void> {
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
  await object.advance(advanceMs)
}

test('an outcome that another instance stored first stays, and the later one is told as lost', async () => {
  const gate = Promise.withResolvers<void>()
  const lost: string[] = []
  const { object, deliveries } = receiving([], {
    run: () => gate.promise,
    schedule: {
      onLifecycleEvent: ({ type }) => {
        if (type === 'dead_lettered') lost.push(type)
      },
    },
  })
  await start(object)
  const interrupted = JSON.stringify({ status: 'errored', error: { name: 'Other', message: 'first' } })
  object.ctx.storage.sql.exec('UPDATE durability_schedule_runs SET state = 3, outcome = ?', interrupted)
  gate.resolve()
  await object.advance(0)
  expect(object.rows('SELECT state, outcome FROM durability_schedule_runs')).toEqual([
    { state: 3, outcome: interrupted },
  ])
  expect({ deliveries, lost }).toEqual({ deliveries: [], lost: ['dead_lettered'] })
  object.close()
})

test('a near retry comes after its delay, also when the clock is set back meanwhile', async () => {
  const { object, deliveries, seconds } = receiving([fails, fails])
  await start(object)
  await object.advance(SECOND_MS)
  expect(deliveries.map(({ at }) => seconds(at))).toEqual([60, 61])
  object.world.clock.jump(-60 * MINUTE_MS)
  await object.advance(2 * SECOND_MS)
  expect(deliveries.length).toBe(3)
  object.close()
})

test('a far retry whose record failed is not made twice while that is tried again', async () => {
  const { object, deliveries } = receiving([fails, hangs], { delayMs: MINUTE_MS })
  object.faults.failExec(/^UPDATE durability_schedule_runs SET attempts/)
  await start(object)
  await object.advance(10 * SECOND_MS)
  object.call(({ alarm }) => alarm()).catch(() => undefined)
  await object.advance(0)
  expect(deliveries.length).toBe(1)
  object.close()
})

describe('an outcome of a dead instance', () => {
  test('is marked for its first delivery only: a deploy during a later one is no failed attempt', async () => {
    const { object, deliveries } = receiving([hangs, fails, hangs], { schedule: { nextOccurrence: once() } })
    const attempts = () => deliveries.map(({ attempt }) => attempt)
    await start(object)
    object.crash()
    await object.advance(20 * SECOND_MS)
    expect(attempts()).toEqual([1, 1, 2])
    object.crash()
    await object.advance(20 * SECOND_MS)
    expect(attempts()).toEqual([1, 1, 2, 2])
    object.close()
  })

  test('is delivered before the next of them is', async () => {
    const { object, deliveries, seconds } = receiving([hangs, hangs, hangs, hangs])
    await start(object, 2 * MINUTE_MS)
    expect(deliveries.length).toBe(2)
    object.crash()
    object.call(({ alarm }) => alarm()).catch(() => undefined)
    await object.advance(SECOND_MS)
    expect(deliveries.map(({ at }) => seconds(at))).toEqual([60, 120, 120])
    object.close()
  })

  test('is found again when the removal of its tables is rolled back', async () => {
    const { object, deliveries } = receiving([fails], {
      delayMs: MINUTE_MS,
      schedule: { nextOccurrence: once() },
    })
    await start(object)
    await object.call(({ schedule }) => {
      expect(() =>
        object.ctx.storage.transactionSync(() => {
          DurabilitySchedule.migrate(object.ctx, null)
          expect(schedule.get()).toBe(undefined)
          throw new Error('Undo')
        }),
      ).toThrow('Undo')
    })
    await object.advance(2 * MINUTE_MS)
    expect(deliveries.map(({ attempt }) => attempt)).toEqual([1, 2])
    object.close()
  })
})

test('a delivery that waits for its retry leaves its slot to others', async () => {
  const { object, deliveries, seconds } = receiving([fails], {
    delayMs: 15 * SECOND_MS,
    schedule: {
      maxConcurrentDeliveries: 1,
      nextOccurrence: (_expression, after) => (Math.floor(after / 10_000) + 1) * 10_000,
    },
  })
  await start(object, 20 * SECOND_MS)
  expect(deliveries.map(({ at }) => seconds(at))).toEqual([10, 20])
  object.close()
})

test('the key of a run holds its nominal time, also when it is due later', async () => {
  const keys: (readonly [string, number, number])[] = []
  const { object } = receiving([], {
    schedule: {
      onLifecycleEvent: ({ type, idempotencyKey, scheduledTime, dueAt }) => {
        if (type === 'due') keys.push([idempotencyKey, scheduledTime, dueAt])
      },
    },
  })
  const startAt = object.world.clock.now()
  await object.call(({ schedule }) => schedule.set({ expression: '', version: 1, jitterMs: 5 * SECOND_MS }))
  await object.advance(2 * MINUTE_MS)
  const at = startAt + MINUTE_MS
  expect(keys).toEqual([[`simulated-object:${at}`, at, at + 5 * SECOND_MS]])
  object.close()
})
