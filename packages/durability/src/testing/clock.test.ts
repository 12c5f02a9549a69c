import { expect, test } from 'vitest'
import { SimulatedClock } from './clock.ts'

function setup() {
  const clock = new SimulatedClock({ startAt: 1_000 })
  const fired: string[] = []
  const timer = (name: string, delayMs: number) =>
    clock.setTimer(() => fired.push(`${name}@${clock.elapsedMs}`), delayMs)
  return { clock, fired, timer }
}

test('time stands still until it is moved', () => {
  const { clock } = setup()
  expect(clock.now()).toBe(1_000)
  clock.tick('5 s')
  expect(clock.now()).toBe(6_000)
})

test('timers fire in the order of their due times, and of their creation when those are equal', () => {
  const { clock, fired, timer } = setup()
  timer('late', 30)
  timer('first', 10)
  timer('second', 10)
  clock.tick(30)
  expect(fired).toEqual(['first@10', 'second@10', 'late@30'])
})

test('a timer set by a timer fires in the same movement when it is due in it', () => {
  const { clock, fired, timer } = setup()
  clock.setTimer(() => timer('inner', 5), 10)
  clock.tick(14)
  expect(fired).toEqual([])
  clock.tick(1)
  expect(fired).toEqual(['inner@15'])
})

test('a cancelled timer does not fire, and cancelling twice does nothing', () => {
  const { clock, fired, timer } = setup()
  const cancelled = timer('cancelled', 10)
  timer('kept', 10)
  cancelled.cancel()
  cancelled.cancel()
  clock.tick(10)
  expect(fired).toEqual(['kept@10'])
  expect(clock.pendingTimers).toBe(0)
})

test('a jump changes what now() says and fires nothing', () => {
  const { clock, fired, timer } = setup()
  timer('timer', 10)
  clock.jump(1_000_000)
  expect(clock.now()).toBe(1_001_000)
  expect(fired).toEqual([])
  clock.jump(-1_000_500)
  expect(clock.now()).toBe(500)
  clock.tick(10)
  expect(fired).toEqual(['timer@10'])
})

test("a jump leaves the platform's clock alone unless it is told to take it along", () => {
  const { clock } = setup()
  clock.jump(5_000)
  expect(clock.platformNow()).toBe(1_000)
  clock.jump(-2_000, { alarms: true })
  expect(clock.platformNow()).toBe(-1_000)
  expect(clock.now()).toBe(4_000)
})

test('a delay below 0 counts as 0, one too long for a timer as the longest', () => {
  const { clock, fired, timer } = setup()
  timer('now', -5)
  timer('far', 2 ** 40)
  clock.tick(0)
  expect(fired).toEqual(['now@0'])
  expect(clock.nextTimerMs).toBe(2 ** 31 - 1)
})
