import { join } from 'node:path'
import { build } from 'esbuild'
import { startWranglerDev, type WranglerDev } from '../../../../../examples/support/wrangler-dev.ts'
import type { Action, Log, Result } from './log.ts'
import type { ObjectName } from './plan.ts'
import type { SoakReceiver } from './receiver.ts'

/** What the Worker may print: dead letters are planned. */
const EXPECTED = /"durability\.(schedule\.outcome_|alarms\.)dead_lettered"/
const FAULT = /"event":"durability\.|uncaught/i

/** ms. Only a start that hangs takes so long. */
const READY_WITHIN_MS = 120_000

const FOLDER = join(import.meta.dirname, 'worker')

/** `wrangler dev` over one folder of state: killed, started again, and asked. */
export class SoakProcess {
  readonly #log: Log
  readonly #receiver: SoakReceiver
  readonly #folder: string
  readonly #seed: number
  #epoch = 0
  #worker: WranglerDev | undefined

  /** The Worker is bundled once: a file that is edited meanwhile must not start it anew. */
  static async create(log: Log, receiver: SoakReceiver, folder: string, seed: number): Promise<SoakProcess> {
    await build({
      entryPoints: [join(FOLDER, 'worker.ts')],
      outfile: join(folder, 'worker/worker.js'),
      bundle: true,
      format: 'esm',
      target: 'es2024',
      external: ['cloudflare:*'],
    })
    return new SoakProcess(log, receiver, folder, seed)
  }

  private constructor(log: Log, receiver: SoakReceiver, folder: string, seed: number) {
    this.#log = log
    this.#receiver = receiver
    this.#folder = folder
    this.#seed = seed
  }

  get epoch(): number {
    return this.#epoch
  }

  /**
   * Resolves when the Worker answers; no object is asked anything. When `signal` is aborted before that the process is
   * killed. Answers whether it is there.
   */
  async start(signal: AbortSignal): Promise<boolean> {
    this.#epoch += 1
    const epoch = this.#epoch
    this.#log.append({ what: 'spawn', epoch })
    const starting = startWranglerDev({
      config: join(FOLDER, 'wrangler.toml'),
      persistTo: join(this.#folder, 'state'),
      args: ['--no-bundle', join(this.#folder, 'worker/worker.js')],
      vars: { RECEIVER: this.#receiver.url, SEED: String(this.#seed), EPOCH: String(epoch) },
      readyWithinMs: READY_WITHIN_MS,
      signal,
      onLine: (line) => {
        if (FAULT.test(line) && !EXPECTED.test(line)) this.#log.append({ what: 'printed', epoch, line })
      },
    })
    const killed = () => this.#killed()
    // It is called after the listener that sends the signal.
    signal.addEventListener('abort', killed)
    try {
      this.#worker = await starting
    } catch (error) {
      if (signal.aborted) return false
      throw error
    } finally {
      signal.removeEventListener('abort', killed)
    }
    this.#log.append({ what: 'ready', epoch })
    return true
  }

  /** SIGKILL to every process it consists of, at once; resolves when all are gone. */
  async kill(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    this.#worker = undefined
    // It is sent before the first await.
    const sent = worker.kill()
    this.#killed()
    await sent
  }

  #killed(): void {
    this.#log.append({ what: 'kill', epoch: this.#epoch, ...this.#receiver.working })
    this.#receiver.cut(this.#epoch)
  }

  /** Ends it when all is done: that is no kill to be judged. */
  async dispose(): Promise<void> {
    await this.#worker?.stop()
    this.#worker = undefined
  }

  /** Asks an object. Answers `undefined` when the process was killed meanwhile. */
  async ask(object: ObjectName, action: Action, expected?: boolean): Promise<Result | undefined> {
    const worker = this.#worker
    if (worker === undefined) throw new Error('The Worker is not running')
    const of = this.#log.append({
      what: 'request',
      epoch: this.#epoch,
      object,
      action,
      ...(expected === undefined ? {} : { expected }),
    })
    try {
      const response = await fetch(`${worker.url}/${object}`, {
        method: 'POST',
        body: JSON.stringify(action),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(`${response.status} ${text}`)
      // The Worker answers nothing else.
      const result = JSON.parse(text) as Result
      this.#log.append({ what: 'result', of, result })
      return result
    } catch (error) {
      if (this.#worker === worker) this.#log.append({ what: 'refused', of, error: String(error) })
      return undefined
    }
  }
}
