import { applyD1Migrations, createScheduledController, introspectWorkflow, reset } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, expect, inject, test, vi } from 'vitest'
import { moveTo } from '../support/time.ts'
import worker, { type Env } from './worker.ts'

// The bindings of `[env.examples]` hold those of this example.
const bindings = env as unknown as Env

declare module 'vitest' {
  interface ProvidedContext {
    readonly migrations: Parameters<typeof applyD1Migrations>[1]
  }
}

beforeEach(() => applyD1Migrations(bindings.DB, inject('migrations')))

afterEach(async () => {
  vi.useRealTimers()
  await reset()
})

async function call(method: string, query: string) {
  const request = new Request<unknown, IncomingRequestCfProperties>(`http://example.com/?${query}`, {
    method,
  })
  const response = await worker.fetch(request, bindings)
  return { status: response.status, body: await response.text() }
}

const read = async (query: string): Promise<unknown> => JSON.parse((await call('GET', query)).body)

/** Two Workers whose Cron Triggers come at the same moment. */
async function bothTick(): Promise<void> {
  const controller = createScheduledController()
  await Promise.all([worker.scheduled(controller, bindings), worker.scheduled(controller, bindings)])
}

test('two racing workers start one instance for each window', async () => {
  await using workflow = await introspectWorkflow(bindings.SYNC_TENANT as Workflow)
  moveTo('2031-05-01T12:00:30Z')
  const tenants = Array.from({ length: 5 }, (_, n) => `tenant ${n}`)
  for (const tenant of tenants) await call('PUT', `tenant=${tenant}&every=1m`)
  const instances = async () => new Set((await workflow.get()).map((one) => Reflect.get(one, 'instanceId')))
  for (const minute of [1, 2, 3]) {
    moveTo(`2031-05-01T12:0${minute}:00Z`)
    await bothTick()
    for (const instance of await workflow.get()) await instance.waitForStatus('complete')
    expect((await instances()).size).toBe(minute * tenants.length)
  }
  for (const tenant of tenants) {
    expect(await read(`tenant=${tenant}`)).toMatchObject({
      schedule: { fires: 3, lastFireAt: Date.parse('2031-05-01T12:03:00Z') },
      runs: ['12:03', '12:02', '12:01'].map((at) => ({
        status: 'complete',
        scheduledTime: Date.parse(`2031-05-01T${at}:00Z`),
      })),
      history: [{ decision: 'fired' }, { decision: 'fired' }, { decision: 'fired' }],
    })
  }
})

test('after an outage the latest window is fetched once, and the others are told', async () => {
  await using workflow = await introspectWorkflow(bindings.SYNC_TENANT as Workflow)
  moveTo('2031-05-01T12:00:00Z')
  await call('PUT', 'tenant=acme&cron=0+*+*+*+*')
  moveTo('2031-05-01T20:30:00Z')
  await bothTick()
  await (await workflow.get())[0]?.waitForStatus('complete')
  expect(await read('tenant=acme')).toMatchObject({
    schedule: { fires: 1, nextFireAt: Date.parse('2031-05-01T21:00:00Z') },
    runs: [{ status: 'complete', scheduledTime: Date.parse('2031-05-01T20:00:00Z') }],
    history: [
      { decision: 'fired', scheduledTime: Date.parse('2031-05-01T20:00:00Z') },
      {
        decision: 'skipped_catchup',
        from: Date.parse('2031-05-01T13:00:00Z'),
        to: Date.parse('2031-05-01T19:00:00Z'),
      },
    ],
  })
})

test('without the migration every call and every tick says what is missing', async () => {
  await reset()
  await expect(call('PUT', 'tenant=acme&every=1m')).rejects.toThrow('no such table: durable_schedules')
  await expect(bothTick()).rejects.toThrow('no such table: durable_schedules')
})

test.each([
  ['every=1s', 'every'],
  ['every=1m&cron=*+*+*+*+*', 'cron'],
  ['cron=*+*+*+*+*+*', 'cron'],
  ['cron=0+3+*+*+*&timezone=Mars/Olympus', 'timezone'],
  ['evry=1m', 'evry'],
])('%s is refused because of its %s, and nothing is stored', async (timing, field) => {
  const { status, body } = await call('PUT', `tenant=acme&${timing}`)
  expect([status, body]).toEqual([400, expect.stringContaining(field)])
  expect(await call('GET', 'tenant=acme')).toMatchObject({ status: 404 })
})
