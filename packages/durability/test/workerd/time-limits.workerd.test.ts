import { expect, it, vi } from 'vitest'
import type { Clock } from '../../src/core/clock.ts'
import { within } from '../../src/core/timers.ts'

it('what an abort listener throws is reported, and does not escape into the runtime’s timer', async () => {
  const reported = vi.spyOn(console, 'error').mockImplementation(() => {})
  const timers: (() => void)[] = []
  const clock: Clock = {
    now: () => 0,
    setTimer: (fire) => {
      timers.push(fire)
      return { cancel: () => {} }
    },
  }
  const handler = ({ signal }: { readonly signal: AbortSignal }) => {
    signal.addEventListener('abort', () => {
      throw new Error('The listener failed')
    })
    return new Promise(() => {})
  }
  const limited = within(clock, 100, handler, () => new Error('late'), {})
  const isLate = expect(limited).rejects.toThrow('late')
  expect(() => timers[0]?.()).not.toThrow()
  await isLate
  expect(reported.mock.calls.join()).toContain('The listener failed')
})
