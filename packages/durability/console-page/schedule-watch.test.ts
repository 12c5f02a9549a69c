import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError } from './api-error.ts'
import { type ScheduleSource, ScheduleWatch } from './schedule-watch.ts'
import { described, NOW } from './support/described.ts'
import type { Decisions, RunDescription, RunsPage, ScheduleDescription, Windows } from './types.ts'

const MINUTE = 60_000

/** A server in memory: counts what it is asked, and refuses what it is told to. */
class FakeServer implements ScheduleSource {
  schedule: ScheduleDescription | null = described('a')
  page: RunsPage = { runs: [], cursor: null }
  readonly asked: string[] = []
  readonly errors = new Map<string, Error>()
  /** Held before an answer that was already made is given. */
  held: Promise<void> | undefined

  async #answer<Value>(name: string, value: Value): Promise<Value> {
    this.asked.push(name)
    await this.held
    const error = this.errors.get(name)
    if (error !== undefined) throw error
    return value
  }

  description = (): Promise<ScheduleDescription | null> => this.#answer('description', this.schedule)
  runs = (): Promise<RunsPage> => this.#answer('runs', this.page)
  history = (): Promise<Decisions> => this.#answer('history', { decisions: [] })
  next = (): Promise<Windows> => this.#answer('next', { windows: [{ scheduledTime: NOW, dueAt: NOW }] })

  countOf(name: string): number {
    return this.asked.filter((asked) => asked === name).length
  }
}

function setup() {
  const server = new FakeServer()
  const watch = new ScheduleWatch(server)
  const tick = (ms = 0) => vi.advanceTimersByTimeAsync(ms)
  return { server, watch, tick }
}

const run = (id: string, finishedAt: number | null) => ({ id, finishedAt }) as RunDescription

beforeEach(() => {
  vi.useFakeTimers({ now: NOW })
})
afterEach(() => {
  vi.useRealTimers()
})

describe('while nothing happens', () => {
  test('a minute is 26 requests: the description every 3 s, the rest every 30 s', async () => {
    const { server, watch, tick } = setup()
    watch.start()
    await tick()
    server.asked.length = 0
    await tick(MINUTE)
    watch.stop()
    expect(['description', 'runs', 'history', 'next'].map((name) => server.countOf(name))).toEqual([
      ...[20, 2, 2, 2],
    ])
  })

  test('a minute of one that fires all the time is 80 requests', async () => {
    const { server, watch, tick } = setup()
    watch.start()
    await tick()
    server.asked.length = 0
    for (let looks = 0; looks < 20; looks += 1) {
      server.schedule = described('a', { lastRunId: `run-${looks}` })
      await tick(3_000)
    }
    watch.stop()
    expect(server.asked).toHaveLength(80)
  })

  test('a page that is left or hidden asks nothing', async () => {
    const { server, watch, tick } = setup()
    watch.start()
    await tick()
    watch.stop()
    server.asked.length = 0
    await tick(MINUTE)
    expect(server.asked).toEqual([])
  })

  test('a page that is shown again reads everything at once', async () => {
    const { server, watch, tick } = setup()
    watch.start()
    await tick()
    watch.stop()
    server.asked.length = 0
    watch.start()
    await tick()
    expect(server.asked).toEqual(['description', 'runs', 'history', 'next'])
    watch.stop()
  })
})

describe('the other parts are read', () => {
  test.each([
    ['lastRunId', { lastRunId: 'run-1' }],
    ['updatedAt', { updatedAt: NOW + 1 }],
    ['nextFireAt', { nextFireAt: NOW + 1 }],
  ])('once when %s has changed', async (_, change) => {
    const { server, watch, tick } = setup()
    watch.start()
    await tick()
    server.schedule = described('a', change)
    server.asked.length = 0
    await tick(9_000)
    watch.stop()
    expect(server.asked).toEqual([
      ...['description', 'runs', 'history', 'next', 'description', 'description'],
    ])
  })

  test('with each look while a run is going on: the runs alone', async () => {
    const { server, watch, tick } = setup()
    server.page = { runs: [run('one', null)], cursor: null }
    watch.start()
    await tick()
    server.asked.length = 0
    await tick(6_000)
    expect(server.asked).toEqual(['description', 'runs', 'description', 'runs'])
    server.page = { runs: [run('one', NOW)], cursor: null }
    await tick(3_000)
    server.asked.length = 0
    await tick(3_000)
    expect(server.asked).toEqual(['description'])
    watch.stop()
  })
})

describe('each part stands by itself', () => {
  const refusal = new ApiError(403, 'This token does not allow it')

  test.each(['description', 'runs', 'history', 'next'] as const)(
    'a refused %s is said, asked for every 30 s, and leaves the others',
    async (name) => {
      const { server, watch, tick } = setup()
      server.errors.set(name, refusal)
      watch.start()
      await tick()
      for (const [part, { value, error }] of Object.entries(watch.parts)) {
        expect([part, value === undefined, error]).toEqual([
          part,
          part === name,
          part === name ? refusal : undefined,
        ])
      }
      server.asked.length = 0
      await tick(MINUTE)
      watch.stop()
      expect(server.countOf(name)).toBe(2)
    },
  )

  test('one that fails keeps what was read, is asked for less and less often, and heals', async () => {
    const { server, watch, tick } = setup()
    watch.start()
    await tick()
    const failure = new Error('The server cannot be reached')
    server.errors.set('description', failure)
    server.asked.length = 0
    await tick(3_000)
    expect(watch.parts.description).toEqual({ value: described('a'), error: failure })
    // After 6, 12, 15 and 15 s more.
    await tick(48_000)
    expect(server.countOf('description')).toBe(5)
    server.errors.clear()
    await tick(15_000)
    expect(watch.parts.description.error).toBeUndefined()
    watch.stop()
  })

  test('no runs from silent shards is no answer, and some are', async () => {
    const { server, watch, tick } = setup()
    const failed = ['schedules-1 does not answer']
    server.page = { runs: [], cursor: null, failed }
    watch.start()
    await tick()
    expect(watch.parts.runs).toEqual({ error: new Error('schedules-1 does not answer') })
    expect(watch.parts.next.value?.windows).toHaveLength(1)
    server.page = { runs: [run('one', NOW)], cursor: null, failed }
    await tick(6_000)
    expect(watch.parts.runs.value?.runs).toHaveLength(1)
    watch.stop()
  })

  test('what is gone is not shown any more, and nothing else is asked for', async () => {
    const { server, watch, tick } = setup()
    watch.start()
    await tick()
    server.schedule = null
    server.errors.set('history', new ApiError(404, 'There is none'))
    server.asked.length = 0
    await tick(6_000)
    expect(watch.parts.description).toEqual({ value: null })
    expect(server.asked).toEqual(['description', 'description'])
    watch.stop()
  })
})

test('an answer after the stop is not shown', async () => {
  const { server, watch, tick } = setup()
  const gate = Promise.withResolvers<void>()
  server.held = gate.promise
  watch.start()
  watch.stop()
  gate.resolve()
  await tick()
  expect(watch.parts.description).toEqual({})
})
