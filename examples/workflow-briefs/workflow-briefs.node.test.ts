import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startWranglerDev } from '../support/wrangler-dev.ts'

test('wrangler dev writes a brief and delivers it once', { timeout: 120_000 }, async () => {
  const persistTo = await mkdtemp(join(tmpdir(), 'durability-briefs-'))
  onTestFinished(() => rm(persistTo, { recursive: true, force: true }))
  const config = join(import.meta.dirname, 'wrangler.toml')
  const dev = await startWranglerDev({ config, persistTo, readyWithinMs: 60_000 })
  onTestFinished(() => dev.kill())
  const call = async (method: string, query: string): Promise<unknown> =>
    (await fetch(`${dev.url}/?${query}`, { method })).json()

  await call('PUT', 'user=ada&cron=30+7+*+*+*&timezone=Europe/Berlin&topic=Berlin')
  expect(await call('POST', 'user=ada')).toMatchObject({ scheduleId: 'ada', status: 'running' })
  await expect
    .poll(() => call('GET', 'user=ada'), { timeout: 30_000 })
    .toMatchObject({
      schedule: { fires: 0, lastError: null },
      runs: [{ status: 'complete', error: null }],
      mailbox: [{ text: expect.stringMatching(/^Good morning ada, this is [\d-]{10} in Berlin\.$/) }],
    })
})
