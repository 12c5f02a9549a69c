import { introspectWorkflow, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { fireAlarm, moveTo } from '../support/time.ts'
import worker, { type Env } from './worker.ts'

// The bindings of `[env.examples]` hold those of this example.
const bindings = env as unknown as Env

afterEach(() => {
  vi.useRealTimers()
})

async function call(method: string, query: string) {
  const request = new Request<unknown, IncomingRequestCfProperties>(`http://example.com/?${query}`, {
    method,
  })
  const response = await worker.fetch(request, bindings)
  return response.json<Record<string, unknown>>()
}

/** Lets the alarm fire at its next time. */
async function nextAlarm(): Promise<void> {
  const object = bindings.BRIEFS.getByName('all')
  const at = await runInDurableObject(object, (_object, { storage }) => storage.getAlarm())
  moveTo(at ?? 0)
  await fireAlarm(object)
}

test("a user's brief is written at the time and in the zone of the user, once a day", async () => {
  await using workflow = await introspectWorkflow(bindings.MORNING_BRIEF as Workflow)
  moveTo('2031-03-29T12:00:00Z')
  await call('PUT', 'user=ada&cron=30+7+*+*+*&timezone=Europe/Berlin&topic=Berlin')
  for (const day of [1, 2]) {
    await nextAlarm()
    expect(await workflow.get()).toHaveLength(day)
    await (await workflow.get()).at(-1)?.waitForStatus('complete')
  }
  expect(await call('GET', 'user=ada')).toMatchObject({
    schedule: { fires: 2, lastFireAt: Date.parse('2031-03-31T05:30:00Z'), lastError: null },
    runs: [{ status: 'complete' }, { status: 'complete' }],
    mailbox: [
      { text: 'Good morning ada, this is 2031-03-30 in Berlin.' },
      { text: 'Good morning ada, this is 2031-03-31 in Berlin.' },
    ],
  })
  expect(await call('DELETE', 'user=ada')).toEqual({ deleted: true })
})

test('a brief that fails three days in a row is paused, and says why', async () => {
  await using workflow = await introspectWorkflow(bindings.MORNING_BRIEF as Workflow)
  await workflow.modifyAll(async (instance) => {
    await instance.disableRetryDelays()
    await instance.mockStepError({ name: 'write' }, new Error('There is no news'))
  })
  moveTo('2031-05-01T12:00:00Z')
  await call('PUT', 'user=grace')
  for (let day = 1; day <= 3; day += 1) {
    await nextAlarm()
    await (await workflow.get()).at(-1)?.waitForStatus('errored')
  }
  await nextAlarm()
  expect(await workflow.get()).toHaveLength(3)
  expect(await call('GET', 'user=grace')).toMatchObject({
    schedule: { paused: true, fires: 3, lastError: 'Paused after 3 failed runs in a row' },
    runs: [{ status: 'errored', error: 'Error: There is no news' }, {}, {}],
    mailbox: [],
  })
})

test('a brief written now leaves the schedule where it is', async () => {
  await using workflow = await introspectWorkflow(bindings.MORNING_BRIEF as Workflow)
  moveTo('2031-05-01T12:00:00Z')
  const { nextFireAt } = await call('PUT', 'user=linus&cron=0+6+*+*+*')
  await call('POST', 'user=linus')
  await (await workflow.get())[0]?.waitForStatus('complete')
  expect(await call('GET', 'user=linus')).toMatchObject({
    schedule: { nextFireAt, fires: 0 },
    runs: [{ status: 'complete', scheduledTime: Date.parse('2031-05-01T12:00:00Z') }],
    mailbox: [{ user: 'linus' }],
  })
})

test.each([
  ['PUT', 'user=eve&cron=0+25+*+*+*', 400],
  ['PUT', 'user=eve&timezone=Mars/Olympus', 400],
  ['PUT', 'cron=0+9+*+*+*', 400],
  ['POST', 'user=nobody', 404],
])('%s ?%s is answered by %i', async (method, query, status) => {
  const request = new Request<unknown, IncomingRequestCfProperties>(`http://example.com/?${query}`, {
    method,
  })
  const response = await worker.fetch(request, bindings)
  expect(response.status).toBe(status)
})
