import { describe, expect, test } from 'vitest'
import { READ_ACTIONS } from '../../src/console/actions.ts'
import { MAX_BODY_BYTES } from '../../src/console/body.ts'
import { consoleApp } from '../../src/console/console.ts'
import {
  CONSOLE_ACTIONS,
  type ConsoleAction,
  createConsole,
  ForbiddenError,
} from '../../src/console/index.ts'
import { BASE, engineAt, NOW, read, type TestConsole, TOKEN, testConsole } from './setup.ts'

const DAILY = { workflow: 'brief', cron: '0 9 * * *' }
/** What an address would change or a router take for its own. */
const HOSTILE_IDS = [
  'a/b:c%',
  '%2e%2e',
  'a%2Fb',
  '__proto__',
  'constructor',
  'ü 日本 🦊',
  'O\'Brien "q" <script>alert(1)</script>',
  "'; DROP TABLE durable_schedules; --",
  '?limit=1#top',
  'a\\b\u202Egnp.exe',
  'x'.repeat(200),
]

interface RouteCase {
  readonly action: ConsoleAction
  /** The address for an id. */
  path(id: string): string
  readonly body?: (id: string) => object
  /** What a good answer holds, of the schedule `id`. */
  good(id: string): { readonly status: number; readonly body: unknown }
  /** Of a list there is none: nothing is an empty one. */
  readonly unknown: { readonly status: number; readonly body: unknown }
  readonly bad: readonly {
    readonly path?: string
    readonly body?: unknown
    readonly text?: string
    readonly field?: string
  }[]
}

const at = (id: string, rest = '') => `/schedules/${encodeURIComponent(id)}${rest}`
const missing = {
  status: 404,
  body: { error: expect.objectContaining({ message: expect.stringContaining('There is no schedule') }) },
}
const described = (id: string, more: object = {}) => ({
  status: 200,
  body: expect.objectContaining({ id, ...more }),
})

const CASES: Readonly<Record<string, RouteCase>> = {
  'GET /schedules': {
    action: 'schedules.list',
    path: () => '/schedules?workflow=brief&paused=false&limit=10',
    good: (id) => ({ status: 200, body: { schedules: [expect.objectContaining({ id })], cursor: null } }),
    unknown: { status: 200, body: { schedules: [], cursor: null } },
    bad: [
      { path: '/schedules?limit=0', field: 'limit' },
      { path: '/schedules?limit=1001', field: 'limit' },
      { path: '/schedules?limit=many', field: 'limit' },
      { path: '/schedules?paused=perhaps', field: 'paused' },
      { path: '/schedules?cursor=nonsense', field: 'cursor' },
      { path: '/schedules?sort=id', field: 'sort' },
      { path: '/schedules?tag=a&tag=b', field: 'tag' },
    ],
  },
  'GET /schedules/:id': {
    action: 'schedules.get',
    path: (id) => at(id),
    good: (id) => described(id, { nextFireAt: NOW + 3_600_000 }),
    unknown: missing,
    bad: [
      { path: at('x'.repeat(201)), field: 'id' },
      { path: '/schedules/%zz', field: 'id' },
    ],
  },
  'GET /schedules/:id/preview': {
    action: 'schedules.preview',
    path: (id) => at(id, '/preview?count=2'),
    good: () => ({
      status: 200,
      body: {
        windows: [NOW + 3_600_000, NOW + 25 * 3_600_000].map((time) => ({
          scheduledTime: time,
          dueAt: time,
        })),
      },
    }),
    unknown: missing,
    bad: [
      { path: at('daily', '/preview?count=1001'), field: 'count' },
      { path: at('daily', '/preview?count=-1'), field: 'count' },
    ],
  },
  'GET /schedules/:id/history': {
    action: 'schedules.history',
    path: (id) => at(id, '/history?limit=5'),
    good: () => ({ status: 200, body: { decisions: [] } }),
    unknown: missing,
    bad: [{ path: at('daily', '/history?limit=0'), field: 'limit' }],
  },
  'POST /schedules/:id/pause': {
    action: 'schedules.pause',
    path: (id) => at(id, '/pause'),
    body: () => ({ note: 'for the holidays' }),
    good: (id) => described(id, { paused: true, note: 'for the holidays', nextFireAt: null }),
    unknown: missing,
    bad: [
      { body: { note: 5 }, field: 'note' },
      { body: { why: 'x' }, field: 'why' },
      { text: '{' },
      { text: '[]' },
    ],
  },
  'POST /schedules/:id/resume': {
    action: 'schedules.resume',
    path: (id) => at(id, '/resume'),
    good: (id) => described(id, { paused: false }),
    unknown: missing,
    bad: [{ body: { note: 'x' }, field: 'note' }, { text: 'null' }],
  },
  'POST /schedules/:id/trigger': {
    action: 'schedules.trigger',
    path: (id) => at(id, '/trigger'),
    good: (id) => ({
      status: 200,
      body: expect.objectContaining({ id: `sched:${id}:manual:${NOW}`, scheduleId: id, workflow: 'brief' }),
    }),
    unknown: missing,
    bad: [{ body: { input: 1 }, field: 'input' }],
  },
  'PUT /schedules/:id': {
    action: 'schedules.upsert',
    path: (id) => at(id),
    body: () => ({ workflow: 'brief', every: '15m', tags: ['a'] }),
    good: (id) => described(id, { everyMs: 900_000, cron: null, tags: ['a'] }),
    unknown: { status: 200, body: expect.objectContaining({ fires: 0 }) },
    bad: [
      { body: { ...DAILY, cron: '0 25 * * *' }, field: 'cron' },
      { body: { ...DAILY, timezone: 'Mars/Olympus' }, field: 'timezone' },
      { body: { ...DAILY, id: 'another' }, field: 'id' },
      { body: { ...DAILY, concurrency: { key: 'k', limit: 0 } }, field: 'concurrency.limit' },
      { body: { ...DAILY, extra: 1 }, field: 'extra' },
      { text: '{"workflow":"brief","cron":"0 9 * * *","__proto__":{"paused":true}}', field: '__proto__' },
      { text: '"text"' },
    ],
  },
  'DELETE /schedules/:id': {
    action: 'schedules.delete',
    path: (id) => at(id),
    good: () => ({ status: 204, body: undefined }),
    unknown: missing,
    bad: [{ body: { really: true }, field: 'really' }],
  },
  'GET /runs': {
    action: 'runs.list',
    path: (id) => `/runs?scheduleId=${encodeURIComponent(id)}&limit=3`,
    good: () => ({ status: 200, body: { runs: [], cursor: null } }),
    unknown: { status: 200, body: { runs: [], cursor: null } },
    bad: [
      { path: '/runs?status=odd', field: 'status' },
      { path: '/runs?offset=1', field: 'offset' },
    ],
  },
  'POST /preview': {
    action: 'schedules.preview',
    path: () => '/preview?count=1',
    body: (id) => ({ ...DAILY, id }),
    good: () => ({
      status: 200,
      body: { windows: [{ scheduledTime: NOW + 3_600_000, dueAt: NOW + 3_600_000 }] },
    }),
    unknown: { status: 200, body: expect.anything() },
    bad: [
      { body: { id: 'a', workflow: 'brief' }, field: 'cron' },
      { body: { ...DAILY, id: 'a', jitter: '2 days' }, field: 'jitter' },
      { path: '/preview?limit=1', field: 'limit' },
    ],
  },
}

/** What the router itself says there is, without the page and its assets. */
function routesOf(): string[] {
  const app = consoleApp({ engine: engineAt(() => NOW), authorize: () => 'anyone' })
  const routes = app.routes.map(({ method, path }) => `${method} ${path}`)
  return [...new Set(routes)].filter((route) => !/^ALL |^GET \/(assets\/.*)?$/.test(route))
}

const routes = routesOf()
const methodOf = (route: string) => route.split(' ')[0] ?? ''
const caseOf = (route: string) => {
  const found = CASES[route]
  if (found === undefined) throw new Error(`${route} has no cases`)
  return found
}

async function send(console: TestConsole, route: string, id: string, options = {}) {
  const { path, body } = caseOf(route)
  return read(await console.send(methodOf(route), path(id), { body: body?.(id), ...options }))
}

test('every route has its cases, and every case its route', () => {
  expect(routes.toSorted()).toEqual(Object.keys(CASES).toSorted())
})

test('every action is one of a route, and no GET changes anything', () => {
  expect([...new Set(Object.values(CASES).map(({ action }) => action))].toSorted()).toEqual(
    CONSOLE_ACTIONS.toSorted(),
  )
  for (const [route, { action }] of Object.entries(CASES)) {
    if (methodOf(route) === 'GET') expect(READ_ACTIONS, route).toContain(action)
    else if (route !== 'POST /preview') expect(READ_ACTIONS, route).not.toContain(action)
  }
})

describe.each(routes)('%s', (route) => {
  const { action, good, unknown, bad, path } = caseOf(route)
  const isRead = READ_ACTIONS.includes(action)

  test.each(['daily', ...HOSTILE_IDS])('answers for the id %j, asking for its action once', async (id) => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id })
    expect(await send(console, route, id)).toEqual(good(id))
    expect(console.asked).toEqual([action])
  })

  test('says what there is of an unknown schedule', async () => {
    expect(await send(testConsole(), route, 'unknown')).toEqual(unknown)
  })

  test.each(bad)('refuses bad input by its field: %j', async ({ path: badPath, body, text, field }) => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    const before = await console.engine.schedules.list()
    const response = await console.send(methodOf(route), badPath ?? path('daily'), {
      body: body ?? (badPath === undefined ? undefined : caseOf(route).body?.('daily')),
      ...(text !== undefined && { text }),
    })
    const answer = await read(response)
    expect(answer.status).toBe(400)
    expect(answer.body).toEqual({
      error: {
        name: expect.any(String),
        message: expect.any(String),
        ...(field !== undefined && { field }),
      },
    })
    expect(await console.engine.schedules.list()).toEqual(before)
  })

  test.each([
    { who: 'nobody', token: null },
    { who: 'somebody with a wrong token', token: `${TOKEN}x` },
  ])('tells $who to say who they are, and does nothing', async ({ token }) => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    const before = await console.engine.schedules.list()
    const answer = await send(console, route, 'daily', { token })
    expect(answer).toEqual({
      status: 401,
      body: { error: { name: 'UnauthenticatedError', message: expect.any(String) } },
    })
    expect(await console.engine.schedules.list()).toEqual(before)
    expect(await console.engine.listRuns()).toEqual([])
  })

  test.each([
    { how: 'throws ForbiddenError', authorize: () => Promise.reject(new ForbiddenError('not you')) },
    {
      how: 'fails',
      authorize: () => {
        throw new TypeError('a secret')
      },
    },
    { how: 'answers nobody', authorize: () => undefined },
    { how: 'answers no', authorize: () => false },
    { how: 'answers a Response', authorize: () => new Response('no', { status: 401 }) },
    {
      how: 'throws a Response',
      authorize: () => {
        throw new Response('no', { status: 401 })
      },
    },
    { how: 'throws text', authorize: () => Promise.reject('no') },
  ])('refuses an actor for whom authorize $how', async ({ authorize }) => {
    const console = testConsole({ authorize })
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    const before = await console.engine.schedules.list()
    const { status, body } = await send(console, route, 'daily')
    expect(status).toBe(403)
    expect(JSON.stringify(body)).not.toContain('a secret')
    expect(await console.engine.schedules.list()).toEqual(before)
  })

  test.each([
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ])('refuses what another site makes a browser send: %j', async (headers) => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    expect((await send(console, route, 'daily', { headers })).status).toBe(403)
    expect(console.asked).toEqual([])
    expect((await console.engine.schedules.get('daily'))?.paused).toBe(false)
  })

  test('refuses what is too large', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    if (methodOf(route) === 'GET') {
      const long = 'x'.repeat(10_000)
      const joined = path('daily').includes('?') ? '&' : '?'
      expect(
        (await read(await console.send('GET', `${path('daily')}${joined}namespace=${long}`))).status,
      ).toBe(400)
      return
    }
    const text = JSON.stringify({ ...DAILY, note: 'x'.repeat(MAX_BODY_BYTES) })
    const stream = new Blob([text]).stream()
    for (const body of [{ text }, { text: stream as unknown as string }]) {
      const answer = await send(console, route, 'daily', {
        ...body,
        headers: { 'content-type': 'application/json' },
      })
      expect(answer).toEqual({
        status: 413,
        body: { error: { name: 'RequestError', message: expect.any(String) } },
      })
    }
    expect(await console.engine.schedules.get('daily')).toMatchObject({ paused: false, cron: DAILY.cron })
  })

  test('is never kept, and says so to a browser that a program is not to run in it', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    const { path, body } = caseOf(route)
    const { headers } = await console.send(methodOf(route), path('daily'), { body: body?.('daily') })
    expect(headers.get('cache-control')).toBe('no-store')
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('content-security-policy')).toContain("default-src 'none'")
  })

  test.runIf(isRead && methodOf(route) === 'GET')('changes nothing', async () => {
    const console = testConsole()
    await console.engine.schedules.create({ ...DAILY, id: 'daily' })
    const before = await console.engine.schedules.list()
    await send(console, route, 'daily')
    expect(await console.engine.schedules.list()).toEqual(before)
  })
})

test('the console refuses options that it cannot be made with', () => {
  const engine = engineAt(() => NOW)
  const authorize = () => 'anyone'
  expect(() => createConsole({ engine, authorize: undefined as never })).toThrow(
    'options.authorize must be a function',
  )
  expect(() => createConsole({ engine: undefined as never, authorize })).toThrow(
    'options.engine must be a object',
  )
  for (const basePath of ['console', '/console/', '/a b', '/<script>', '/..', '/a/./b']) {
    expect(() => createConsole({ engine, authorize, basePath })).toThrow(
      'options.basePath must look like "/console"',
    )
  }
  expect(BASE).toMatch(/^\/ops/)
})
