import { expect, test } from 'vitest'
import { crashesIn } from './crashes.ts'
import { playLong } from './long-history.ts'
import { play, TIMINGS } from './play.ts'
import { SCENARIOS } from './scenarios.ts'
import { playShort } from './short-history.ts'
import { cuttableLines } from './source-lines.ts'

test.each([1, 2, 3, 4])('seed %d plays the same history each time, whatever is kept of it', async (seed) => {
  const first = await playLong(seed)
  const kept = await playLong(seed, { keepsAll: true, notesSites: true })
  expect(kept.hash).toBe(first.hash)
  expect(kept.seenHash).toBe(first.seenHash)
  expect((await playShort(seed)).hash).toBe((await playShort(seed, { keepsAll: false })).hash)
})

test('histories have the same hash exactly when the same happened in them', async () => {
  const scenario = SCENARIOS.find(({ name }) => name === 'a handler throws')
  if (scenario === undefined) throw new Error('The scenario is gone')
  const byHash = new Map<bigint, string>()
  const uncut = await play(scenario, TIMINGS[0], [], { notesSites: true })
  for (const crash of crashesIn(uncut)) {
    const { seenHash, lines } = await play(scenario, TIMINGS[0], [crash])
    const text = lines.join('\n')
    expect(byHash.get(seenHash) ?? text).toBe(text)
    byHash.set(seenHash, text)
  }
  expect(new Set(byHash.values()).size).toBe(byHash.size)
})

test('a history that is too long to be kept keeps its end', async () => {
  const all = await playLong(4, { keepsAll: true })
  const some = await playLong(4, { keepsAll: false })
  expect(some.lines.length).toBeLessThan(all.lines.length)
  expect(all.lines.slice(-some.lines.length)).toEqual(some.lines)
})

test('the lines of the library that can be cut are found in its source', () => {
  const lines = cuttableLines()
  expect(lines.length).toBeGreaterThan(40)
  expect(lines.some((line) => line.startsWith('physical-alarm.ts:'))).toBe(true)
  expect(lines.some((line) => line.startsWith('clock.ts:'))).toBe(false)
})
