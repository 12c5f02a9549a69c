import { afterEach, beforeEach, expect, test } from 'vitest'
import { SimulatedWorld, simulateObject } from './index.ts'

let putBack = (): void => undefined
let world = new SimulatedWorld()

beforeEach(() => {
  world = new SimulatedWorld({ startAt: 1_000 })
  putBack = world.installGlobals()
})
afterEach(() => putBack())

test('Date and the timers live in the world that is installed', async () => {
  const fired: string[] = []
  setTimeout((name: string) => fired.push(`${name} at ${Date.now()}`), 500, 'timer')
  expect([Date.now(), new Date().toJSON(), Number(new Date(7))]).toEqual([
    1_000,
    '1970-01-01T00:00:01.000Z',
    7,
  ])
  expect(new Date() instanceof Date).toBe(true)
  expect(Date()).toBe(new Date(1_000).toString())
  await world.advance('1 s')
  expect(fired).toEqual(['timer at 1500'])
})

test('an interval repeats until it is cleared, a cleared timeout does not fire', async () => {
  const fired: string[] = []
  const interval = setInterval(() => fired.push('interval'), 100)
  clearTimeout(setTimeout(() => fired.push('timeout'), 50))
  clearTimeout(undefined)
  await world.advance(250)
  clearInterval(interval)
  await world.advance(250)
  expect(fired).toEqual(['interval', 'interval'])
})

test('the timers that an instance sets die with it, also those set after an await and by a test', async () => {
  const fired: string[] = []
  const make = (id: string) =>
    simulateObject(
      (ctx) => {
        setTimeout(() => fired.push(`${id} constructor`), 100)
        return {
          async work() {
            await ctx.storage.sync()
            await Promise.resolve()
            setTimeout(() => fired.push(`${id} work`), 100)
          },
          alarm: () => undefined,
        }
      },
      { id, world },
    )
  const dies = make('dies')
  const lives = make('lives')
  await Promise.all([dies, lives].map((object) => object.call((instance) => instance.work())))
  dies.crash()
  await world.advance('1 s')
  expect(fired).toEqual(['lives constructor', 'lives work'])
  await lives.instance.work()
  lives.crash()
  await world.advance('1 s')
  expect(fired).toHaveLength(2)
})

test('the globals are put back, once', () => {
  const simulated = Date.now()
  putBack()
  expect(Date.now()).toBeGreaterThan(simulated)
  const again = world.installGlobals()
  putBack()
  expect(Date.now()).toBe(simulated)
  again()
})

test('a second world is refused while one is installed', () => {
  expect(() => new SimulatedWorld().installGlobals()).toThrow('already')
})
