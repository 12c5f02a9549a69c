import { spawn } from 'node:child_process'

export interface Ended {
  /** `undefined` when it was killed, for it took longer than its limit. */
  readonly code: number | undefined
  /** The end of what it wrote. */
  readonly output: string
}

const KEPT_CHARACTERS = 100_000
const running = new Set<number>()

/** Whatever ends this process ends what it started. */
process.on('exit', () => {
  for (const group of running) killGroup(group)
})
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => process.exit(130))

/** Runs a script on this Node, in a process group of its own, for at most `limitMs`. */
export function runNode(cwd: string, args: readonly string[], limitMs: number): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, NO_COLOR: '1', WRANGLER_SEND_METRICS: 'false' },
    })
    const { pid } = child
    if (pid !== undefined) running.add(pid)
    let output = ''
    let isLate = false
    const keep = (chunk: Buffer) => {
      output = (output + chunk).slice(-KEPT_CHARACTERS)
    }
    child.stdout.on('data', keep)
    child.stderr.on('data', keep)
    const timer = setTimeout(() => {
      isLate = true
      if (pid !== undefined) killGroup(pid)
    }, limitMs)
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      if (pid !== undefined) {
        // A tool that died leaves its workers behind.
        killGroup(pid)
        running.delete(pid)
      }
      resolve({ code: isLate ? undefined : (code ?? 1), output })
    })
  })
}

function killGroup(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}
