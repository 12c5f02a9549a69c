import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { d1Store, durableObjectStore } from '../../src/schedules/index.ts'
import { setup } from '../workerd/support/setup.ts'
import { race } from './support/racing.ts'

test('8 engines over one D1 start each window once', { timeout: 300_000 }, async () => {
  const { started, problems } = await race({
    seed: 1,
    store: d1Store(env.SCHEDULES_DB),
    schedules: 20,
    engines: 8,
    kind: 'dispatch',
  })
  expect(problems).toEqual([])
  expect(started.size).toBeGreaterThan(60)
})

test('8 engines over one real object start each window once', { timeout: 300_000 }, async () => {
  await setup().inside(async ({ ctx }) => {
    const store = durableObjectStore(ctx.storage)
    const { started, problems } = await race({ seed: 1, store, schedules: 100, engines: 8, kind: 'handler' })
    expect(problems).toEqual([])
    expect(started.size).toBeGreaterThan(300)
  })
})
