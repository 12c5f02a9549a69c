import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWranglerDev, type WranglerDev } from '../../../../../examples/support/wrangler-dev.ts'
import type { ScheduleStatus } from '../../../src/experimental/index.ts'

const CONFIG = join(import.meta.dirname, '../worker/wrangler.toml')

/** `wrangler dev` over one folder of state, to be killed and started again as often as a test likes. */
export class RestartableWorker {
  readonly #persistTo: string
  readonly #receiverUrl: string
  #process: WranglerDev | undefined

  static async create(receiverUrl: string): Promise<RestartableWorker> {
    return new RestartableWorker(await mkdtemp(join(tmpdir(), 'durability-kill-')), receiverUrl)
  }

  private constructor(persistTo: string, receiverUrl: string) {
    this.#persistTo = persistTo
    this.#receiverUrl = receiverUrl
  }

  /** Resolves when the Worker answers; the object itself is not asked anything. */
  async start(): Promise<void> {
    this.#process = await startWranglerDev({
      config: CONFIG,
      persistTo: this.#persistTo,
      vars: { RECEIVER: this.#receiverUrl },
      readyWithinMs: 90_000,
    })
  }

  /** SIGKILL to every process it consists of. */
  async kill(): Promise<void> {
    await this.#process?.kill()
    this.#process = undefined
  }

  async startSchedule(everyMs: number): Promise<void> {
    await this.#ask(`/start?everyMs=${everyMs}`)
  }

  async cancelSchedule(): Promise<void> {
    await this.#ask('/cancel')
  }

  async status(): Promise<ScheduleStatus> {
    return (await this.#ask('/status')) as ScheduleStatus
  }

  async dispose(): Promise<void> {
    await this.kill()
    await rm(this.#persistTo, { recursive: true, force: true })
  }

  async #ask(path: string): Promise<unknown> {
    if (this.#process === undefined) throw new Error('The Worker is not running')
    const response = await fetch(`${this.#process.url}${path}`)
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
    return response.json()
  }
}
