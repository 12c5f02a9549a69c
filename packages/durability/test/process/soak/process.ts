import { join } from 'node:path'
import { startWranglerDev, type WranglerDev } from '../../../../../examples/support/wrangler-dev.ts'
import type { Action, Log, Result } from './log.ts'
import type { ObjectName } from './plan.ts'
import type { SoakReceiver } from './receiver.ts'

/** What the Worker may print: dead letters are planned. */
const EXPECTED = /"durability\.(schedule\.outcome_|alarms\.)dead_lettered"/
const FAULT = /"event":"durability\.|uncaught/i

/** ms. Only a start that hangs takes so long. */
const READY_WITHIN_MS = 120_000

/** `wrangler dev` over one folder of state: killed, started again, and asked. */
export class SoakProcess {
  readonly #log: Log
  readonly #receiver: SoakReceiver
  readonly #persistTo: string
  readonly #seed: number
  #epoch = 0
  #worker: WranglerDev | undefined

  constructor(log: Log, receiver: SoakReceiver, persistTo: string, seed: number) {
    this.#log = log
    this.#receiver = receiver
    this.#persistTo = persistTo
    this.#seed = seed
  }

  get epoch(): number {
    return this.#epoch
  }

  /** Resolves when the Worker answers; no object is asked anything. */
  async start(): Promise<void> {
    this.#epoch += 1
    const epoch = this.#epoch
    this.#log.append({ what: 'spawn', epoch })
    this.#worker = await startWranglerDev({
      config: join(import.meta.dirname, 'worker/wrangler.toml'),
      persistTo: this.#persistTo,
      vars: { RECEIVER: this.#receiver.url, SEED: String(this.#seed), EPOCH: String(epoch) },
      readyWithinMs: READY_WITHIN_MS,
      onLine: (line) => {
        if (FAULT.test(line) && !EXPECTED.test(line)) this.#log.append({ what: 'printed', epoch, line })
      },
    })
    this.#log.append({ what: 'ready', epoch })
  }

  /** SIGKILL to every process it consists of, at once; resolves when all are gone. */
  async kill(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    this.#worker = undefined
    // It is sent before the first await.
    const killed = worker.kill()
    this.#log.append({ what: 'kill', epoch: this.#epoch, open: this.#receiver.open })
    this.#receiver.cut(this.#epoch)
    await killed
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
