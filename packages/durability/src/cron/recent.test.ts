import { expect, it } from 'vitest'
import { recent } from './recent.ts'

it('the least recently used value is made anew, a failed one is not kept', () => {
  const cache = new Map<string, string>()
  const made: string[] = []
  const get = (key: string) =>
    recent(cache, 2, key, () => {
      made.push(key)
      return key
    })
  for (const key of ['a', 'b', 'a', 'c', 'a', 'b']) get(key)
  expect(made).toEqual(['a', 'b', 'c', 'b'])
  expect([...cache.keys()]).toEqual(['a', 'b'])
  expect(() =>
    recent(cache, 2, 'd', () => {
      throw new Error('no')
    }),
  ).toThrow('no')
  expect([...cache.keys()]).toEqual(['a', 'b'])
})
