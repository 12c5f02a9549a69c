import { expect, test } from 'vitest'
import type { Clock } from '../core/clock.ts'
import { type SimulatedAlarmInfo, type SimulatedLife, type SimulatedState, simulateObject } from './index.ts'

const MINUTE_MS = 60_000

/** Counts in a table, once per alarm, every minute. */
class Counter {
  readonly ctx: SimulatedState
  readonly clock: Clock
  readonly infos: SimulatedAlarmInfo[]

  constructor(ctx: SimulatedState, clock: Clock, infos: SimulatedAlarmInfo[]) {
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
