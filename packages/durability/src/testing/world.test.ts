import { expect, test } from 'vitest'
import { simulateObject } from './object.ts'
import { SimulatedWorld } from './world.ts'

test('timers and alarms of all objects happen in the order of their times', async () => {
  const world = new SimulatedWorld()
  const order: string[] = []
  const add = (id: string, alarmMs: number, timerMs: number) => {
    const object = simulateObject(
      (ctx, clock) => ({ ctx, clock, alarm: () => order.push(`${id} alarm@${world.clock.elapsedMs}`) }),
      { world, id },
    )
    void object.instance.ctx.storage.setAlarm(world.clock.now() + alarmMs)
    object.instance.clock.setTimer(() => order.push(`${id} timer@${world.clock.elapsedMs}`), timerMs)
    return object
  }
  const a = add('a', 30, 20)
  add('b', 10, 40)
  await world.advance('1 s')
  expect(order).toEqual(['b alarm@10', 'a timer@20', 'a alarm@30', 'b timer@40'])
  expect(String(a.ctx.id)).toBe('a')
})

test.each([
  ['timers first', ['timer', 'alarm']],
  ['alarms first', ['alarm', 'timer']],
] as const)('of a timer and an alarm due at once, %s', async (ties, expected) => {
  const order: string[] = []
  const object = simulateObject((ctx, clock) => ({ ctx, clock, alarm: () => order.push('alarm') }), {
    world: new SimulatedWorld({ ties }),
  })
  const { ctx, clock } = object.instance
  clock.setTimer(() => order.push('timer'), 10)
  void ctx.storage.setAlarm(clock.now() + 10)
  await object.advance(10)
  expect(order).toEqual(expected)
})

test('between two events all code runs until it waits, so each sees what the one before has committed', async () => {
  const steps: string[] = []
  const object = simulateObject((ctx, clock) => ({
    clock,
    async follow(name: string) {
      await ctx.storage.sync()
      steps.push(`${name} 1`)
      await ctx.storage.sync()
      steps.push(`${name} 2`)
    },
    alarm: () => undefined,
  }))
  const { clock, follow } = object.instance
  clock.setTimer(() => void follow('a'), 10)
  clock.setTimer(() => void follow('b'), 10)
  await object.advance(10)
  expect(steps).toEqual(['a 1', 'a 2', 'b 1', 'b 2'])
})

test('time ends up where it was sent, also when nothing happens there', async () => {
  const world = new SimulatedWorld({ startAt: 5_000 })
  await world.advance('3 days')
  expect(world.clock.now()).toBe(5_000 + 259_200_000)
})

test('an error in a timer is thrown by the call that moves time', async () => {
  const world = new SimulatedWorld()
  world.clock.setTimer(() => {
    throw new Error('in the timer')
  }, 10)
  await expect(world.advance(10)).rejects.toThrow('in the timer')
})

test('an alarm that is re-armed for now over and over is reported, not followed for ever', async () => {
  const object = simulateObject(
    (ctx, clock) => ({ ctx, alarm: () => void ctx.storage.setAlarm(clock.now()) }),
    { world: new SimulatedWorld({ maxSteps: 1_000 }) },
  )
  object.instance.alarm()
  await expect(object.advance('1 s')).rejects.toThrow('re-arms')
})

test('runToIdle stops where nothing is due within the horizon', async () => {
  let runs = 0
  const object = simulateObject((ctx, clock) => ({
    alarm() {
      const pauseMs = ++runs < 5 ? 10_000 : 86_400_000
      void ctx.storage.setAlarm(clock.now() + pauseMs)
    },
  }))
  object.instance.alarm()
  await object.world.runToIdle('1 hour')
  expect(runs).toBe(5)
  expect(object.world.clock.elapsedMs).toBe(40_000)
})

test('a closed object is not driven any more', async () => {
  const world = new SimulatedWorld()
  let runs = 0
  const object = simulateObject((ctx) => ({ ctx, alarm: () => runs++ }), { world })
  void object.instance.ctx.storage.setAlarm(world.clock.now() + 10)
  await world.settle()
  object.close()
  await world.advance('1 s')
  expect(runs).toBe(0)
})
