import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { mkdir, mkdtemp, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import type { Call } from '../worker/entry.ts'
import { post } from './post.ts'
import { QUIET_STORE } from './stores.ts'

/** workerd as wrangler brings it, so that what is measured is what the tests run in. */
const wranglerRequire = createRequire(createRequire(import.meta.url).resolve('wrangler'))
export const WORKERD: string = wranglerRequire.resolve('workerd/bin/workerd')
export const WORKERD_VERSION: string = (wranglerRequire('workerd/package.json') as { version: string })
  .version

const COMPATIBILITY_DATE = '2026-08-15'

export interface WorkerOptions {
  /** The bundled module. */
  readonly code: string
  /** Names of the object classes that it exports; each is bound under its own name. */
  readonly classes: readonly string[]
  /** Where objects are stored, to be found by a later process. Default: a new folder in `store`, deleted at the end. */
  readonly folder?: string
  readonly store?: string
  readonly isCounting?: boolean
  /** Opens V8's inspector, for the size of the heap. */
  readonly isInspected?: boolean
}

/** One workerd process with one Worker. */
export interface WorkerProcess {
  readonly pid: number
  readonly inspectorUrl: string | undefined
  /** Calls a method of one object, or of several at once. */
  call(
    subject: string,
    objects: string | readonly string[],
    method: string,
    argument?: unknown,
  ): Promise<unknown[]>
  /** ms of CPU the process has used, over all threads. */
  cpuMs(): number
  /** Bytes of memory that are resident. */
  residentBytes(): number
  stop(): Promise<void>
}

export async function startWorker(options: WorkerOptions): Promise<WorkerProcess> {
  const folder = options.folder ?? (await newFolder(options.store))
  await mkdir(join(folder, 'objects'), { recursive: true })
  await writeFile(join(folder, 'worker.js'), options.code)
  await writeFile(join(folder, 'config.capnp'), configOf(options, join(folder, 'objects')))
  const inspector = options.isInspected ? ['--inspector-addr=127.0.0.1:0'] : []
  const child = spawn(WORKERD, ['serve', '--control-fd=3', ...inspector, join(folder, 'config.capnp')], {
    stdio: ['ignore', 'inherit', 'inherit', 'pipe'],
  })
  const end = () => {
    child.kill('SIGKILL')
    if (options.folder === undefined) rmSync(folder, { recursive: true, force: true })
  }
  // Also when the bench is interrupted, or fails.
  process.once('exit', end)
  const { pid } = child
  if (pid === undefined) throw new Error('workerd did not start')
  const ports = await portsOf(child, options.isInspected ? ['http', 'inspector'] : ['http'])
  const url = `http://127.0.0.1:${ports.get('http')}/`
  return {
    pid,
    inspectorUrl: ports.has('inspector') ? `127.0.0.1:${ports.get('inspector')}` : undefined,
    async call(subject, objects, method, argument) {
      const body: Call = { subject, objects: [objects].flat(), method, argument }
      const answer = await post(url, JSON.stringify(body)).catch((cause: unknown) => {
        throw new Error(`${subject}.${method}(${JSON.stringify(argument)}) failed`, { cause })
      })
      return JSON.parse(answer) as unknown[]
    },
    cpuMs: () => cpuMsOf(pid),
    residentBytes: () =>
      Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024,
    async stop() {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
      end()
      process.off('exit', end)
    },
  }
}

export function newFolder(store: string = QUIET_STORE): Promise<string> {
  return mkdtemp(join(store, 'durability-bench-'))
}

function configOf({ classes, isCounting }: WorkerOptions, objects: string): string {
  const text = JSON.stringify
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "bench", worker = .bench),
    (name = "objects", disk = (path = ${text(objects)}, writable = true)),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "bench")],
);
const bench :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = ${text(COMPATIBILITY_DATE)},
  durableObjectStorage = (localDisk = "objects"),
  durableObjectNamespaces = [
    ${classes.map((name) => `(className = ${text(name)}, uniqueKey = ${text(name)}, enableSql = true)`).join(',\n    ')}
  ],
  bindings = [
    (name = "TARGETS", durableObjectNamespace = "Target"),
    ${isCounting ? '(name = "COUNT", text = "yes"),' : ''}
    ${classes.map((name) => `(name = ${text(name)}, durableObjectNamespace = ${text(name)})`).join(',\n    ')}
  ],
);
`
}

/** What workerd writes to its control channel once it listens. */
type Listening = { readonly event: string; readonly socket?: string; readonly port?: number }

async function portsOf(child: ChildProcess, wanted: readonly string[]): Promise<Map<string, number>> {
  const control = child.stdio[3] as Readable // a pipe, by `stdio` above
  const ports = new Map<string, number>()
  for await (const line of createInterface(control)) {
    const { event, socket, port } = JSON.parse(line) as Listening
    if (event === 'listen-inspector' && port) ports.set('inspector', port)
    else if (socket && port) ports.set(socket, port)
    if (wanted.every((name) => ports.has(name))) return ports
  }
  throw new Error('workerd ended before it listened')
}

/** The scheduler's account, in ns: finer than the ticks of `stat`. Threads of workerd do not end while it serves. */
function cpuMsOf(pid: number): number {
  const threads = readdirSync(`/proc/${pid}/task`)
  const ns = threads.map((thread) =>
    Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, 'utf8').split(' ')[0]),
  )
  return ns.reduce((sum, one) => sum + one, 0) / 1e6
}
