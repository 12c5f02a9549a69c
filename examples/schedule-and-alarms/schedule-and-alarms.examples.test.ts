import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { fireAlarm, moveTo } from '../support/time.ts'
import type { Env, Subscription } from './worker.ts'

// The bindings of `[env.examples]` hold those of this example.
const { SUBSCRIPTIONS } = env as unknown as Env

const OPENED = '2031-05-01T10:20:00Z'
const RENEWS = '2031-05-02T12:45:00Z'

afterEach(() => {
  vi.useRealTimers()
})

/** Lets the platform's alarm fire whenever it is due, until the given time. */
async function passTime(subscription: DurableObjectStub<Subscription>, until: string): Promise<void> {
  for (;;) {
    const at = await runInDurableObject(subscription, (_object, { storage }) => storage.getAlarm())
    if (at === null || at > Date.parse(until)) break
    moveTo(at)
    await fireAlarm(subscription)
  }
  moveTo(until)
}

test('a schedule and named alarms in one object each keep their times', async () => {
  moveTo(OPENED)
  const subscription = SUBSCRIPTIONS.getByName('both')
  await subscription.open(Date.parse(RENEWS))
  await passTime(subscription, '2031-05-01T13:10:00Z')
  expect(await subscription.diary()).toEqual([
    { what: 'metered', at: Date.parse('2031-05-01T11:00:00Z') },
    { what: 'metered', at: Date.parse('2031-05-01T12:00:00Z') },
    { what: 'reminded', at: Date.parse('2031-05-01T12:45:00Z') },
    { what: 'metered', at: Date.parse('2031-05-01T13:00:00Z') },
  ])
  await passTime(subscription, '2031-05-02T12:50:00Z')
  expect((await subscription.diary()).at(-1)).toEqual({ what: 'renewed', at: Date.parse(RENEWS) })
  expect(await subscription.pending('renew')).toMatchObject({
    scheduledTime: Date.parse('2031-06-01T12:45:00Z'),
  })
})

test('a failing alarm is tried again with growing delays, and the schedule goes on meanwhile', async () => {
  moveTo('2031-05-02T12:40:00Z')
  const subscription = SUBSCRIPTIONS.getByName('declined')
  await subscription.setCard(false)
  await subscription.open(Date.parse('2031-05-02T12:58:00Z'))
  await passTime(subscription, '2031-05-02T13:05:00Z')
  expect(await subscription.pending('renew')).toMatchObject({ attempt: 4 })
  await subscription.setCard(true)
  await passTime(subscription, '2031-05-02T13:30:00Z')
  expect((await subscription.diary()).map(({ what }) => what)).toEqual(['reminded', 'metered', 'renewed'])
})

test('closing ends all of it', async () => {
  moveTo(OPENED)
  const subscription = SUBSCRIPTIONS.getByName('closed')
  await subscription.open(Date.parse(RENEWS))
  await subscription.close()
  await passTime(subscription, '2032-01-01T00:00:00Z')
  expect(await subscription.diary()).toEqual([])
})
