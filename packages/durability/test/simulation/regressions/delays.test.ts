import { beforeEach, expect, test, vi } from 'vitest'
import { idle, MINUTE_MS, objectWith } from './own-helper.ts'

beforeEach(() => {
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
  return () => vi.restoreAllMocks()
})

test.each([
  { random: 0, delayMs: 500 },
  { random: 0.5, delayMs: 750 },
  { random: 1 - Number.EPSILON, delayMs: 1_000 },
])(
  'a first failed attempt is tried again after half a second to a second: $delayMs ms',
  async ({ random, delayMs }) => {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    const pings: number[] = []
    const { object } = objectWith(idle, {
      ping: (at) => {
        pings.push(at)
        if (pings.length === 1) throw new Error('again')
      },
    })
    const startAt = object.world.clock.now()
    await object.call(({ alarms }) => alarms.set('ping', 0))
    await object.advance(MINUTE_MS)
    expect(pings.map((at) => at - startAt)).toEqual([0, delayMs])
    object.close()
  },
)
