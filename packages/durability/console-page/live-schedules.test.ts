import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError } from './api-error.ts'
import { LiveSchedules, type SchedulesSource } from './live-schedules.ts'
import { described, type Failure, NOW } from './support/described.ts'
import type { RunDescription, ScheduleDescription, SchedulesPage } from './types.ts'

/** A server in memory: answers in the order of the API, and counts what it is asked. */
class FakeServer implements SchedulesSource {
  readonly rows = new Map<string, ScheduleDescription>()
  failures: readonly Failure[] = []
  readonly asked: string[] = []
  /** Thrown instead of any answer. */
  down: Error | undefined
  /** Ids whose shard does not answer. */
  silent: ReadonlySet<string> = new Set()
  /** Held before an answer that was already made is given. */
  held: Promise<void> | undefined

  put(...schedules: readonly ScheduleDescription[]): void {
    for (const schedule of schedules) this.rows.set(schedule.id, schedule)
  }

  async page({ limit, cursor = '0' }: { limit: number; cursor?: string }): Promise<SchedulesPage> {
    this.asked.push(`page ${limit} from ${cursor}`)
    if (this.down !== undefined) throw this.down
    const from = Number(cursor)
    const heard = this.inOrder().filter(({ id }) => !this.silent.has(id))
    const schedules = heard.slice(from, from + limit)
    await this.held
    return {
      schedules,
      cursor: from + limit < heard.length ? String(from + limit) : null,
      ...(this.silent.size > 0 && { failed: ['schedules-1 does not answer'] }),
    }
  }

  async one(id: string): Promise<ScheduleDescription | null> {
    this.asked.push(`one ${id}`)
    if (this.silent.has(id)) throw new ApiError(502, 'schedules-1 does not answer')
    const schedule = this.rows.get(id) ?? null
    await this.held
    return schedule
  }

  async runs(limit: number): Promise<readonly RunDescription[]> {
    this.asked.push(`runs ${limit}`)
    // The page looks at these members of a run only.
    return this.failures as readonly RunDescription[]
  }

  inOrder(): ScheduleDescription[] {
    const due = ({ paused, nextFireAt }: ScheduleDescription) =>
      paused ? Number.MAX_VALUE : (nextFireAt ?? Number.MAX_SAFE_INTEGER)
    return [...this.rows.values()].sort((one, other) => due(one) - due(other) || (one.id < other.id ? -1 : 1))
  }
}

function setup(count = 0) {
  const server = new FakeServer()
  let now = NOW
  for (let index = 0; index < count; index += 1) {
    server.put(described(`s${String(index).padStart(5, '0')}`, { nextFireAt: NOW + (index + 1) * 1_000 }))
  }
  const live = new LiveSchedules(server, () => now)
  const ids = () => live.rows.map(({ id }) => id)
  const moveBy = (ms: number) => {
    now += ms
  }
  return { server, live, ids, moveBy }
}

/** A held answer: the server has made it, and the page waits for it. */
function hold(server: FakeServer): () => void {
  const gate = Promise.withResolvers<void>()
  server.held = gate.promise
  return () => {
    server.held = undefined
    gate.resolve()
  }
}

describe('a look', () => {
  test('shows few at once and goes on until all are read', async () => {
    const { server, live } = setup(2_500)
    const counts: number[] = []
    live.subscribe(() => counts.push(live.rows.length))
    await live.look()
    expect(counts[0]).toBe(100)
    expect(live.rows).toEqual(server.inOrder())
    expect(live.isComplete).toBe(true)
    expect(server.asked).toEqual([
      ...['page 100 from 0', 'runs 1000', 'page 1000 from 100', 'page 1000 from 1100', 'page 1000 from 2100'],
    ])
  })

  test('after that asks for the soonest only, and one by one for what has left them', async () => {
    const { server, live, ids } = setup(300)
    await live.look()
    server.asked.length = 0
    server.put(described('s00003', { nextFireAt: NOW + 7_200_000, lastFireAt: NOW }))
    await live.look()
    expect(server.asked).toEqual(['page 100 from 0', 'one s00003'])
    expect(ids()).toEqual(server.inOrder().map(({ id }) => id))
    expect(live.get('s00003')).toMatchObject({ lastFireAt: NOW })
  })

  test('reads everything again when much has left the soonest', async () => {
    const { server, live } = setup(300)
    await live.look()
    for (const { id } of server.inOrder().slice(0, 11)) {
      server.put(described(id, { nextFireAt: NOW + 7_200_000 }))
    }
    server.asked.length = 0
    await live.look()
    expect(server.asked).toEqual(['page 100 from 0', 'page 1000 from 100'])
    expect(live.rows).toEqual(server.inOrder())
  })

  test('reads everything again after a minute, for what others changed and did not fire', async () => {
    const { server, live, moveBy } = setup(300)
    await live.look()
    const last = described('s00299', { nextFireAt: NOW + 300_000, note: 'changed by another' })
    server.put(last)
    moveBy(59_000)
    await live.look()
    expect(live.get(last.id)?.note).toBeNull()
    moveBy(1_000)
    await live.look()
    expect(live.get(last.id)).toEqual(last)
  })

  test('takes out what was deleted: at once when it was asked for, else when twice not found', async () => {
    const { server, live, moveBy } = setup(300)
    await live.look()
    server.rows.delete('s00003')
    server.rows.delete('s00250')
    await live.look()
    expect([live.get('s00003'), live.get('s00250')?.id]).toEqual([undefined, 's00250'])
    moveBy(60_000)
    await live.look()
    expect(live.get('s00250')).toBeDefined()
    moveBy(60_000)
    await live.look()
    expect(live.get('s00250')).toBeUndefined()
    expect(live.rows).toHaveLength(298)
  })

  test('takes out at once what is not on the only page', async () => {
    const { server, live, ids } = setup(3)
    await live.look()
    server.rows.delete('s00001')
    await live.look()
    expect(ids()).toEqual(['s00000', 's00002'])
  })

  test('sorts as the API does: soonest first, finished, then paused ones last', async () => {
    const { server, live, ids } = setup()
    server.put(
      described('paused', { paused: true, nextFireAt: null }),
      described('finished', { finished: true, nextFireAt: null }),
      described('later', { nextFireAt: NOW + 2 }),
      described('b', { nextFireAt: NOW + 1 }),
      described('a', { nextFireAt: NOW + 1 }),
    )
    await live.look()
    expect(ids()).toEqual(['a', 'b', 'later', 'finished', 'paused'])
  })

  test('reads 10,000 in eleven pages and keeps them in order without reading them again', async () => {
    const { server, live } = setup(10_000)
    await live.look()
    expect(live.rows).toHaveLength(10_000)
    expect(server.asked.filter((asked) => asked.startsWith('page'))).toHaveLength(11)
    await live.look()
    expect(server.asked.filter((asked) => asked.startsWith('page'))).toHaveLength(12)
  })
})

describe('what an action answered', () => {
  test('is not undone by an answer that was made before it', async () => {
    const { server, live } = setup(3)
    await live.look()
    const release = hold(server)
    const looking = live.look()
    live.put(described('s00001', { paused: true, nextFireAt: null }))
    live.remove('s00002')
    release()
    await looking
    expect(live.get('s00001')?.paused).toBe(true)
    expect(live.get('s00002')).toBeUndefined()
  })

  test('is not undone by a reading of that one schedule either', async () => {
    const { server, live } = setup(3)
    await live.look()
    const release = hold(server)
    const reading = live.read('s00001')
    live.put(described('s00001', { paused: true, nextFireAt: null }))
    release()
    expect(await reading).toMatchObject({ paused: true })
    expect(live.get('s00001')?.paused).toBe(true)
  })

  test('gives way to the next answer that was asked for after it', async () => {
    const { server, live } = setup(3)
    await live.look()
    live.put(described('s00001', { paused: true, nextFireAt: null }))
    await live.look()
    expect(live.get('s00001')).toEqual(server.rows.get('s00001'))
  })

  test('is not lost when it is new and the page was asked for before', async () => {
    const { server, live } = setup(3)
    await live.look()
    const release = hold(server)
    const looking = live.look()
    live.put(described('new'))
    release()
    await looking
    expect(live.get('new')).toBeDefined()
  })
})

describe('failures of runs', () => {
  test('are known by the last run of a schedule, and end with a good one', async () => {
    const { server, live, moveBy } = setup()
    const failed = described('a', { lastRunId: 'run-1' })
    server.put(failed)
    server.failures = [{ id: 'run-1', status: 'errored', error: 'no mail server' }]
    await live.look()
    expect(live.failureOf(failed)).toBe('no mail server')
    expect(live.failureOf(described('b'))).toBeNull()
    server.failures = [{ id: 'run-1', status: 'complete', error: null }]
    moveBy(5_000)
    await live.look()
    expect(live.failureOf(failed)).toBeNull()
  })
})

describe('where a shard does not answer', () => {
  test('its schedules stay, however often they are not found, and it is said', async () => {
    const { server, live, moveBy } = setup(300)
    await live.look()
    server.silent = new Set(['s00003', 's00250'])
    server.asked.length = 0
    for (let looks = 0; looks < 4; looks += 1) {
      await live.look()
      moveBy(60_000)
    }
    expect(live.failed).toEqual(['schedules-1 does not answer'])
    expect(live.rows).toHaveLength(300)
    // What cannot answer is not asked again and again.
    expect(server.asked.filter((asked) => asked.startsWith('one'))).toEqual([])
    server.silent = new Set()
    await live.look()
    expect(live.failed).toEqual([])
  })

  test('its schedules stay on a single page too', async () => {
    const { server, live } = setup(3)
    await live.look()
    server.silent = new Set(['s00001'])
    await live.look()
    expect(live.rows).toHaveLength(3)
  })
})

describe('over time', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  test('it looks every two seconds until it is stopped', async () => {
    const { server, live } = setup(3)
    live.start()
    await vi.advanceTimersByTimeAsync(4_000)
    live.stop()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(server.asked.filter((asked) => asked === 'page 100 from 0')).toHaveLength(3)
  })

  test('a lost connection is said, keeps what is shown, is tried less and less often, and heals', async () => {
    const { server, live } = setup(3)
    live.start()
    await vi.advanceTimersByTimeAsync(0)
    server.down = new Error('The server cannot be reached')
    server.asked.length = 0
    await vi.advanceTimersByTimeAsync(2_000)
    expect([live.state, live.lost, live.rows.length]).toEqual(['ready', 'The server cannot be reached', 3])
    await vi.advanceTimersByTimeAsync(60_000)
    // At 2, 6, 14, 29, 44 and 59 s.
    expect(server.asked).toHaveLength(6)
    server.down = undefined
    await vi.advanceTimersByTimeAsync(15_000)
    expect(live.lost).toBeUndefined()
    live.stop()
  })

  test('a start after a lost connection looks at once', async () => {
    const { server, live } = setup(3)
    server.down = new ApiError(503, 'The engine is draining')
    live.start()
    await vi.advanceTimersByTimeAsync(6_500)
    expect([live.state, live.lost]).toEqual(['loading', 'The engine is draining'])
    server.down = undefined
    live.start()
    await vi.advanceTimersByTimeAsync(0)
    expect([live.state, live.lost]).toEqual(['ready', undefined])
    live.stop()
  })

  test.each([
    [401, 'unauthenticated'],
    [403, 'forbidden'],
  ] as const)('a %i in the middle ends the looking', async (status, state) => {
    const { server, live } = setup(3)
    live.start()
    await vi.advanceTimersByTimeAsync(0)
    server.down = new ApiError(status, 'No')
    await vi.advanceTimersByTimeAsync(2_000)
    expect([live.state, live.refusal]).toEqual([state, 'No'])
    server.asked.length = 0
    await vi.advanceTimersByTimeAsync(60_000)
    expect(server.asked).toEqual([])
  })

  test('another viewer sees nothing of what was answered to the one before', async () => {
    const { server, live, ids } = setup(3)
    const release = hold(server)
    live.start()
    await vi.advanceTimersByTimeAsync(0)
    // The answer for the first viewer is on its way.
    server.rows.clear()
    server.put(described('of the second'))
    server.held = undefined
    live.restart()
    await vi.advanceTimersByTimeAsync(0)
    release()
    await vi.advanceTimersByTimeAsync(0)
    expect(ids()).toEqual(['of the second'])
    live.stop()
  })
})
