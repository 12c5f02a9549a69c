import { describe, expect, test } from 'vitest'
import { failureOf, type Inside, type ObjectDriver } from './driver.ts'

const LIMIT = 'TypeError: List limit must be positive.'
const BOTH = 'TypeError: list() cannot be called with both start and startAfter values.'

export function keyedContract(driver: ObjectDriver): void {
  const inside = <T>(work: (inside: Inside) => T | Promise<T>) => driver.object().request(work)

  describe('values by key', () => {
    test('come back as copies, with their structure', async () => {
      const value = {
        date: new Date(5),
        map: new Map([[1, new Set(['a'])]]),
        bigint: 5n,
        bytes: new Uint8Array([1, 2]),
        pattern: /x/g,
        nothing: undefined,
        list: [1, null, 'é'],
      }
      const results = await inside(async ({ storage }) => {
        storage.kv.put('value', value)
        await storage.put('same', value)
        value.list.push('later')
        return [storage.kv.get('value'), await storage.get('value'), storage.kv.get('same')]
      })
      const { list: _later, ...rest } = value
      for (const result of results) expect(result).toStrictEqual({ ...rest, list: [1, null, 'é'] })
    })

    test('are kept by kv and by the asynchronous calls alike', async () => {
      const results = await inside(async ({ storage }) => {
        storage.kv.put('a', 1)
        await storage.put({ b: 2, c: 3, left: undefined })
        return {
          some: await storage.get(['z', 'c', 'a']),
          all: [...storage.kv.list()],
          deletedB: storage.kv.delete('b'),
          deletedBAgain: await storage.delete('b'),
          deletedMany: await storage.delete(['a', 'b', 'c']),
          left: await storage.list(),
        }
      })
      expect(results).toEqual({
        some: new Map([
          ['a', 1],
          ['c', 3],
        ]),
        all: [
          ['a', 1],
          ['b', 2],
          ['c', 3],
        ],
        deletedB: true,
        deletedBAgain: false,
        deletedMany: 2,
        left: new Map(),
      })
    })

    test.each<[SyncKvListOptions, string]>([
      [{}, 'B a ab b c é ￿ 😀'],
      [{ prefix: 'a' }, 'a ab'],
      [{ prefix: '' }, 'B a ab b c é ￿ 😀'],
      [{ prefix: 'a', reverse: true }, 'ab a'],
      [{ prefix: 'a', start: 'aa' }, 'ab'],
      [{ start: 'ab', end: 'c' }, 'ab b'],
      [{ start: 'c', end: 'a' }, ''],
      [{ startAfter: 'c' }, 'é ￿ 😀'],
      [{ end: 'b', reverse: true }, 'ab a B'],
      [{ reverse: true, limit: 2 }, '😀 ￿'],
      [{ limit: 1.5 }, 'B'],
    ])('are listed by %o', async (options, keys) => {
      const results = await inside(async ({ storage }) => {
        for (const key of ['c', 'b', 'ab', 'a', 'B', 'é', '😀', '￿']) storage.kv.put(key, 0)
        const listed = await storage.list(options)
        return [[...storage.kv.list(options)].map(([key]) => key), [...listed.keys()]]
      })
      for (const result of results) expect(result.join(' ')).toBe(keys)
    })

    test('can be deleted while they are listed', async () => {
      const left = await inside(({ storage: { kv } }) => {
        for (const key of ['a', 'b', 'c']) kv.put(key, 0)
        for (const [key] of kv.list()) kv.delete(key)
        return [...kv.list()]
      })
      expect(left).toEqual([])
    })

    test.each<[string, (storage: DurableObjectStorage) => unknown, string]>([
      ['put of a function', ({ kv }) => kv.put('a', () => 1), 'DOMException: () => 1 could not be cloned.'],
      [
        'asynchronous put of a function',
        (to) => to.put('a', () => 1),
        'DOMException: () => 1 could not be cloned.',
      ],
      [
        'asynchronous put of nothing',
        (to) => to.put('a', undefined),
        'TypeError: put() called with undefined value.',
      ],
      [
        'put of three million characters',
        ({ kv }) => kv.put('a', 'x'.repeat(3e6)),
        'Error: string or blob too big: SQLITE_TOOBIG',
      ],
      ['list of none', ({ kv }) => kv.list({ limit: 0 }), LIMIT],
      ['asynchronous list of none', (from) => from.list({ limit: 0 }), LIMIT],
      ['list of what is no number', ({ kv }) => kv.list({ limit: Number.NaN }), LIMIT],
      ['list from two keys', ({ kv }) => kv.list({ start: 'a', startAfter: 'b' }), BOTH],
      ['asynchronous list from two keys', (from) => from.list({ start: 'a', startAfter: 'b' }), BOTH],
    ])('a %s is refused', async (_name, call, message) => {
      expect(await inside(({ storage }) => failureOf(() => call(storage)))).toBe(message)
    })

    test('put as undefined by kv are as if they were not there', async () => {
      const results = await inside(({ storage }) => {
        storage.kv.put('a', undefined)
        return [storage.kv.get('a'), storage.kv.delete('a')]
      })
      expect(results).toEqual([undefined, true])
    })
  })
}
