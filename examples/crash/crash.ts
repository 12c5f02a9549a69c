// Starts the Worker, kills its process in the middle of a run, starts it again on the same state, and prints what is
// reported. Ends with status 0 if the run that was cut off is reported as interrupted and was not started again.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWranglerDev, type WranglerDev } from '../support/wrangler-dev.ts'

interface Entry {
  readonly key: string
  readonly what: string
}

const INTERRUPTED = 'errored: ScheduledRunInterruptedError'

async function main(persistTo: string): Promise<void> {
  const start = () => startWranglerDev({ config: join(import.meta.dirname, 'wrangler.toml'), persistTo })
  let worker = await start()
  await fetch(`${worker.url}/start`, { method: 'POST' })
  console.log('Importing every 3 seconds. Waiting for one import to finish and the next one to start ...')
  const before = await ledgerWhen(
    worker,
    (entries) => has(entries, 'complete') && startedOnly(entries) !== undefined,
  )
  const victim = startedOnly(before)
  await worker.kill()
  console.log(`Killed (SIGKILL) while ${timeOf(victim)} was running. Starting again ...`)

  worker = await start()
  const after = await ledgerWhen(worker, (entries) => {
    const later = entries.slice(before.length)
    return has(later, INTERRUPTED) && has(later, 'complete')
  })
  await worker.stop()
  for (const { key, what } of after) console.log(`  ${timeOf(key)}  ${what}`)
  const ofVictim = after.filter(({ key }) => key === victim).map(({ what }) => what)
  if (ofVictim.join() !== `started,${INTERRUPTED}`) throw new Error(`Not as promised: ${ofVictim.join()}`)
  console.log(
    'The run that was cut off is reported as interrupted, was not started again, and the schedule goes on.',
  )
}

async function ledgerWhen(
  worker: WranglerDev,
  isReady: (entries: readonly Entry[]) => boolean,
): Promise<Entry[]> {
  const deadline = Date.now() + 30_000
  while (Date.now() < deadline) {
    const entries = (await (await fetch(worker.url)).json()) as Entry[]
    if (isReady(entries)) return entries
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error('It did not happen within 30 seconds')
}

function has(entries: readonly Entry[], what: string): boolean {
  return entries.some((entry) => entry.what === what)
}

/** The key of a run that is in the middle of its work. */
function startedOnly(entries: readonly Entry[]): string | undefined {
  return entries.find(({ key }) => entries.filter((entry) => entry.key === key).length === 1)?.key
}

/** A key is `<object id>:<nominal time>`. */
function timeOf(key: string | undefined): string {
  return new Date(Number(key?.split(':')[1])).toISOString().slice(11, 19)
}

// Ending in the ordinary way is what ends the Worker too: it has a process group of its own, out of the terminal's reach.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1))

const persistTo = await mkdtemp(join(tmpdir(), 'durability-crash-'))
try {
  await main(persistTo)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
} finally {
  await rm(persistTo, { recursive: true, force: true })
}
process.exit()
