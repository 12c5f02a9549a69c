import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'

test('the script kills a run and shows that it is reported as interrupted', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'crash.ts')], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void child.kill())
  const [code, stdout, stderr] = await Promise.all([
    new Promise((resolve) => child.once('close', resolve)),
    text(child.stdout),
    text(child.stderr),
  ])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(stdout).toMatch(
    /(\d\d:\d\d:\d\d) {2}started\n(.*\n)* {2}\1 {2}errored: ScheduledRunInterruptedError\n/,
  )
  expect(stdout).toContain('complete')
})
