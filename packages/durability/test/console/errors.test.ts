import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { InvalidScheduleError, shardedSchedules } from '../../src/schedules/index.node.ts'
import { BASE, NOW, read, testConsole } from './setup.ts'

const DAILY = { workflow: 'brief', cron: '0 9 * * *' }

describe('an error', () => {
  test('of a schedule that is there already is a 409, when only a new one is asked for', async () => {
    const console = testConsole()
    const put = () =>
      console.send('PUT', '/schedules/daily', { body: DAILY, headers: { 'if-none-match': '*' } })
    expect((await put()).status).toBe(200)
    expect(await read(await put())).toMatchObject({
      status: 409,
      body: { error: { name: 'ScheduleAlreadyExistsError' } },
    })
  })

  test('of a limit that is reached is a 409', async () => {
    const console = testConsole()
    const concurrency = { key: 'k', limit: 1 }
    await console.engine.schedules.create({ ...DAILY, id: 'one', concurrency })
    await console.engine.start('endless', null, 'first', { concurrency })
    expect(await read(await console.send('POST', '/schedules/one/trigger'))).toMatchObject({
      status: 409,
      body: { error: { name: 'ConcurrencyLimitError' } },
    })
  })

  test('of a workflow that nobody has registered is a 409, and names it', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'lost', workflow: 'nobody' })
    expect(await read(await console.send('POST', '/schedules/lost/trigger'))).toMatchObject({
      status: 409,
      body: { error: { name: 'WorkflowNotRegisteredError', message: expect.stringContaining('nobody') } },
    })
  })

  test('of an input that is refused is a 400, with the reason', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'picky', workflow: 'picky' })
    expect(await read(await console.send('POST', '/schedules/picky/trigger'))).toMatchObject({
      status: 400,
      body: { error: { field: 'input', message: expect.stringContaining('no topic') } },
    })
  })

  test('of what was to be started is a 502, in its own words', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'full', workflow: 'gone' })
    expect(await read(await console.send('POST', '/schedules/full/trigger'))).toMatchObject({
      status: 502,
      body: { error: { message: 'the queue is full' } },
    })
  })

  test('that nobody planned for is a 500 without its text, and is reported', async () => {
    const reported = vi.spyOn(globalThis.console, 'error').mockImplementation(() => {})
    onTestFinished(() => reported.mockRestore())
    const { engine } = testConsole()
    const broken = {
      ...engine,
      schedules: { ...engine.schedules, get: () => Promise.reject(new Error('a secret')) },
    }
    const console = testConsole({ engine: { ...broken, listRuns: () => engine.listRuns() } })
    const answer = await read(await console.send('GET', '/schedules/daily'))
    expect(answer).toEqual({ status: 500, body: { error: { name: 'Error', message: expect.any(String) } } })
    expect(JSON.stringify(answer)).not.toContain('a secret')
    expect(reported.mock.calls.join()).toContain('durability.console.failed')
  })

  test.each(['a secret', { message: 'a secret' }, null, undefined, new Response('a secret')])(
    'that is no Error is a 500 like any other, with the headers of all answers, case %#',
    async (thrown) => {
      const reported = vi.spyOn(globalThis.console, 'error').mockImplementation(() => {})
      onTestFinished(() => reported.mockRestore())
      const { engine } = testConsole()
      const schedules = { ...engine.schedules, get: () => Promise.reject(thrown) }
      const console = testConsole({ engine: { schedules, listRuns: () => engine.listRuns() } })
      const response = await console.send('GET', '/schedules/daily')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
      const answer = await read(response)
      expect(answer).toEqual({ status: 500, body: { error: { name: 'Error', message: expect.any(String) } } })
      expect(JSON.stringify(answer)).not.toContain('a secret')
      expect(reported.mock.calls.join()).toContain('durability.console.failed')
    },
  )

  test('that came from another object is known by its code', async () => {
    const { engine } = testConsole()
    const error = Object.assign(new Error('cron is bad'), {
      name: 'InvalidScheduleError',
      code: 'invalid_schedule',
      field: 'cron',
    })
    expect(error).not.toBeInstanceOf(InvalidScheduleError)
    const far = {
      ...engine,
      schedules: { ...engine.schedules, upsert: () => Promise.reject(error) },
      listRuns: () => engine.listRuns(),
    }
    const console = testConsole({ engine: far })
    expect(await read(await console.send('PUT', '/schedules/daily', { body: DAILY }))).toEqual({
      status: 400,
      body: { error: { name: 'InvalidScheduleError', message: 'cron is bad', field: 'cron' } },
    })
  })
})

describe('a set of objects', () => {
  test('shows what the others answer when one fails, and says so', async () => {
    const { engine } = testConsole()
    await engine.schedules.create({ ...DAILY, id: 'daily' })
    const list = async (filter: object) => {
      expect(filter).toMatchObject({ partial: true })
      const page = await engine.schedules.list()
      return Object.defineProperty(page, 'failed', { value: [new Error('Shard 1 failed: asleep')] })
    }
    const sharded = { shards: 2, schedules: { ...engine.schedules, list }, listRuns: () => engine.listRuns() }
    const console = testConsole({ engine: sharded })
    expect((await read(await console.send('GET', '/schedules'))).body).toMatchObject({
      schedules: [{ id: 'daily' }],
      failed: ['Shard 1 failed: asleep'],
    })
  })
})

test('what shardedSchedules answers says that it is a set', () => {
  const objects = { getByName: () => ({ call: () => Promise.reject(new Error('asleep')) }) }
  expect(shardedSchedules(objects, { shards: 3 }).shards).toBe(3)
})

describe('a list', () => {
  test('goes on where its cursor says, to its end', async () => {
    const console = testConsole()
    for (let index = 0; index < 5; index += 1) {
      await console.engine.schedules.create({ ...DAILY, id: `s${index}` })
    }
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const response = await console.send(
        'GET',
        `/schedules?limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      )
      const page = (await response.json()) as { schedules: { id: string }[]; cursor: string | null }
      seen.push(...page.schedules.map(({ id }) => id))
      cursor = page.cursor
    }
    expect(seen).toEqual(['s0', 's1', 's2', 's3', 's4'])
  })

  test('of runs shows what was started by hand', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    await console.send('POST', '/schedules/daily/trigger')
    const { body } = await read(await console.send('GET', '/runs?scheduleId=daily'))
    expect(body).toMatchObject({ runs: [{ id: `sched:daily:manual:${NOW}` }] })
  })
})

describe('a change', () => {
  test('is told to onChange with its actor, and what that throws changes nothing', async () => {
    const changes: unknown[] = []
    const console = testConsole({
      onChange(change) {
        changes.push(change)
        throw new Error('the audit log is full')
      },
    })
    const reported = vi.spyOn(globalThis.console, 'error').mockImplementation(() => {})
    onTestFinished(() => reported.mockRestore())
    await console.send('PUT', '/schedules/daily', { body: DAILY })
    await console.send('GET', '/schedules/daily')
    await console.send('POST', '/schedules/daily/pause')
    await console.send('POST', '/schedules/unknown/pause')
    expect((await console.send('DELETE', '/schedules/daily')).status).toBe(204)
    expect(changes).toEqual([
      { actor: 'token', action: 'schedules.upsert', scheduleId: 'daily' },
      { actor: 'token', action: 'schedules.pause', scheduleId: 'daily' },
      { actor: 'token', action: 'schedules.delete', scheduleId: 'daily' },
    ])
  })

  test('is not made by GET or HEAD, whatever the address', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    for (const method of ['GET', 'HEAD']) {
      for (const verb of ['pause', 'resume', 'trigger']) {
        expect((await console.send(method, `/schedules/daily/${verb}`)).status).toBe(404)
      }
    }
    expect(await console.engine.schedules.get('daily')).toMatchObject({ paused: false })
    expect(await console.engine.listRuns()).toEqual([])
  })

  test('by a form of another site would have to be JSON, which a form cannot send', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']) {
      const text = '{"note":"x"}'
      const response = await console.send('POST', '/schedules/daily/pause', {
        text,
        headers: { 'content-type': type },
      })
      expect(response.status, type).toBe(400)
    }
    expect(await console.engine.schedules.get('daily')).toMatchObject({ paused: false })
  })
})

describe('the page', () => {
  test.each(['', '/'])('is public, holds no data, and loads only its own assets, at %j', async (path) => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'a-secret-id' })
    const response = await console.send('GET', path, {
      token: null,
      headers: { 'sec-fetch-site': 'cross-site' },
    })
    expect(response.status).toBe(200)
    expect(console.asked).toEqual([])
    const html = await response.text()
    expect(html).not.toContain('a-secret-id')
    expect(html).not.toMatch(/<script(?![^>]*\bsrc=)|<style| style=| on\w+=/)
    const addresses = [...html.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, address = '']) => address)
    expect(addresses).toHaveLength(3)
    for (const address of addresses) {
      expect(address.startsWith(`${BASE}/assets/`)).toBe(true)
      const asset = await console.send('GET', address.slice(BASE.length), { token: null })
      expect(asset.status).toBe(200)
      expect(asset.headers.get('cache-control')).toContain('immutable')
    }
    expect(response.headers.get('content-security-policy')).toMatch(
      /default-src 'none'.*script-src 'self'.*frame-ancestors 'none'/,
    )
  })

  test('is not where the console is not', async () => {
    const console = testConsole()
    const fetched = await console.send('GET', '/nothing/here')
    expect(fetched.status).toBe(404)
  })
})
