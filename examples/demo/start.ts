// What `npm start` runs: `wrangler dev` on loopback, with one schedule that ticks and some that users could have made. A
// Worker is loaded by its first request or alarm, so somebody has to make that request; and only this script knows the
// port to print.

import { createServer } from 'node:net'
import { join } from 'node:path'
import { startWranglerDev } from '../support/wrangler-dev.ts'
import { OWN_SCHEDULES } from './own-schedules.ts'
import { page } from './page.ts'

const HEARTBEAT = { expression: '*/2 * * * * *', timezone: 'UTC', jitterMs: 0 }
const DEFAULT_PORT = 8787

/** Lines of the Worker begin with the time of day. */
const WORKER_LINE = /^\d\d:\d\d:\d\d\./

/** The runtime's log of a client that stopped following a stream: no failure, and nothing to do about it. */
const LEFT_STREAM = /^NOSENTRY |Uncaught Error: Network connection lost\./

let isReady = false

async function main(): Promise<void> {
  const { PORT } = process.env
  const port = await choosePort(PORT)
  const asked = askedToStop()
  const starting = startWranglerDev({
    config: join(import.meta.dirname, '../../wrangler.toml'),
    port,
    args: process.argv.slice(2),
    onLine: forward,
  })
  const worker = await Promise.race([starting, asked.then(() => process.exit(0))])
  isReady = true
  console.log(page(worker.url))
  await startHeartbeat(`${worker.url}/schedules/heartbeat`)
  await makeOwnSchedules(`${worker.url}/user-schedules`)
  const why = await Promise.race([asked.then(() => 'asked'), worker.ended.then(() => 'ended')])
  await worker.stop()
  if (why === 'ended') throw new Error('wrangler dev ended by itself')
  process.exit(0)
}

/** Resolves on a signal, or when npm, to which the signal was sent, is gone: it hands signals on only as far as its shell. */
function askedToStop(): Promise<void> {
  const { npm_lifecycle_event } = process.env
  const parent = process.ppid
  return new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve())
    if (npm_lifecycle_event !== undefined) {
      setInterval(() => {
        if (process.ppid !== parent) resolve()
      }, 200)
    }
  })
}

/** Prints what the Worker says; of what wrangler says only failures and, once it runs, what is not a request log. */
function forward(line: string, stream: 'stdout' | 'stderr'): void {
  if (line === '' || LEFT_STREAM.test(line)) return
  if (stream === 'stderr') console.error(line)
  else if (WORKER_LINE.test(line) || (isReady && !line.startsWith('[wrangler:info]'))) console.log(line)
}

/** The state of an earlier start is still there: usually this resends what it set, which also repairs a lost alarm. */
async function startHeartbeat(url: string): Promise<void> {
  const stored = (await (await fetch(url)).json()) as Partial<typeof HEARTBEAT> & {
    version?: number | null
    state?: string
  }
  const isSame =
    stored.state === 'live' &&
    stored.expression === HEARTBEAT.expression &&
    stored.timezone === HEARTBEAT.timezone &&
    stored.jitterMs === HEARTBEAT.jitterMs
  const version = isSame ? stored.version : (stored.version ?? 0) + 1
  const answer = await fetch(url, { method: 'PUT', body: JSON.stringify({ ...HEARTBEAT, version }) })
  if (!answer.ok) console.error(`The schedule "heartbeat" could not be set: ${await answer.text()}`)
}

/** By upsert: what is there as it was made stays as it is, and goes on. */
async function makeOwnSchedules(url: string): Promise<void> {
  for (const [id, definition] of Object.entries(OWN_SCHEDULES)) {
    const answer = await fetch(`${url}/${id}`, { method: 'PUT', body: JSON.stringify(definition) })
    const text = await answer.text()
    if (!answer.ok) console.error(`The schedule "${id}" could not be made: ${text}`)
  }
}

async function choosePort(wanted: string | undefined): Promise<number> {
  if (wanted === undefined || wanted === '') return (await isFree(DEFAULT_PORT)) ? DEFAULT_PORT : 0
  const port = Number(wanted)
  if (!/^\d+$/.test(wanted) || port > 65_535)
    throw new Error(`PORT must be a number up to 65535, got "${wanted}"`)
  return port
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

// Whoever read the output, `head` for example, has seen enough.
process.stdout.on('error', () => process.exit(0))

main().catch((error: unknown) => {
  // The lines after the first are wrangler's own, which were printed as they came.
  console.error(error instanceof Error ? error.message.split('\n')[0] : error)
  process.exit(1)
})
