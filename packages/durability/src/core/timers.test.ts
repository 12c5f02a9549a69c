import { describe, expect, test } from 'vitest'
import { SimulatedClock } from '../testing/clock.ts'
import { MAX_TIMER_MS } from './clock.ts'
import { wait, waitUntil, within } from './timers.ts'

const settle = () => new Promise((resolve) => setImmediate(resolve))

/** Moves time on and lets everything continue that waited for it. */
async function advance(clock: SimulatedClock, ms: number): Promise<void> {
  clock.tick(ms)
  await settle()
}

function setup() {
  const clock = new SimulatedClock()
  const done: string[] = []
  const note = (what: string) => () => void done.push(what)
  return { clock, done, note }
}

describe('waiting', () => {
  test('wait goes by the timer, whatever the wall clock does', async () => {
    const { clock, done, note } = setup()
    void wait(clock, 100).then(note('over'))
    clock.jump(-50_000)
    await advance(clock, 99)
    expect(done).toEqual([])
    await advance(clock, 1)
    expect(done).toEqual(['over'])
  })

  test('a wait longer than a timer holds ends early, and not at once', async () => {
    const { clock, done, note } = setup()
    void wait(clock, MAX_TIMER_MS * 2).then(note('over'))
    await advance(clock, MAX_TIMER_MS - 1)
    expect(done).toEqual([])
  })

  test('waitUntil waits again when the clock was set back, and ends at once when the time has come', async () => {
    const { clock, done, note } = setup()
    void waitUntil(clock, clock.now() + 100).then(note('over'))
    void waitUntil(clock, clock.now()).then(note('at once'))
    await settle()
    expect(done).toEqual(['at once'])
    clock.jump(-50)
    await advance(clock, 100)
    expect(done).toEqual(['at once'])
    await advance(clock, 50)
    expect(done).toEqual(['at once', 'over'])
  })

  test('waitUntil reaches a time further away than a timer holds', async () => {
    const { clock, done, note } = setup()
    void waitUntil(clock, clock.now() + MAX_TIMER_MS + 5).then(note('over'))
    await advance(clock, MAX_TIMER_MS)
    expect(done).toEqual([])
    await advance(clock, 5)
    expect(done).toEqual(['over'])
  })
})

describe('a limit', () => {
  const error = new Error('late')
  const late = () => error

  test('work in time gives its value, and no timer is left', async () => {
    const { clock } = setup()
    await expect(within(clock, 100, async () => 'value', late, {})).resolves.toBe('value')
    expect(clock.pendingTimers).toBe(0)
  })

  test.each([
    ['rejects', () => Promise.reject(new Error('mine'))],
    [
      'throws',
      () => {
        throw new Error('mine')
      },
    ],
  ])('work that %s in time passes its error on, and no timer is left', async (_how, work) => {
    const { clock } = setup()
    await expect(within(clock, 100, work, late, {})).rejects.toThrow('mine')
    expect(clock.pendingTimers).toBe(0)
  })

  const never = () => new Promise(() => {})

  test('work that is late is given up and its signal aborted, and what becomes of it is not heard of', async () => {
    const { clock } = setup()
    const { promise, reject } = Promise.withResolvers<string>()
    let signal: AbortSignal | undefined
    const work = (given: { readonly signal: AbortSignal }) => {
      signal = given.signal
      return promise
    }
    const rejected = expect(within(clock, 100, work, late, {})).rejects.toBe(error)
    await advance(clock, 99)
    expect(signal?.aborted).toBe(false)
    await advance(clock, 1)
    expect(signal?.reason).toBe(error)
    reject(new Error('too late'))
    await rejected
  })

  test('work that first looks at its signal when it is late finds it aborted, and always the same one', async () => {
    const { clock } = setup()
    let given: { readonly signal: AbortSignal; readonly name: string } | undefined
    const work = (input: { readonly signal: AbortSignal; readonly name: string }) => {
      given = input
      return never()
    }
    const rejected = expect(within(clock, 100, work, late, { name: 'mine' })).rejects.toBe(error)
    await advance(clock, 100)
    await rejected
    expect(given?.signal.reason).toBe(error)
    expect(given?.signal).toBe(given?.signal)
    expect(given?.name).toBe('mine')
  })
})
