import { expect, test } from 'vitest'
import type { Clock } from '../core/clock.ts'
import type { SimulatedSeam } from './crash-plan.ts'

import { type SimulatedObject, simulateObject } from './object.ts'
import type { SimulatedLife } from './object-options.ts'

/** Records a row, calls out once it is durable, records the answer, arms the next alarm: each step can be cut off. */
class Job {
  readonly ctx: DurableObjectState
  readonly clock: Clock
  readonly callOut: (id: number) => Promise<void>

  constructor(ctx: DurableObjectState, clock: Clock, callOut: (id: number) => Promise<void>) {
    this.ctx = ctx
    this.clock = clock
    this.callOut = callOut
  }

  start(): void {
    this.ctx.storage.sql.exec('CREATE TABLE job (id INTEGER PRIMARY KEY, done INTEGER)')
    void this.ctx.storage.setAlarm(this.clock.now() + 1_000)
  }

  async alarm(): Promise<void> {
    const { sql } = this.ctx.storage
    const { id } = sql.exec('INSERT INTO job (done) VALUES (0) RETURNING id').one()
    await this.ctx.storage.setAlarm(this.clock.now() + 1_000)
    await this.ctx.storage.sync()
    await this.callOut(Number(id))
    sql.exec('UPDATE job SET done = 1 WHERE id = ?', id as number)
  }
}

function setup() {
  const calls: number[] = []
  const seams: SimulatedSeam[] = []
  const factory = (ctx: DurableObjectState, clock: Clock, life: SimulatedLife) => {
    const handler = async (id: number) => {
      calls.push(id)
      await life.seam('in the handler')
    }
    return new Job(ctx, clock, life.guard(handler))
  }
  const object = simulateObject(factory, { onSeam: (seam) => seams.push(seam) })
  object.instance.start()
  const jobs = () => object.rows<{ id: number; done: number }>('SELECT * FROM job')
  return { object, calls, seams, jobs, armed: () => object.progress }
}

/** Until the first alarm's work is done, with the crash and what follows it. */
async function run({ object }: { object: SimulatedObject<Job> }): Promise<void> {
  await object.settle()
  await object.advance('1999 ms')
}

test('seams and writes are counted, named and the same in every run', async () => {
  const bundle = setup()
  await run(bundle)
  expect(bundle.seams.map((seam) => `${seam.number} ${seam.name ?? seam.kind}`)).toEqual([
    '1 setAlarm',
    '2 commit',
    '3 alarm',
    '4 setAlarm',
    '5 commit',
    '6 sync',
    '7 in the handler',
    '8 commit',
    '9 alarm done',
  ])
  expect(bundle.object.progress).toEqual({ writes: 5, seams: 9 })
})

test('a crash before a write loses the turn that holds it, and all that the turn would have led to', async () => {
  const bundle = setup()
  bundle.object.crashAt({ write: 3, when: 'before' })
  await run(bundle)
  // The alarm is delivered again, and all is done then, once.
  expect(bundle.jobs()).toEqual([{ id: 1, done: 1 }])
  expect(bundle.calls).toEqual([1])
})

test('a crash after a write keeps its whole turn, and nobody hears of it', async () => {
  const bundle = setup()
  bundle.object.crashAt({ write: 3, when: 'after' })
  await run(bundle)
  expect(bundle.jobs()).toEqual([{ id: 1, done: 0 }])
  expect(bundle.calls).toEqual([])
  expect(bundle.object.alarmAt).toBe(bundle.object.world.clock.now() + 1)
})

test('a crash at a seam happens in the place of what would have followed', async () => {
  const bundle = setup()
  bundle.object.crashAtAwait(7)
  await run(bundle)
  expect(bundle.jobs()).toEqual([{ id: 1, done: 0 }])
  expect(bundle.calls).toEqual([1])
})

test('a crash between the end of alarm() and the note of it delivers the alarm again', async () => {
  const runs: number[] = []
  const object = simulateObject((ctx, clock) => ({ ctx, clock, alarm: () => runs.push(clock.now()) }))
  void object.instance.ctx.storage.setAlarm(object.world.clock.now())
  await object.settle()
  object.crashAtAwait(object.progress.seams + 2)
  await object.advance('1 minute')
  expect(runs).toHaveLength(2)
})

test('every crash keeps what the object promises: no lost alarm, and an effect only of a durable row', async () => {
  const dry = setup()
  await run(dry)
  const plans: ((object: SimulatedObject<Job>) => void)[] = []
  for (let seam = 3; seam <= dry.object.progress.seams; seam++)
    plans.push((object) => object.crashAtAwait(seam))
  for (let write = 3; write <= dry.object.progress.writes; write++) {
    for (const when of ['before', 'after'] as const) plans.push((object) => object.crashAt({ write, when }))
  }
  for (const plan of plans) {
    const bundle = setup()
    plan(bundle.object)
    await run(bundle)
    expect(bundle.object.alarmAt).not.toBeNull()
    expect(bundle.jobs().map((job) => job.id)).toEqual(expect.arrayContaining(bundle.calls))
    expect(new Set(bundle.calls).size).toBe(bundle.calls.length)
    bundle.object.close()
  }
})

test('several crashes can be planned for one history', async () => {
  const bundle = setup()
  bundle.object.crashAt({ write: 3, when: 'before' })
  bundle.object.crashAt({ write: 4, when: 'before' })
  bundle.object.crashAt({ write: 5, when: 'after' })
  await run(bundle)
  expect(bundle.jobs()).toEqual([{ id: 1, done: 0 }])
})

test('a point that has passed is refused', async () => {
  const { object } = setup()
  await object.settle()
  expect(() => object.crashAt({ write: 1, when: 'after' })).toThrow(RangeError)
  expect(() => object.crashAtAwait(1.5)).toThrow('got 1.5')
})

test('a timer can be crashed at, in the place of its callback', async () => {
  const fired: string[] = []
  const object = simulateObject((_ctx, clock) => ({ clock, alarm: () => undefined }))
  object.instance.clock.setTimer(() => fired.push('timer'), 10)
  object.crashAtAwait(1)
  await object.advance('1 s')
  expect(fired).toEqual([])
  expect(object.alive).toBe(false)
})

test('a guarded handler neither starts nor is heard of after the crash', async () => {
  const started: string[] = []
  const heard: string[] = []
  const object = simulateObject((_ctx, _clock, life) => ({
    life,
    handler: life.guard(async (name: string) => {
      started.push(name)
      await null
      return name
    }),
    alarm: () => undefined,
  }))
  const { handler, life } = object.instance
  void handler('a').then((name) => heard.push(name))
  await object.settle()
  void handler('b').then((name) => heard.push(name))
  void life.crash()
  void handler('c').then((name) => heard.push(name))
  await object.settle()
  expect(started).toEqual(['a', 'b'])
  expect(heard).toEqual(['a'])
  expect(life.dead).toBe(true)
})

test('a guarded handler passes on its errors', async () => {
  const object = simulateObject((_ctx, _clock, life) => ({
    handler: life.guard(() => {
      throw new Error('handler')
    }),
    alarm: () => undefined,
  }))
  await expect(object.instance.handler()).rejects.toThrow('handler')
})
