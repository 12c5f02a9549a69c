import { expect, test } from 'vitest'
import type { Clock } from '../core/clock.ts'
import { type SimulatedAlarmInfo, type SimulatedLife, simulateObject } from './index.ts'

const MINUTE_MS = 60_000

/** Counts in a table, once per alarm, every minute. */
class Counter {
  readonly ctx: DurableObjectState
  readonly clock: Clock
  readonly infos: SimulatedAlarmInfo[]

  constructor(ctx: DurableObjectState, clock: Clock, infos: SimulatedAlarmInfo[]) {
    this.ctx = ctx
    this.clock = clock
    this.infos = infos
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS count (id INTEGER PRIMARY KEY, n INTEGER)')
  }

  start(): void {
    this.ctx.storage.sql.exec('INSERT INTO count (id, n) VALUES (1, 0)')
    void this.ctx.storage.setAlarm(this.clock.now() + MINUTE_MS)
  }

  async alarm(info: SimulatedAlarmInfo): Promise<void> {
    this.infos.push(info)
    this.ctx.storage.sql.exec('UPDATE count SET n = n + 1')
    await this.ctx.storage.setAlarm(this.clock.now() + MINUTE_MS)
  }
}

function setup() {
  const infos: SimulatedAlarmInfo[] = []
  const lives: SimulatedLife[] = []
  const object = simulateObject((ctx, clock, life) => {
    lives.push(life)
    return new Counter(ctx, clock, infos)
  })
  const count = () => object.rows<{ n: number }>('SELECT n FROM count')[0]?.n
  return { object, infos, lives, count }
}

test('an alarm fires when its time is reached, and not before', async () => {
  const { object, count } = setup()
  object.instance.start()
  await object.advance('59 s')
  expect(count()).toBe(0)
  await object.advance('1 s')
  expect(count()).toBe(1)
  await object.advance('1 hour')
  expect(count()).toBe(61)
})

test('a crash between alarms keeps rows and alarm', async () => {
  const { object, count, lives } = setup()
  object.instance.start()
  await object.advance('90 s')
  object.crash()
  expect(object.alive).toBe(false)
  await object.advance('30 s')
  expect(count()).toBe(2)
  expect(lives).toHaveLength(2)
})

test('a crash before the turn ends loses its rows and its alarm together', async () => {
  const { object } = setup()
  object.instance.start()
  object.crash()
  expect(object.alarmAt).toBeNull()
  expect(object.rows("SELECT name FROM sqlite_schema WHERE name = 'count'")).toEqual([])
})

test('a crash in the middle of alarm() keeps the turns before it and delivers the alarm again', async () => {
  const object = simulateObject((ctx, _clock, life) => ({
    ctx,
    async alarm(info) {
      ctx.storage.sql.exec('INSERT INTO run (at) VALUES (?)', info.scheduledTime)
      await ctx.storage.sync()
      await life.seam('in the handler')
      ctx.storage.sql.exec('UPDATE run SET done = 1')
    },
  }))
  const { storage } = object.ctx
  storage.sql.exec('CREATE TABLE run (id INTEGER PRIMARY KEY, at INTEGER, done INTEGER DEFAULT 0)')
  void storage.setAlarm(object.world.clock.now() + MINUTE_MS)
  await object.settle()
  object.resetCosts()

  object.crashAtAwait(object.progress.seams + 4) // alarm, commit, sync, then the handler's own
  await object.advance('1 minute')

  expect(object.rows('SELECT id, done FROM run')).toEqual([
    { id: 1, done: 1 },
    { id: 2, done: 1 },
  ])
  expect(object.costs).toMatchObject({ rowsWritten: 4, alarmsSet: 0, commits: 3 })
})

test('the same history gives the same seams, whenever it is run', async () => {
  const history = async () => {
    const seams: string[] = []
    const object = simulateObject((ctx, clock) => new Counter(ctx, clock, []), {
      onSeam: (seam) => seams.push(seam.kind),
    })
    object.instance.start()
    await object.advance('150 s')
    object.crash()
    await object.advance('150 s')
    return seams
  }
  expect(await history()).toEqual(await history())
})
