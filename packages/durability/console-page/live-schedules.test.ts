import { describe, expect, test } from 'vitest'
import { ApiError } from './api-error.ts'
import { described, type Failure, NOW } from './support/described.ts'
import { hold, setup } from './support/fake-server.ts'

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

describe('a failure far behind the latest runs', () => {
  const nightly = described('nightly', { lastRunId: 'nightly-1' })
  const good = Array.from({ length: 200 }, (_, index): Failure => {
    return { id: `often-${index}`, status: 'complete', error: null }
  })
  const night: readonly Failure[] = [...good, { id: 'nightly-1', status: 'errored', error: 'disk full' }]

  test('is found by the first look after hours', async () => {
    const { server, live, moveBy } = setup()
    server.put(nightly)
    await live.look()
    moveBy(36_000_000)
    server.failures = night
    await live.look()
    expect(live.failureOf(nightly)).toBe('disk full')
  })

  test('of a run that took long is found within a minute', async () => {
    const { server, live, moveBy } = setup()
    server.put(nightly)
    for (let seconds = 0; seconds < 60; seconds += 5) {
      await live.look()
      server.failures = night
      moveBy(5_000)
    }
    expect(live.failureOf(nightly)).toBeNull()
    await live.look()
    expect(live.failureOf(nightly)).toBe('disk full')
    expect(server.asked.filter((asked) => asked.startsWith('runs'))).toEqual([
      ...['runs 1000', ...Array.from({ length: 11 }, () => 'runs 100'), 'runs 1000'],
    ])
  })
})

describe('who may see only a part', () => {
  const forbidden = new ApiError(403, 'This token does not allow it')

  test('sees the table without single schedules, which are read with all', async () => {
    const { server, live, moveBy } = setup(300)
    server.withoutGet = forbidden
    await live.look()
    const fired = described('s00003', { nextFireAt: NOW + 7_200_000 })
    server.put(fired)
    await live.look()
    await live.look()
    expect([live.state, live.refusal, live.rows.length]).toEqual(['ready', undefined, 300])
    expect(server.asked.filter((asked) => asked.startsWith('one'))).toHaveLength(1)
    moveBy(60_000)
    await live.look()
    expect(live.get('s00003')).toEqual(fired)
  })

  test('sees the table without runs, and is asked about them once a minute', async () => {
    const { server, live, moveBy } = setup(3)
    server.withoutRuns = forbidden
    for (let seconds = 0; seconds <= 60; seconds += 2) {
      await live.look()
      moveBy(2_000)
    }
    expect([live.state, live.rows.length, live.failed]).toEqual(['ready', 3, []])
    expect(server.asked.filter((asked) => asked.startsWith('runs'))).toHaveLength(2)
  })

  test('hears of runs that could not be read, and sees all schedules', async () => {
    const { server, live, moveBy } = setup(300)
    server.withoutRuns = new ApiError(502, 'The runs do not answer')
    await live.look()
    expect([live.rows.length, live.failed]).toEqual([300, ['The runs do not answer']])
    server.withoutRuns = undefined
    moveBy(5_000)
    await live.look()
    expect(live.failed).toEqual([])
  })

  test('sees the table while one schedule cannot be read', async () => {
    const { server, live } = setup(300)
    await live.look()
    server.withoutGet = new ApiError(502, 'schedules-1 does not answer')
    server.put(described('s00003', { nextFireAt: NOW + 7_200_000 }))
    await live.look()
    expect(live.rows).toHaveLength(300)
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
