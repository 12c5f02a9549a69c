import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { fireAlarm, moveTo } from '../support/time.ts'
import worker, { type Env } from './worker.ts'

// The bindings of `[env.examples]` hold those of this example.
const bindings = env as unknown as Env
const target = bindings.TARGETS.getByName('target')

afterEach(() => {
  vi.useRealTimers()
})

test('each tick calls the target once, and its outcome is reported', async () => {
  moveTo('2031-01-01T00:30:00Z')
  const cron = bindings.CRONS.getByName('hourly')
  expect(await cron.configure('0 * * * *', 1)).toBe(true)
  for (const tick of ['2031-01-01T01:00:00Z', '2031-01-01T02:00:00Z']) {
    expect(await cron.read()).toMatchObject({ nextAt: Date.parse(tick) })
    // The jitter that was drawn is at most 30 s.
    moveTo(Date.parse(tick) + 30_000)
    await fireAlarm(cron)
  }
  expect(await target.receipts()).toEqual(
    ['2031-01-01T01:00:00Z', '2031-01-01T02:00:00Z'].map((tick) => ({
      idempotencyKey: `${String(cron.id)}:${Date.parse(tick)}`,
      scheduledTime: Date.parse(tick),
      outcome: 'complete',
    })),
  )
})

test('the target counts a call and an outcome once, however often they arrive', async () => {
  const run = { scheduledTime: 5, dueAt: 5, idempotencyKey: 'a key', version: 1, attempt: 1 }
  const { signal } = new AbortController()
  for (const attempt of [1, 2]) {
    await target.fire(run, { signal })
    await target.report({ ...run, attempt }, { status: 'complete' })
  }
  const receipts = (await target.receipts()).filter(({ idempotencyKey }) => idempotencyKey === 'a key')
  expect(receipts).toEqual([{ idempotencyKey: 'a key', scheduledTime: 5, outcome: 'complete' }])
})

test('a version that is sent again keeps its delay; an older one changes nothing', async () => {
  moveTo('2031-01-01T00:30:00Z')
  const cron = bindings.CRONS.getByName('resent')
  await cron.configure('0 0 * * *', 2)
  const stored = await cron.read()
  expect(stored?.jitterMs).toSatisfy((ms: number) => ms >= 0 && ms <= 30_000)
  expect(await cron.configure('0 0 * * *', 2)).toBe(false)
  expect(await cron.configure('* * * * *', 1)).toBe(false)
  expect(await cron.read()).toEqual(stored)
})

test('a configure that was overtaken by the remove of its version does not revive the schedule', async () => {
  const cron = bindings.CRONS.getByName('removed')
  await cron.configure('0 0 * * *', 1)
  expect(await cron.remove(3)).toBe(true)
  expect(await cron.configure('0 0 * * *', 3)).toBe(false)
  expect(await cron.read()).toBeUndefined()
  expect(await cron.configure('0 0 * * *', 4)).toBe(true)
})

test.each([
  ['/configure?version=1&expression=0+25+*+*+*', 'expression'],
  ['/configure?version=1', 'expression'],
  ['/configure?expression=@daily', 'version'],
  ['/remove?version=-1', 'version'],
])('POST %s is refused because of its %s', async (path, field) => {
  const response = await worker.fetch(new Request(`https://example.com${path}`, { method: 'POST' }), bindings)
  expect([response.status, await response.text()]).toEqual([400, expect.stringMatching(`^${field}: `)])
})
