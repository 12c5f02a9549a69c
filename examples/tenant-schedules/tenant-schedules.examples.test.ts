import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { fireAlarm, moveTo } from '../support/time.ts'
import worker, { type Env } from './worker.ts'

// The bindings of `[env.examples]` hold those of this example.
const bindings = env as unknown as Env

afterEach(() => {
  vi.useRealTimers()
})

async function call(method: string, path: string, body?: unknown) {
  const request = new Request<unknown, IncomingRequestCfProperties>(`http://example.com/${path}`, {
    method,
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  const response = await worker.fetch(request, bindings)
  return { status: response.status, body: await response.json<Record<string, unknown>>() }
}

/** Lets the platform's alarm of a tenant fire whenever it is due, until the given time. */
async function passTime(tenant: string, until: string): Promise<void> {
  const object = bindings.TENANTS.getByName(tenant)
  for (;;) {
    const at = await runInDurableObject(object, (_object, { storage }) => storage.getAlarm())
    if (at === null || at > Date.parse(until)) break
    moveTo(at)
    await fireAlarm(object)
  }
  moveTo(until)
}

const STANDUP = { cron: '0 9 * * 1-5', timezone: 'Europe/Berlin', input: { text: 'Stand-up' } }

test("a user's schedule fires at its time, until it is paused", async () => {
  moveTo('2031-05-01T10:20:00Z')
  const made = await call('PUT', 'acme/schedules/standup', STANDUP)
  expect(made).toMatchObject({ status: 200, body: { nextFireAt: Date.parse('2031-05-02T07:00:00Z') } })
  await passTime('acme', '2031-05-05T12:00:00Z')
  expect((await call('GET', 'acme/outbox')).body).toEqual([
    { text: 'Stand-up', scheduledTime: Date.parse('2031-05-02T07:00:00Z') },
    { text: 'Stand-up', scheduledTime: Date.parse('2031-05-05T07:00:00Z') },
  ])
  const paused = await call('POST', 'acme/schedules/standup/pause?note=Holidays')
  expect(paused.body).toMatchObject({ paused: true, note: 'Holidays', nextFireAt: null })
  await passTime('acme', '2031-05-20T12:00:00Z')
  expect((await call('POST', 'acme/schedules/standup/resume')).body).toMatchObject({
    paused: false,
    fires: 2,
    nextFireAt: Date.parse('2031-05-21T07:00:00Z'),
  })
  const { runs, decisions } = (await call('GET', 'acme/schedules/standup/history')).body
  expect(runs).toMatchObject([{ status: 'complete' }, { status: 'complete' }])
  expect(decisions).toMatchObject([
    { decision: 'resumed' },
    { decision: 'paused', reason: 'Holidays' },
    { decision: 'fired' },
    { decision: 'fired' },
  ])
})

test('sending the same again changes nothing; run now runs once and moves nothing', async () => {
  moveTo('2031-05-01T10:20:00Z')
  const made = await call('PUT', 'again/schedules/standup', STANDUP)
  moveTo('2031-05-01T10:30:00Z')
  expect((await call('PUT', 'again/schedules/standup', STANDUP)).body).toEqual(made.body)
  const run = await call('POST', 'again/schedules/standup/run')
  expect(run.body).toMatchObject({ scheduleId: 'standup', scheduledTime: Date.now() })
  await vi.waitFor(async () => expect((await call('GET', 'again/outbox')).body).toHaveLength(1))
  expect((await call('GET', 'again/schedules/standup')).body).toMatchObject({ ...made.body, fires: 0 })
})

test('a reminder that keeps failing is paused, and says why', async () => {
  moveTo('2031-05-01T10:20:00Z')
  await call('PUT', 'failing/schedules/empty', { every: '1m', input: { text: '' } })
  await passTime('failing', '2031-05-01T11:20:00Z')
  expect((await call('GET', 'failing/schedules/empty')).body).toMatchObject({
    paused: true,
    fires: 5,
    lastError: 'Paused after 5 failed runs in a row',
  })
})

test('tenants do not see each other, and ids may hold anything', async () => {
  const path = `schedules/${encodeURIComponent('a/b:c% 😀')}`
  await call('PUT', `one/${path}`, STANDUP)
  expect((await call('GET', 'one/schedules')).body).toMatchObject({
    schedules: [{ id: 'a/b:c% 😀' }],
    cursor: null,
  })
  expect((await call('GET', 'two/schedules')).body).toEqual({ schedules: [], cursor: null })
  expect((await call('DELETE', `two/${path}`)).body).toEqual({ deleted: false })
  expect((await call('DELETE', `one/${path}`)).body).toEqual({ deleted: true })
})

test.each<[field: string, body: unknown]>([
  ['cron', { ...STANDUP, cron: '0 25 * * *' }],
  ['cron', { ...STANDUP, cron: '* * * * * *' }],
  ['timezone', { ...STANDUP, timezone: 'Mars/Olympus' }],
  ['every', { every: '1s', input: { text: 'Too often' } }],
  ['crom', { ...STANDUP, crom: '' }],
  ['input', { cron: '0 9 * * *' }],
  ['input', 'no JSON'],
])('what is wrong with %s is told by a 400, and nothing is stored', async (field, body) => {
  expect(await call('PUT', 'wrong/schedules/mine', body)).toMatchObject({
    status: 400,
    body: { error: { field, message: expect.stringContaining(field) } },
  })
  expect(await call('GET', 'wrong/schedules/mine')).toMatchObject({ status: 404 })
  expect(await call('POST', 'wrong/schedules/mine/pause')).toMatchObject({ status: 404 })
})
