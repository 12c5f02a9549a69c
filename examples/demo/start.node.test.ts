import { spawn } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../..')

interface Demo {
  readonly url: string
  readonly lines: readonly string[]
  /** ms from the start to the first reported outcome. */
  readonly firstOutcomeMs: number
  stop(): Promise<void>
}

let state: string
let demo: Demo

beforeAll(async () => {
  state = await mkdtemp(join(tmpdir(), 'durability-demo-'))
  demo = await start()
}, 60_000)

afterAll(async () => {
  await demo?.stop()
  await rm(state, { recursive: true, force: true })
}, 60_000)

/** `npm start`, without building under the feet of other tests, on a free port and with state of its own. */
async function start(): Promise<Demo> {
  const startedAt = performance.now()
  const child = spawn('npm', ['start', '--ignore-scripts', '--', '--persist-to', state], {
    cwd: ROOT,
    env: { ...process.env, PORT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const lines: string[] = []
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  createInterface({ input: child.stderr }).on('line', (line) => lines.push(`stderr: ${line}`))
  // Its output ends when the last process that could write to it has.
  let closed = false
  const ended = new Promise<void>((resolve) => {
    child.once('close', () => {
      closed = true
      resolve()
    })
  })
  const stop = () => {
    child.kill('SIGTERM')
    return ended
  }
  try {
    const find = (pattern: RegExp) => () => {
      if (closed) throw new Error('npm start ended')
      return lines.map((line) => pattern.exec(line)).find((found) => found !== null)
    }
    const [, url = ''] = await until(find(/curl (http:\/\/127\.0\.0\.1:\d+)\/schedules$/))
    await until(find(/^\d\d:\d\d:\d\d\.\d{3} {2}outcome {2}heartbeat {2}complete$/))
    return { url, lines, firstOutcomeMs: performance.now() - startedAt, stop }
  } catch (error) {
    await stop()
    throw new Error(`${String(error)}\n${lines.join('\n')}`, { cause: error })
  }
}

async function until<T>(look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + 30_000
  while (performance.now() < deadline) {
    const found = await look()
    if (found !== undefined) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('It did not happen within 30 s')
}

async function call(
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: unknown }> {
  const text = typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  const response = await fetch(`${demo.url}${path}`, {
    method,
    ...(text === undefined ? {} : { body: text }),
  })
  return { status: response.status, body: await response.json() }
}

const DAILY = { expression: '0 9 * * *', timezone: 'Europe/Berlin', version: 1 }

describe('npm start', () => {
  test('shows a tick, the call of the target and its outcome within 10 seconds, with no request', () => {
    expect(demo.firstOutcomeMs).toBeLessThan(10_000)
    expect(demo.lines.join('\n')).toMatch(
      /tick {5}heartbeat {2}due .*\n.* run {6}heartbeat {2}.*\n.* outcome {2}heartbeat/,
    )
  })

  test('prints nothing but its page and what the schedules do', () => {
    expect(demo.lines.filter((line) => line.startsWith('stderr: ') || line.includes('wrangler'))).toEqual([])
  })

  test('the page says what to try', async () => {
    const page = await (await fetch(demo.url)).text()
    expect(page).toContain(`curl ${demo.url}/schedules/heartbeat`)
    expect(demo.lines.join('\n')).toContain(page.trimEnd())
  })

  test('goes on where it was when it is started again, and leaves nothing behind when stopped', async () => {
    await call('PUT', '/schedules/kept', DAILY)
    await demo.stop()
    await expect(fetch(demo.url)).rejects.toThrow()
    demo = await start()
    expect(await call('GET', '/schedules')).toEqual({
      status: 200,
      body: { schedules: expect.arrayContaining(['heartbeat', 'kept']) },
    })
    expect((await call('GET', '/schedules/kept')).body).toMatchObject(DAILY)
    expect((await call('GET', '/schedules/heartbeat')).body).toMatchObject({ version: 1, state: 'live' })
  })

  test('brings its heartbeat back after somebody cancelled or changed it', async () => {
    await call('PUT', '/schedules/heartbeat', { ...DAILY, version: 6 })
    await call('DELETE', '/schedules/heartbeat?version=7')
    await demo.stop()
    demo = await start()
    expect((await call('GET', '/schedules/heartbeat')).body).toMatchObject({
      ...{ version: 8, state: 'live', expression: '*/2 * * * * *' },
    })
  })
})

describe('a schedule over HTTP', () => {
  test('is set, read, sent again, replaced and cancelled', async () => {
    const set = await call('PUT', '/schedules/report', { ...DAILY, jitterMs: { maxMs: 1_000 } })
    expect(set).toMatchObject({ status: 200, body: { applied: true, ...DAILY, state: 'live' } })
    const read = await call('GET', '/schedules/report')
    expect(read).toMatchObject({
      status: 200,
      body: { name: 'report', ...DAILY, jitterMs: expect.any(Number) },
    })
    expect(read.body).toMatchObject({ next: expect.toSatisfy((next: unknown[]) => next.length === 5) })

    const resend = await call('PUT', '/schedules/report', { ...DAILY, jitterMs: { maxMs: 1_000 } })
    expect(resend.body).toEqual({ applied: false, ...(read.body as object) })

    const newer = { expression: '@hourly', timezone: 'UTC', version: 3 }
    expect((await call('PUT', '/schedules/report', newer)).body).toMatchObject({ applied: true, ...newer })
    expect((await call('PUT', '/schedules/report', DAILY)).body).toMatchObject({ applied: false, ...newer })

    expect((await call('DELETE', '/schedules/report?version=2')).body).toMatchObject({ cancelled: false })
    expect((await call('DELETE', '/schedules/report?version=4')).body).toMatchObject({
      ...{ cancelled: true, state: 'cancelled', version: 4, next: [] },
    })
    const late = await call('PUT', '/schedules/report', { ...newer, version: 4 })
    expect(late.body).toMatchObject({ applied: false, state: 'cancelled' })
    expect((await call('DELETE', '/schedules/report')).body).toMatchObject({ cancelled: false })
  })

  test('is followed live: each tick, run and outcome once', async () => {
    await call('PUT', '/schedules/followed', { expression: '* * * * * *', version: 1, jitterMs: 50 })
    const response = await fetch(`${demo.url}/schedules/followed/events`)
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    // The first run may have begun before: what counts is from the first tick that was followed.
    const events = await eventsUntil(response, (seen) => fromFirstTick(seen).filter(isOutcome).length >= 2)
    await call('DELETE', '/schedules/followed')
    const followed = fromFirstTick(events)
    for (const { idempotencyKey } of followed.filter(isOutcome).slice(0, 2)) {
      const ofRun = followed.filter((event) => event.idempotencyKey === idempotencyKey)
      expect(ofRun.map(({ type }) => type)).toEqual(['tick', 'run', 'outcome'])
    }
    expect((await call('GET', '/schedules/followed')).body).toMatchObject({
      recent: expect.arrayContaining([
        { scheduledTime: expect.any(Number), status: 'complete', error: null },
      ]),
    })
  })

  test.each<[field: string, what: string, body: unknown]>([
    ['body', 'no JSON', '{'],
    ['body', 'nothing', ''],
    ['body', 'no object', [DAILY]],
    ['expresion', 'an unknown field', { ...DAILY, expresion: '* * * * *' }],
    ['__proto__', 'a field of every object', '{"__proto__": 1, "expression": "* * * * *", "version": 1}'],
    ['expression', 'no expression', { version: 1 }],
    ['expression', 'an expression of another type', { ...DAILY, expression: 5 }],
    ['expression', 'an hour that does not exist', { ...DAILY, expression: '0 24 * * *' }],
    ['expression', 'too few fields', { ...DAILY, expression: '* * *' }],
    ['expression', 'a time that never comes', { ...DAILY, expression: '0 0 30 2 *' }],
    ['expression', 'an unknown nickname', { ...DAILY, expression: '@sometimes' }],
    ['timezone', 'an unknown zone', { ...DAILY, timezone: 'Mars/Olympus' }],
    ['timezone', 'a zone of another type', { ...DAILY, timezone: null }],
    ['version', 'no version', { expression: '* * * * *' }],
    ['version', 'a negative version', { ...DAILY, version: -1 }],
    ['version', 'a fraction', { ...DAILY, version: 1.5 }],
    ['version', 'a version in quotes', { ...DAILY, version: '1' }],
    ['version', 'a version that is no safe integer', { ...DAILY, version: 2 ** 53 }],
    ['jitterMs', 'a negative jitter', { ...DAILY, jitterMs: -1 }],
    ['jitterMs', 'too much jitter', { ...DAILY, jitterMs: 2 ** 31 }],
    ['jitterMs', 'a jitter of another type', { ...DAILY, jitterMs: '5' }],
    ['jitterMs', 'a drawn jitter with an unknown field', { ...DAILY, jitterMs: { maxMs: 1, minMs: 0 } }],
    ['jitterMs.maxMs', 'too much drawn jitter', { ...DAILY, jitterMs: { maxMs: 2 ** 31 } }],
    ['jitterMs.maxMs', 'a drawn jitter without its limit', { ...DAILY, jitterMs: {} }],
  ])('a bad %s (%s) is refused by name', async (field, _what, body) => {
    expect(await call('PUT', '/schedules/refused', body)).toEqual({
      status: 400,
      body: { error: { field, message: expect.any(String) } },
    })
    expect((await call('GET', '/schedules')).body).not.toMatchObject({
      schedules: expect.arrayContaining(['refused']),
    })
  })

  test.each([
    ['PUT', '/schedules/a%20b', 'name'],
    ['PUT', '/schedules/-a', 'name'],
    ['GET', `/schedules/${'a'.repeat(65)}`, 'name'],
    ['GET', '/schedules/%00/events', 'name'],
    ['GET', '/schedules/', 'name'],
    ['DELETE', '/schedules/heartbeat?version=x', 'version'],
    ['DELETE', '/schedules/heartbeat?version=-1', 'version'],
    ['DELETE', '/schedules/heartbeat?version=1&version=2', 'version'],
    ['DELETE', '/schedules/heartbeat?force=1', 'force'],
  ])('%s %s is refused because of its %s', async (method, path, field) => {
    const body = method === 'PUT' ? DAILY : undefined
    expect(await call(method, path, body)).toEqual({
      status: 400,
      body: { error: { field, message: expect.any(String) } },
    })
  })

  test('a body that is too large is refused, whether it says so or not', async () => {
    const large = JSON.stringify({ ...DAILY, expression: ' '.repeat(5_000) })
    expect(await call('PUT', '/schedules/large', large)).toMatchObject({
      status: 413,
      body: { error: { field: 'body' } },
    })
    // A stream is sent in chunks, without a length. The type of the browser's fetch does not know the option it takes.
    const streamed: RequestInit & { duplex: 'half' } = {
      method: 'PUT',
      body: new Blob([large]).stream(),
      duplex: 'half',
    }
    const unannounced = await fetch(`${demo.url}/schedules/large`, streamed)
    expect(unannounced.status).toBe(413)
  })

  test('an unknown route is 404, an unknown schedule too, a wrong method 405', async () => {
    for (const path of ['/nothing', '/schedules/heartbeat/nothing', '/schedules/heartbeat/events/more']) {
      expect((await call('GET', path)).status).toBe(404)
    }
    expect(await call('GET', '/schedules/unknown')).toMatchObject({
      status: 404,
      body: { error: { field: 'name' } },
    })
    expect((await call('GET', '/schedules/unknown/events')).status).toBe(404)
    expect((await call('POST', '/schedules/heartbeat', {})).status).toBe(405)
    const response = await fetch(`${demo.url}/schedules`, { method: 'DELETE' })
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET'])
  })
})

describe('schedules that users create', () => {
  const OWN = ['failing', 'healthy', 'nightly', 'on-holiday', 'overlapping']
  const NIGHTLY = { workflow: 'ping', cron: '30 2 * * *', timezone: 'Europe/Berlin' }

  test('are there from the start, and show what can become of one', async () => {
    await untilBody('/user-schedules/nightly', { id: 'nightly' })
    const { body } = await call('GET', '/user-schedules')
    expect(body).toMatchObject({ cursor: null })
    const { schedules } = body as { schedules: { id: string }[] }
    expect(schedules.map(({ id }) => id)).toEqual(expect.arrayContaining(OWN))
    expect((await call('GET', '/user-schedules/on-holiday')).body).toMatchObject({
      ...{ paused: true, nextFireAt: null, note: 'Back in September' },
    })
    await untilBody('/user-schedules/healthy/history', { runs: oneOf({ status: 'complete' }) })
    await untilBody('/user-schedules/overlapping/history', {
      decisions: oneOf({ decision: 'skipped_overlap' }),
    })
    await untilBody('/user-schedules/failing', {
      ...{ paused: true, lastError: 'Paused after 3 failed runs in a row' },
    })
    expect((await call('GET', '/user-schedules/failing/history')).body).toMatchObject({
      runs: oneOf({ status: 'errored' }),
    })
  })

  test('are made, changed, paused, resumed, run once and deleted over HTTP, whatever their ids', async () => {
    const path = `/user-schedules/${encodeURIComponent('a/b:c% 😀')}`
    const made = await call('PUT', path, { ...NIGHTLY, note: 'mine' })
    expect(made).toMatchObject({ status: 200, body: { id: 'a/b:c% 😀', ...NIGHTLY, fires: 0 } })
    expect((await call('PUT', path, NIGHTLY)).body).toEqual(made.body)
    expect((await call('PUT', path, { ...NIGHTLY, cron: '31 2 * * *' })).body).toMatchObject({
      ...{ cron: '31 2 * * *', revision: 2, note: 'mine' },
    })
    expect((await call('POST', `${path}/pause?note=away`)).body).toMatchObject({ paused: true, note: 'away' })
    expect((await call('POST', `${path}/resume`)).body).toMatchObject({ paused: false })
    const run = await call('POST', `${path}/trigger`)
    expect(run.body).toMatchObject({ scheduleId: 'a/b:c% 😀' })
    await untilBody(`${path}/history`, { runs: [expect.objectContaining({ status: 'complete' })] })
    expect((await call('DELETE', path)).body).toEqual({ deleted: true })
    expect((await call('DELETE', path)).body).toEqual({ deleted: false })
    expect((await call('GET', path)).status).toBe(404)
  })

  test('say when they run next, across a clock change', async () => {
    const startAt = Date.parse('2031-03-29T00:00:00Z')
    await call('PUT', '/user-schedules/spring', { ...NIGHTLY, startAt })
    const { body } = await call('GET', '/user-schedules/spring/preview')
    expect(
      (body as { scheduledTime: number }[]).slice(0, 3).map(({ scheduledTime }) => scheduledTime),
    ).toEqual(
      ['2031-03-29T01:30:00Z', '2031-03-30T01:00:00Z', '2031-03-31T00:30:00Z'].map((at) => Date.parse(at)),
    )
    await call('DELETE', '/user-schedules/spring')
  })

  test.each<[field: string, body: unknown]>([
    ['cron', { ...NIGHTLY, cron: '0 25 * * *' }],
    ['timezone', { ...NIGHTLY, timezone: 'Mars/Olympus' }],
    ['every', { workflow: 'ping', every: '0s' }],
    ['workflow', { ...NIGHTLY, workflow: 'nothing' }],
    ['croon', { ...NIGHTLY, croon: 1 }],
    ['body', 'no JSON'],
  ])('are refused with the field %s, and not stored', async (field, body) => {
    expect(await call('PUT', '/user-schedules/wrong', body)).toMatchObject({
      status: 400,
      body: { error: { field, message: expect.any(String) } },
    })
    expect(await call('POST', '/user-schedules/wrong/trigger')).toMatchObject({
      status: 404,
      body: { error: { field: 'id' } },
    })
  })

  test('have no other routes', async () => {
    expect((await call('GET', '/user-schedules/healthy/nothing')).status).toBe(404)
    expect((await call('GET', '/user-schedules/healthy/history/more')).status).toBe(404)
    expect((await call('GET', '/user-schedules/healthy/pause')).status).toBe(405)
    expect((await call('GET', '/user-schedules/%zz')).status).toBe(400)
  })
})

function oneOf(member: object): unknown {
  return expect.arrayContaining([expect.objectContaining(member)])
}

/** Asks again until the answer has these members. */
function untilBody(path: string, expected: object): Promise<true> {
  return until(async () => {
    const { body } = await call('GET', path)
    return expect.objectContaining(expected).asymmetricMatch(body) || undefined
  })
}

interface FollowedEvent {
  readonly type: string
  readonly idempotencyKey: string
}

/** Reads server-sent events until they suffice, and leaves the stream. */
async function eventsUntil(
  response: Response,
  isEnough: (events: readonly FollowedEvent[]) => boolean,
): Promise<FollowedEvent[]> {
  const events: FollowedEvent[] = []
  const decoder = new TextDecoder()
  let unread = ''
  for await (const chunk of response.body ?? []) {
    const messages = (unread + decoder.decode(chunk, { stream: true })).split('\n\n')
    // What follows the last blank line is not complete yet.
    unread = messages.pop() ?? ''
    for (const message of messages) {
      const json = /^data: (.*)$/m.exec(message)?.[1]
      if (json !== undefined) events.push(JSON.parse(json) as FollowedEvent)
    }
    if (isEnough(events)) break
  }
  return events
}

/** From the first tick on, without what belongs to earlier runs. */
function fromFirstTick(events: readonly FollowedEvent[]): FollowedEvent[] {
  const ticked = new Set(events.filter(({ type }) => type === 'tick').map((event) => event.idempotencyKey))
  return events.filter(({ idempotencyKey }) => ticked.has(idempotencyKey))
}

function isOutcome({ type }: FollowedEvent): boolean {
  return type === 'outcome'
}
