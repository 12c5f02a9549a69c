import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { ConsoleEngine } from '../../src/console/index.ts'
import {
  DurabilityEngine,
  d1Store,
  dispatch,
  memoryStore,
  remoteSchedules,
  shardedSchedules,
} from '../../src/schedules/index.node.ts'
import { plainError, type ScheduleObjectStub } from '../../src/schedules/remote.ts'
import { fakeD1 } from '../schedules/support/d1.ts'
import { engineAt, NOW, read, testConsole } from './setup.ts'

const DAILY = { workflow: 'brief', cron: '0 9 * * *' }

/** Answers as an object does: everything is a copy, a page is a value with its cursor, an error is plain. */
function objectOf(engine: DurabilityEngine): ScheduleObjectStub {
  return {
    async call(verb, args) {
      const at: object = verb in engine.schedules ? engine.schedules : engine
      const ask = Reflect.get(at, verb) as (...given: unknown[]) => Promise<unknown>
      try {
        const value = await ask.apply(at, structuredClone([...args]))
        const isPage = Array.isArray(value) && 'cursor' in value
        return structuredClone({ value: isPage ? { page: [...value], cursor: value.cursor } : value })
      } catch (error) {
        return { error: structuredClone(plainError(error)) }
      }
    },
  }
}

function shardsOf(count: number, silent?: number): ConsoleEngine {
  const objects = new Map<string, ScheduleObjectStub>()
  for (let shard = 0; shard < count; shard += 1) {
    const sleeping = { call: () => Promise.reject(new Error('asleep')) }
    objects.set(`schedules-${shard}`, shard === silent ? sleeping : objectOf(engineAt(() => NOW)))
  }
  const getByName = (name: string) => {
    const object = objects.get(name)
    if (object === undefined) throw new Error(`No object ${name}`)
    return object
  }
  return shardedSchedules({ getByName }, { shards: count })
}

const ENGINES: Readonly<Record<string, () => ConsoleEngine>> = {
  'an engine over D1': () =>
    new DurabilityEngine({
      store: d1Store(fakeD1()),
      clock: () => NOW,
      workflows: {
        brief: dispatch(() => undefined),
        picky: {
          ...dispatch(() => undefined),
          validate: () => {
            throw new Error('no topic')
          },
        },
        gone: dispatch(() => {
          throw new Error('the queue is full')
        }),
      },
    }),
  'an engine in memory': () => engineAt(() => NOW),
  'one object': () => remoteSchedules(objectOf(engineAt(() => NOW))),
  'a set of objects': () => shardsOf(3),
}

describe.each(Object.keys(ENGINES))('over %s', (name) => {
  const start = () => testConsole({ engine: ENGINES[name]?.() ?? engineAt(() => NOW) })

  test('the console makes, shows, pauses, resumes, starts and deletes', async () => {
    const console = start()
    const get = async (path: string) => (await read(await console.send('GET', path))).body
    for (const id of ['a/b:c%', 'second', 'third']) {
      const answer = await console.send('PUT', `/schedules/${encodeURIComponent(id)}`, { body: DAILY })
      expect(answer.status).toBe(200)
    }
    const at = '/schedules/a%2Fb%3Ac%25'
    expect(await get('/schedules?limit=2')).toMatchObject({
      schedules: [{ id: 'a/b:c%', nextFireAt: NOW + 3_600_000 }, { id: 'second' }],
      cursor: expect.any(String),
    })
    const { cursor } = (await get('/schedules?limit=2')) as { cursor: string }
    expect(await get(`/schedules?limit=2&cursor=${encodeURIComponent(cursor)}`)).toMatchObject({
      schedules: [{ id: 'third' }],
      cursor: null,
    })
    await console.send('POST', `${at}/pause`, { body: { note: 'why not' } })
    expect(await get(at)).toMatchObject({ paused: true, note: 'why not', nextFireAt: null })
    expect(await get('/schedules?paused=true')).toMatchObject({ schedules: [{ id: 'a/b:c%' }] })
    expect((await console.send('POST', `${at}/resume`)).status).toBe(200)
    expect((await console.send('POST', `${at}/trigger`)).status).toBe(200)
    expect(await get(`/runs?scheduleId=${encodeURIComponent('a/b:c%')}`)).toMatchObject({
      runs: [{ scheduleId: 'a/b:c%', workflow: 'brief' }],
      cursor: null,
    })
    expect(await get(`${at}/preview?count=1`)).toEqual({
      windows: [{ scheduledTime: NOW + 3_600_000, dueAt: NOW + 3_600_000 }],
    })
    expect(await get(`${at}/history`)).toMatchObject({
      decisions: expect.arrayContaining([
        expect.objectContaining({ decision: 'paused', reason: 'why not' }),
        expect.objectContaining({ decision: 'resumed' }),
      ]),
    })
    expect((await console.send('DELETE', at)).status).toBe(204)
    expect((await console.send('GET', at)).status).toBe(404)
  })

  test('the console answers its errors with the same status, name and field', async () => {
    const console = start()
    const put = (id: string, body: object, headers = {}) =>
      console.send('PUT', `/schedules/${id}`, { body, headers })
    await put('daily', DAILY)
    await put('lost', { ...DAILY, workflow: 'nobody' })
    await put('picky', { ...DAILY, workflow: 'picky' })
    await put('full', { ...DAILY, workflow: 'gone' })
    const answers = [
      await put('bad', { ...DAILY, cron: '0 25 * * *' }),
      await put('daily', DAILY, { 'if-none-match': '*' }),
      await console.send('POST', '/schedules/unknown/pause'),
      await console.send('POST', '/schedules/lost/trigger'),
      await console.send('POST', '/schedules/picky/trigger'),
      await console.send('POST', '/schedules/full/trigger'),
      await console.send('GET', '/schedules?cursor=nonsense'),
      await console.send('GET', '/schedules?offset=-1'),
      await console.send('GET', '/runs?limit=1001'),
    ]
    const seen = await Promise.all(
      answers.map(async (answer) => {
        const { error } = (await answer.json()) as { error: { name: string; field?: string } }
        return [answer.status, error.name, ...(error.field === undefined ? [] : [error.field])].join(' ')
      }),
    )
    expect(seen).toEqual([
      '400 InvalidScheduleError cron',
      '409 ScheduleAlreadyExistsError',
      '404 ScheduleNotFoundError',
      '409 WorkflowNotRegisteredError',
      '400 InvalidInputError input',
      '502 RequestError',
      '400 InvalidScheduleError cursor',
      '400 InvalidScheduleError offset',
      '400 InvalidScheduleError limit',
    ])
  })
})

test('a set with a silent object lists the others and names it, and answers 502 for what is in it', async () => {
  const console = testConsole({ engine: shardsOf(2, 1) })
  const statuses = new Set<number>()
  for (let index = 0; index < 10; index += 1) {
    statuses.add((await console.send('PUT', `/schedules/s${index}`, { body: DAILY })).status)
  }
  expect([...statuses].sort()).toEqual([200, 502])
  for (const path of ['/schedules', '/runs']) {
    expect(await read(await console.send('GET', path)), path).toMatchObject({
      status: 200,
      body: { failed: ['Shard 1 failed: asleep'] },
    })
  }
})

test('an engine whose database fails answers 500 and keeps the text to itself', async () => {
  const reported = vi.spyOn(globalThis.console, 'error').mockImplementation(() => {})
  onTestFinished(() => reported.mockRestore())
  const store = { ...memoryStore(), listSchedules: () => Promise.reject(new Error('D1_ERROR: secret')) }
  const engine = new DurabilityEngine({ store, clock: () => NOW, workflows: {} })
  const answer = await testConsole({ engine }).send('GET', '/schedules')
  expect(answer.status).toBe(500)
  expect(await answer.text()).not.toContain('secret')
  expect(reported.mock.calls.join()).toContain('D1_ERROR: secret')
})
