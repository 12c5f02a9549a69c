import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { PromiseBroken } from './broken.ts'
import type { Job, Reply } from './jobs.ts'

/** A job that takes longer does not end: the library, or a history, loops for ever. */
const HANGS_AFTER_MS = 120_000

export interface Work<J extends Job> {
  /** The next job, `undefined` when there is none now: a reply may bring more. */
  next(): J | undefined
  onReply(job: J, reply: Reply): void
}

/** Workers that play histories, each on a core of its own. */
export class Pool {
  readonly #workers: readonly Worker[]

  constructor(size: number) {
    this.#workers = Array.from({ length: size }, () => new Worker(join(import.meta.dirname, 'worker.ts')))
  }

  /** Resolves when there are no more jobs; rejects when one fails or does not end. */
  async run<J extends Job>(work: Work<J>): Promise<void> {
    let busy = 0
    let wakeAll = Promise.withResolvers<void>()
    const runIn = async (worker: Worker): Promise<void> => {
      for (;;) {
        const job = work.next()
        if (job === undefined) {
          if (busy === 0) return
          await wakeAll.promise
          continue
        }
        busy += 1
        const reply = await replyOf(worker, job)
        busy -= 1
        work.onReply(job, reply)
        wakeAll.resolve()
        wakeAll = Promise.withResolvers<void>()
      }
    }
    await Promise.all(this.#workers.map(runIn))
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()))
  }
}

function replyOf(worker: Worker, job: Job): Promise<Reply> {
  const { promise, resolve, reject } = Promise.withResolvers<Reply>()
  const describe = JSON.stringify(job)
  const timer = setTimeout(
    () => reject(new PromiseBroken(`Does not end: ${describe}`, undefined)),
    HANGS_AFTER_MS,
  )
  const onMessage = (message: { readonly reply?: Reply; readonly error?: string }) => {
    if (message.reply !== undefined) resolve(message.reply)
    else reject(new Error(`${message.error}: ${describe}`))
  }
  worker.once('message', onMessage)
  worker.once('error', reject)
  worker.postMessage(job)
  return promise.finally(() => {
    clearTimeout(timer)
    worker.off('message', onMessage)
    worker.off('error', reject)
  })
}
