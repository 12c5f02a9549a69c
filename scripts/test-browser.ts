/** `npm run test:browser`: the tests that need a browser, with Debian's Chromium, which is installed when it is missing. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')
const CHROMIUM = '/usr/bin/chromium'

if (!existsSync(CHROMIUM)) {
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo']
  run([...asRoot, 'apt-get', 'update'])
  // Some of the tests' texts are in scripts that the browser has no letters for by itself.
  run([...asRoot, 'apt-get', 'install', '-y', '--no-install-recommends', 'chromium', 'fonts-noto-core'])
}
run(['npm', 'run', 'build'])
run(['npx', 'vitest', 'run', '--config', 'vitest.browser.config.ts', ...process.argv.slice(2)])

function run([command = '', ...args]: readonly string[]): void {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: 'inherit' })
  if (error !== undefined) throw error
  if (status !== 0) process.exit(status ?? 1)
}
