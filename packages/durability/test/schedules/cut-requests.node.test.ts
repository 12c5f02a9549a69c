import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startWranglerDev, type WranglerDev } from '../../../../examples/support/wrangler-dev.ts'

const ANSWERED_WITHIN_MS = 10_000
const MINUTE_MS = 60_000

describe('an engine for all requests of a Worker, one of which was cut off', () => {
  let dev: WranglerDev
  let persistTo: string

  beforeAll(async () => {
    persistTo = await mkdtemp(join(tmpdir(), 'durability-cut-'))
    dev = await startWranglerDev({
      config: join(import.meta.dirname, 'cut-requests/wrangler.toml'),
      persistTo,
      readyWithinMs: 60_000,
    })
  }, 90_000)

  afterAll(async () => {
    await dev.kill()
    await rm(persistTo, { recursive: true, force: true })
  })

  const ask = async (path: string) =>
    (await fetch(dev.url + path, { signal: AbortSignal.timeout(ANSWERED_WITHIN_MS) })).text()

  test('while it asked the first object of a sharded set answers the next ones', async () => {
    expect(await ask('/cut?path=/count')).toBe('cut')
    expect(await ask('/count')).toBe('0')
  })

  test('while it started a run starts that run in a later tick', async () => {
    const { nextFireAt } = JSON.parse(await ask('/create')) as { nextFireAt: number }
    const tick = `/tick?at=${nextFireAt}`
    expect(await ask(`/cut?path=${encodeURIComponent(tick)}`)).toBe('cut')
    const started: string[] = []
    const until = performance.now() + ANSWERED_WITHIN_MS
    while (started.length === 0 && performance.now() < until) {
      started.push(...(JSON.parse(await ask(tick)) as string[]))
    }
    expect(started).toEqual([`sched:a:${nextFireAt}`])
    expect(JSON.parse(await ask(`/tick?at=${nextFireAt + MINUTE_MS}`))).toEqual([
      `sched:a:${nextFireAt + MINUTE_MS}`,
    ])
  })
})
