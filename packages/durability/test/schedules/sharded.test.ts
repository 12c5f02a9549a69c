import { describe, expect, test } from 'vitest'
import { DurabilityError } from '../../src/core/errors.ts'
import * as entry from '../../src/schedules/index.node.ts'
import { type Answer, plainError, rebuiltError } from '../../src/schedules/remote.ts'
import { shardOf } from '../../src/schedules/sharded.ts'

const { InvalidScheduleError, remoteSchedules, ShardError, shardedSchedules } = entry

describe('an id', () => {
  test.each([
    ['a', 8, 7],
    ['morning-brief', 8, 3],
    ['a/b:c%', 8, 1],
    ['__proto__', 8, 2],
    ['😀', 8, 5],
    ['Ａ', 16, 9],
    ['x'.repeat(200), 1_000, 116],
    ['anything', 1, 0],
  ])('%j is in the same one of %i objects for ever', (id, shards, shard) => {
    expect(shardOf(id, shards)).toBe(shard)
  })

  test('that is like others is in any of them, about as often in each', () => {
    const counts = Array(16).fill(0)
    for (let n = 0; n < 16_000; n += 1) counts[shardOf(`user-${n}`, 16)] += 1
    expect(Math.min(...counts)).toBeGreaterThan(900)
    expect(Math.max(...counts)).toBeLessThan(1_100)
  })
})

/** Made where it is thrown: no object answers it. */
const LOCAL = [ShardError]

describe('an error that an object answered', () => {
  const classes = Object.values(entry as Record<string, unknown>).filter(
    (value): value is new (...args: string[]) => DurabilityError =>
      typeof value === 'function' && value.prototype instanceof DurabilityError,
  )

  test.each(classes.filter((one) => !(LOCAL as unknown[]).includes(one)))('is again a %o', (Class) => {
    const thrown = new Class('first', 'second')
    const error = rebuiltError(structuredClone(plainError(thrown)))
    expect(error).toBeInstanceOf(Class)
    expect(error).toBeInstanceOf(DurabilityError)
    expect({ ...error }).toEqual({ ...thrown })
    expect([error.name, error.message]).toEqual([thrown.name, thrown.message])
  })

  test('keeps its field and reason', () => {
    const error = rebuiltError(plainError(new InvalidScheduleError('cron', 'has no hour 25')))
    expect(error).toMatchObject({
      code: 'invalid_schedule',
      field: 'cron',
      reason: 'has no hour 25',
      message: 'cron has no hour 25',
    })
  })

  test("of a user's own is none of the package's, whatever its name or code", () => {
    for (const own of [
      Object.assign(new Error('no'), { name: 'PaymentError', code: 'invalid_input' }),
      Object.assign(new Error('no'), { name: 'InvalidInputError', code: 'E42' }),
      Object.assign(new Error('no'), { name: 'constructor', code: 'toString' }),
      new TypeError('no'),
    ]) {
      const error = rebuiltError(plainError(own))
      expect(error).not.toBeInstanceOf(DurabilityError)
      expect([error.name, error.message]).toEqual([own.name, 'no'])
      expect((error as { code?: unknown }).code).toBe((own as { code?: unknown }).code)
    }
    expect(rebuiltError(plainError('just text'))).toMatchObject({ name: 'Error', message: 'just text' })
  })
})

describe('shardedSchedules', () => {
  const noObjects = { getByName: () => ({ call: async (): Promise<Answer> => ({ value: null }) }) }

  test.each([0, 1_001, 1.5, Number.NaN])('refuses %s shards', (shards) => {
    expect(() => shardedSchedules(noObjects, { shards })).toThrow(RangeError)
  })

  test('refuses what is no namespace', () => {
    expect(() => shardedSchedules({} as never, { shards: 1 })).toThrow(
      /objects\.getByName must be a function/,
    )
    expect(() => remoteSchedules({} as never)).toThrow(/object\.call must be a function/)
  })

  test.each(['', '.', 'x'.repeat(201), 'no\0', '\ud800', 'a:manual', undefined, 7])(
    'rejects with the field for the id %j, and asks no object',
    async (id) => {
      const { schedules } = shardedSchedules(noObjects, { shards: 4 })
      const calls = [
        schedules.create({ id, workflow: 'work', every: '1h' } as never),
        schedules.get(id as never),
        schedules.delete(id as never),
        schedules.history(id as never),
      ]
      for (const call of calls) await expect(call).rejects.toBeInstanceOf(InvalidScheduleError)
    },
  )

  test('rejects, and does not throw, for a bad page or run id', async () => {
    const sharded = shardedSchedules(noObjects, { shards: 4 })
    await expect(sharded.schedules.list({ limit: 0 })).rejects.toMatchObject({ field: 'limit' })
    await expect(sharded.schedules.list({ offset: -1 })).rejects.toMatchObject({ field: 'offset' })
    await expect(sharded.getRun('')).rejects.toMatchObject({ field: 'runId' })
  })
})
