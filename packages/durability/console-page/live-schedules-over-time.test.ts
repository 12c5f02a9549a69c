import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { ApiError } from './api-error.ts'
import { LiveSchedules } from './live-schedules.ts'
import { described } from './support/described.ts'
import { FakeServer, hold, setup } from './support/fake-server.ts'

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

  test('a 401 in the middle ends the looking, and the page is kept until the viewer signs out', async () => {
    const { server, live } = setup(3)
    live.start()
    await vi.advanceTimersByTimeAsync(0)
    server.down = new ApiError(401, 'It has ended')
    await vi.advanceTimersByTimeAsync(2_000)
    expect([live.state, live.refusal, live.hasPage]).toEqual(['unauthenticated', 'It has ended', true])
    server.asked.length = 0
    await vi.advanceTimersByTimeAsync(60_000)
    expect(server.asked).toEqual([])
    live.restart()
    await vi.advanceTimersByTimeAsync(0)
    expect([live.state, live.hasPage]).toEqual(['unauthenticated', true])
    server.down = undefined
    live.restart()
    await vi.advanceTimersByTimeAsync(0)
    expect([live.state, live.refusal]).toEqual(['ready', undefined])
    server.down = new ApiError(401, 'No')
    live.signOut()
    await vi.advanceTimersByTimeAsync(0)
    expect([live.state, live.hasPage]).toEqual(['unauthenticated', false])
  })

  test('a 403 in the middle is said, keeps what is shown, and heals', async () => {
    const { server, live } = setup(3)
    live.start()
    await vi.advanceTimersByTimeAsync(0)
    server.down = new ApiError(403, 'No')
    await vi.advanceTimersByTimeAsync(2_000)
    expect([live.state, live.refusal, live.rows.length]).toEqual(['ready', 'No', 3])
    server.asked.length = 0
    await vi.advanceTimersByTimeAsync(60_000)
    // At 4, 12, 27, 42 and 57 s.
    expect(server.asked).toHaveLength(5)
    server.down = undefined
    await vi.advanceTimersByTimeAsync(15_000)
    expect([live.state, live.refusal]).toEqual(['ready', undefined])
    live.stop()
  })

  test('a 403 at first is a state of its own, which heals too', async () => {
    const { server, live } = setup(3)
    server.down = new ApiError(403, 'No')
    live.start()
    await vi.advanceTimersByTimeAsync(0)
    expect([live.state, live.refusal, live.hasPage]).toEqual(['forbidden', 'No', false])
    server.down = undefined
    await vi.advanceTimersByTimeAsync(30_000)
    expect([live.state, live.refusal]).toEqual(['ready', undefined])
    live.stop()
  })

  test('a page that shows only how many there are looks every ten seconds, and not at runs', async () => {
    const server = new FakeServer()
    server.put(described('a'))
    const live = new LiveSchedules(server)
    live.start()
    await vi.advanceTimersByTimeAsync(59_000)
    expect(server.asked).toEqual(['page 100 from 0', 'runs 1000', ...Array(5).fill('page 100 from 0')])
    server.asked.length = 0
    const stopWatching = live.watch()
    await vi.advanceTimersByTimeAsync(0)
    expect(server.asked).toEqual(['page 100 from 0', 'runs 100'])
    stopWatching()
    live.stop()
  })

  test('a list that is watched asks 40 times a minute', async () => {
    const server = new FakeServer()
    server.put(described('a'))
    const live = new LiveSchedules(server)
    live.watch()
    live.start()
    await vi.advanceTimersByTimeAsync(0)
    server.asked.length = 0
    await vi.advanceTimersByTimeAsync(600_000)
    live.stop()
    expect(server.asked.filter((asked) => asked.startsWith('page'))).toHaveLength(300)
    expect(server.asked).toHaveLength(400)
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
