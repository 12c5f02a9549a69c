import { spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

/** A zone is read at the start of a process, so each gets one, with the whole case suite in it. */
const HOST_ZONES = ['Australia/Sydney', 'America/New_York', 'Asia/Kolkata']

const here = dirname(fileURLToPath(import.meta.url))
const vitest = join(dirname(createRequire(import.meta.url).resolve('vitest/package.json')), 'vitest.mjs')

describe('the zone of the host never matters', () => {
  for (const zone of HOST_ZONES) {
    it.concurrent(`all cases pass on a host in ${zone}`, { timeout: 120_000 }, async () => {
      const { code, output } = await runSuite(zone)
      expect(output).toContain(`runs on a host in ${zone}`)
      expect(code, output).toBe(0)
    })
  }
})

function runSuite(zone: string): Promise<{ code: number | null; output: string }> {
  const args = [vitest, 'run', '--config', 'host-zones.vitest.ts', '--reporter', 'verbose']
  // Without this run's own variables: the child is a run of its own.
  const own = Object.entries(process.env).filter(([name]) => !name.startsWith('VITEST') && name !== 'TEST')
  const env = { ...Object.fromEntries(own), TZ: zone, CRON_HOST_ZONE: zone, NO_COLOR: '1' }
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, { cwd: here, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (chunk) => (output += String(chunk)))
    child.stderr.on('data', (chunk) => (output += String(chunk)))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })
}
