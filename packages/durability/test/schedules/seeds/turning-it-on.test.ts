import { describe, expect, test } from 'vitest'
import { DurabilityScheduler } from '../../../src/index.ts'
import {
  DurabilityEngine,
  d1Store,
  durableObjectStore,
  memoryStore,
} from '../../../src/schedules/index.node.ts'
import { simulateObject } from '../../../src/testing/index.ts'
import { fakeD1 } from '../support/d1.ts'
import { HOUR_MS, START_AT, setup } from '../support/setup.ts'

const HOURLY = { id: 'a', workflow: 'brief', every: '1h' }
const DUE_AT = START_AT + HOUR_MS

/** An object whose engine leaves persistedSchedules out, or sets it. */
function objectWith(options: { readonly persistedSchedules?: boolean; readonly autoSchema?: boolean } = {}) {
  const { autoSchema, ...engineOptions } = options
  const calls: string[] = []
  const object = simulateObject((ctx, clock) => {
    const scheduler = new DurabilityScheduler({ context: ctx, clock })
    const store = durableObjectStore(ctx.storage, autoSchema === undefined ? {} : { autoSchema })
    const workflows = { brief: ({ runId }: { readonly runId: string }) => void calls.push(runId) }
    const engine = new DurabilityEngine({ store, scheduler, workflows, ...engineOptions })
    return { engine, scheduler, alarm: (info: object) => scheduler.alarm(info) }
  })
  const tables = () =>
    object.rows<{ name: string }>(`SELECT name FROM sqlite_master WHERE name LIKE 'durable\\_%' ESCAPE '\\'`)
  return { object, calls, tables }
}

describe('persistedSchedules', () => {
  test('has every pass of the scheduler fire the due schedules', async () => {
    const { object, calls } = objectWith({ persistedSchedules: true })
    await object.call(({ engine }) => engine.schedules.create(HOURLY))
    await object.advance('2 hours')
    expect(calls).toEqual([`sched:a:${DUE_AT}`, `sched:a:${DUE_AT + HOUR_MS}`])
  })

  test('is off by default: nothing fires but by tick()', async () => {
    const { object, calls } = objectWith()
    await object.call(({ engine }) => engine.schedules.create(HOURLY))
    await object.advance('1 hour')
    expect(calls).toEqual([])
    expect(object.alarmAt).toBe(null)
    expect(await object.call(({ engine }) => engine.schedules.tick())).toEqual([`sched:a:${DUE_AT}`])
    await object.settle()
    expect(calls).toEqual([`sched:a:${DUE_AT}`])
  })
})

describe('the table durable_schedules', () => {
  test('is made with the others by the first use, in an object and in D1', async () => {
    const { object, tables } = objectWith()
    expect(tables()).toEqual([])
    await object.call(({ engine }) => engine.schedules.create(HOURLY))
    expect(tables().map(({ name }) => name)).toContain('durable_schedules')

    const database = fakeD1()
    const { schedules } = new DurabilityEngine({ store: d1Store(database), workflows: {} })
    await schedules.create(HOURLY)
    expect(database.rows('SELECT id FROM durable_schedules')).toEqual([{ id: 'a' }])
    database.close()
  })

  test('is not made with autoSchema off: reads find nothing, and a write says which table is missing', async () => {
    const { object, tables } = objectWith({ autoSchema: false })
    expect(await object.call(({ engine }) => engine.schedules.list())).toHaveLength(0)
    expect(await object.call(({ engine }) => engine.schedules.get('a'))).toBe(null)
    await expect(object.call(({ engine }) => engine.schedules.create(HOURLY))).rejects.toThrow(
      /no such table: durable_schedules/,
    )
    expect(tables()).toEqual([])
  })

  test('is never touched where neither persistedSchedules nor engine.schedules is used', async () => {
    const { object, tables } = objectWith()
    await object.call(() => undefined)
    await object.advance('1 day')
    expect(tables()).toEqual([])

    const queries: string[] = []
    const database = fakeD1()
    const watched = {
      ...database,
      prepare: (query: string) => {
        queries.push(query)
        return database.prepare(query)
      },
    }
    const engine = new DurabilityEngine({ store: d1Store(watched), workflows: {} })
    await engine.drain()
    expect(queries).toEqual([])
    database.close()
  })
})

test('the in-memory store keeps schedules in memory, for every engine over it', async () => {
  const store = memoryStore()
  const { schedules } = setup({ store })
  const created = await schedules.create(HOURLY)
  expect(await setup({ store }).schedules.get('a')).toEqual(created)
  expect(await setup().schedules.get('a')).toBe(null)
})

describe('a custom store', () => {
  test.each(['saveSchedule', 'getSchedule', 'updateSchedule', 'deleteSchedule', 'listSchedules'] as const)(
    'without %s makes every engine.schedules call throw, and say so',
    async (method) => {
      const { [method]: _, ...store } = memoryStore()
      const { schedules } = setup({ store: store as never })
      const calls: Record<keyof typeof schedules, () => Promise<unknown>> = {
        create: () => schedules.create(HOURLY),
        upsert: () => schedules.upsert(HOURLY),
        pause: () => schedules.pause('a'),
        resume: () => schedules.resume('a'),
        trigger: () => schedules.trigger('a'),
        get: () => schedules.get('a'),
        list: () => schedules.list(),
        count: () => schedules.count(),
        delete: () => schedules.delete('a'),
        preview: () => schedules.preview('a'),
        history: () => schedules.history('a'),
        tick: () => schedules.tick(),
      }
      for (const call of Object.values(calls)) {
        await expect(call()).rejects.toMatchObject({
          name: 'StoreNotCapableError',
          message: `The store "memory" has no method ${method}: engine.schedules needs it`,
        })
      }
    },
  )

  test('without fire and sync works all the same, write by write', async () => {
    const { fire: _fire, sync: _sync, ...store } = memoryStore()
    const { schedules, tickIn, decisions } = setup({ store: store as never })
    await schedules.create({ ...HOURLY, catchup: 'skip' })
    expect(await tickIn(HOUR_MS)).toEqual([`sched:a:${DUE_AT}`])
    await tickIn(2.5 * HOUR_MS)
    await schedules.pause('a')
    await schedules.resume('a')
    expect(await schedules.get('a')).toMatchObject({
      fires: 1,
      lastFireAt: DUE_AT,
      nextFireAt: START_AT + 4 * HOUR_MS,
    })
    expect((await decisions('a')).map(([decision]) => decision).sort()).toEqual([
      'fired',
      'paused',
      'resumed',
      'skipped_catchup',
    ])
  })
})

test('a handler is refused at construction by a store that belongs to no object', () => {
  const store = d1Store(fakeD1())
  expect(() => new DurabilityEngine({ store, workflows: { brief: () => undefined } })).toThrow(
    'options.workflows["brief"] is a handler, and the store "D1" belongs to no object that could run it',
  )
})
