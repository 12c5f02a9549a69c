import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startWranglerDev } from '../../../../examples/support/wrangler-dev.ts'

test('in wrangler dev an instance that exists already counts as started', { timeout: 120_000 }, async () => {
  const persistTo = await mkdtemp(join(tmpdir(), 'durability-workflows-'))
  onTestFinished(() => rm(persistTo, { recursive: true, force: true }))
  const dev = await startWranglerDev({
    config: join(import.meta.dirname, 'workflows-dev/wrangler.toml'),
    persistTo,
    readyWithinMs: 60_000,
  })
  onTestFinished(() => dev.kill())
  const response = await fetch(`${dev.url}/?run=${encodeURIComponent('sched:a b:1767225600000')}`)
  const { seen, ...runs } = (await response.json()) as { seen: string[] }
  expect(runs).toMatchObject({
    running: [{ status: 'running' }, { status: 'running' }],
    missing: null,
    cancelled: true,
    over: { status: 'running' },
    asked: { status: 'cancelled' },
  })
  expect(seen[0]).toBe('said nothing')
  // The runtime of wrangler 4.124 says nothing of the others; that of 4.164 refuses them.
  for (const answer of seen.slice(1)) expect(answer).toMatch(/^said nothing$|instance\.already_exists/)
})
