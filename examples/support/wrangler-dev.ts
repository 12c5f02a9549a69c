import { spawn, spawnSync } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'

export interface WranglerDevOptions {
  /** The wrangler configuration file. */
  readonly config: string
  /** The folder for state; it outlives the process. Default: `.wrangler/state` beside the configuration. */
  readonly persistTo?: string
  /** Default 0: any free port. */
  readonly port?: number
  /** Variables the Worker finds in its `env`. */
  readonly vars?: Readonly<Record<string, string>>
  /** Further arguments of `wrangler dev`. */
  readonly args?: readonly string[]
  /** Told each line of output. */
  readonly onLine?: (line: string, stream: 'stdout' | 'stderr') => void
  /** ms until the Worker must answer. Default 30 s. */
  readonly readyWithinMs?: number
  /** Aborting it kills the process while it starts: as with `kill`, and the start rejects. */
  readonly signal?: AbortSignal
}

/** One `wrangler dev`, in a process group of its own: only what it started is ever signalled. */
export interface WranglerDev {
  /** Where the Worker answers, without a slash at the end. */
  readonly url: string
  readonly processGroup: number
  /** Resolves when the process has ended, for whatever reason. */
  readonly ended: Promise<void>
  /** SIGKILL to the whole group, as a crash or an out-of-memory kill would be. Resolves when it is gone. */
  kill(): Promise<void>
  /** Asks the group to end, and kills it if it has not within 5 s. */
  stop(): Promise<void>
}

const READY = /Ready on (http:\/\/[^\s/]+)/

/** Starts `wrangler dev` on loopback, on the embedded runtime only: no account, no terminal, no other host is asked. */
export async function startWranglerDev(options: WranglerDevOptions): Promise<WranglerDev> {
  const {
    config,
    persistTo,
    port = 0,
    vars = {},
    args = [],
    onLine,
    readyWithinMs = 30_000,
    signal,
  } = options
  const wrangler = join(
    dirname(createRequire(import.meta.url).resolve('wrangler/package.json')),
    'bin/wrangler.js',
  )
  const child = spawn(
    process.execPath,
    [
      ...[wrangler, 'dev', '--config', config, '--ip', '127.0.0.1', '--port', String(port)],
      ...['--inspector-port', '0', '--show-interactive-dev-session=false'],
      ...(persistTo === undefined ? [] : ['--persist-to', persistTo]),
      ...Object.entries(vars).flatMap(([name, value]) => ['--var', `${name}:${value}`]),
      ...args,
    ],
    { env: environment(persistTo), stdio: ['ignore', 'pipe', 'pipe'], detached: true },
  )
  const { pid } = child
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
  if (pid === undefined) throw new Error(`Cannot start ${wrangler}`)

  // Should this process end without saying goodbye, by an error for example, nothing stays behind.
  const killLeftOver = () => signalGroup(pid, 'SIGKILL')
  process.once('exit', killLeftOver)
  const kill = async () => {
    signalGroup(pid, 'SIGKILL')
    await ended
    await groupGone(pid)
    process.off('exit', killLeftOver)
  }
  const stop = async () => {
    signalGroup(pid, 'SIGTERM')
    await Promise.race([ended, patience(5_000)])
    await kill()
  }

  const killStarting = () => signalGroup(pid, 'SIGKILL')
  signal?.addEventListener('abort', killStarting, { once: true })

  const output: string[] = []
  const announced = Promise.withResolvers<string>()
  for (const stream of ['stdout', 'stderr'] as const) {
    createInterface({ input: child[stream] }).on('line', (line) => {
      if (output.length < 200) output.push(line)
      const url = READY.exec(line)?.[1]
      if (url !== undefined) announced.resolve(url)
      onLine?.(line, stream)
    })
  }
  try {
    const url = await Promise.race([
      announced.promise.then((at) =>
        answering(at, () => child.exitCode !== null || child.signalCode !== null),
      ),
      ended.then(() => fail('wrangler dev ended before it was ready')),
      patience(readyWithinMs).then(() => fail(`wrangler dev was not ready within ${readyWithinMs} ms`)),
    ])
    // The answer may have been on its way when it was killed.
    signal?.throwIfAborted()
    return { url, processGroup: pid, ended, kill, stop }
  } catch (error) {
    await kill()
    throw new Error(`${String(error)}\n${output.join('\n')}`, { cause: error })
  } finally {
    signal?.removeEventListener('abort', killStarting)
  }
}

/** Resolves to `url` when something answers there. A path that touches no object is enough. */
async function answering(url: string, isOver: () => boolean): Promise<string> {
  while (!isOver()) {
    const answer = await fetch(url).catch(() => undefined)
    if (answer !== undefined) {
      // Read to its end: an answer that nobody takes is an error in the log.
      await answer.text()
      return url
    }
    await delay(50)
  }
  return fail(`Nothing ever answered at ${url}`)
}

function environment(persistTo: string | undefined): NodeJS.ProcessEnv {
  // The environment is chosen by the arguments alone.
  const { CLOUDFLARE_ENV: _ignored, ...inherited } = process.env
  return {
    ...inherited,
    CI: '1',
    NO_COLOR: '1',
    WRANGLER_SEND_METRICS: 'false',
    WRANGLER_SEND_ERROR_REPORTS: 'false',
    // The banner asks the package registry for a newer version.
    WRANGLER_HIDE_BANNER: 'true',
    WRANGLER_WRITE_LOGS: 'false',
    CLOUDFLARE_CF_FETCH_ENABLED: 'false',
    // Otherwise Workers of other sessions, found through the home directory, could be bound to this one.
    ...(persistTo === undefined ? {} : { WRANGLER_REGISTRY_PATH: join(persistTo, 'registry') }),
  }
}

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-pid, signal)
  } catch {
    return false
  }
}

/** Waits until no member runs any more. SIGKILL takes effect within moments, so 5 s bound only what cannot be seen. */
async function groupGone(pid: number): Promise<void> {
  const deadline = Date.now() + 5_000
  while (isGroupAlive(pid) && Date.now() < deadline) await delay(20)
}

/** A dead member that its parent, or the container's first process, never reaps still counts as one: it is no life. */
function isGroupAlive(pid: number): boolean {
  if (!signalGroup(pid, 0)) return false
  const { stdout, status } = spawnSync('ps', ['-A', '-o', 'pgid=,stat='], { encoding: 'utf8' })
  if (status !== 0) return true
  return stdout.split('\n').some((line) => {
    const [group, state = 'Z'] = line.trim().split(/\s+/)
    return group === String(pid) && !state.startsWith('Z')
  })
}

function delay(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** A delay that is no reason for this process to stay, for it runs beside a child that is. */
function patience(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref()
  })
}

function fail(message: string): never {
  throw new Error(message)
}
