import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { OutcomeRun, RunIdentity, RunOutcome } from '../../../src/experimental/index.ts'

/** One call of `run` or `onOutcome`, as it arrived. */
export type Received = (
  | { readonly kind: 'run'; readonly run: RunIdentity }
  | { readonly kind: 'outcome'; readonly run: OutcomeRun; readonly outcome: RunOutcome }
) & {
  /** Epoch ms. */
  readonly arrivedAt: number
}

type Kind = Received['kind']

/** ms. Far beyond a restart of wrangler on a busy machine. */
const DEADLINE_MS = 90_000

/**
 * What the schedule calls, in the process of the test: it remembers every call, in order, whatever becomes of the
 * caller. It answers at once, unless it is told to hold an answer back.
 */
export class Receiver {
  readonly received: Received[] = []
  readonly #server: Server
  readonly #holds: { readonly kind: Kind; readonly arrived: (received: Received) => void }[] = []
  readonly #watchers = new Set<() => void>()

  static async listen(): Promise<Receiver> {
    const receiver = new Receiver()
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  private constructor() {
    this.#server = createServer((request, response) => {
      // A caller that was killed in the middle of its request is no failure of the receiver.
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('The receiver does not listen')
    return `http://127.0.0.1:${address.port}`
  }

  /** The calls of `run`, repeated ones included. */
  get runs(): Received[] {
    return this.received.filter(({ kind }) => kind === 'run')
  }

  /**
   * The first that arrived about each run, in the order of their times. A run that was cut off between its record and its
   * call is known by its outcome only.
   */
  get recorded(): Received[] {
    const first = this.received.filter(
      ({ run }, index) =>
        this.received.findIndex((other) => other.run.idempotencyKey === run.idempotencyKey) === index,
    )
    return first.sort((one, other) => one.run.scheduledTime - other.run.scheduledTime)
  }

  /** What arrived about one run. */
  about(idempotencyKey: string): Received[] {
    return this.received.filter(({ run }) => run.idempotencyKey === idempotencyKey)
  }

  /** The outcomes of one run, as often as they were delivered. */
  outcomesOf(idempotencyKey: string): RunOutcome[] {
    return this.about(idempotencyKey).flatMap((received) =>
      received.kind === 'outcome' ? [received.outcome] : [],
    )
  }

  /** Leaves the next call of this kind without an answer; resolves as it arrives, so that its caller is in the middle of it. */
  hold(kind: Kind): Promise<Received> {
    return withinDeadline(
      `the next ${kind}`,
      new Promise((resolve) => {
        this.#holds.push({ kind, arrived: resolve })
      }),
    )
  }

  /** Resolves as soon as it holds, looking again at each arrival. */
  until(what: string, holds: () => boolean): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = () => {
      if (holds()) resolve()
    }
    this.#watchers.add(look)
    look()
    return withinDeadline(what, promise).finally(() => this.#watchers.delete(look))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const arrivedAt = Date.now()
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
    const received = { kind: request.url?.slice(1), ...JSON.parse(text), arrivedAt } as Received
    this.received.push(received)
    const index = this.#holds.findIndex(({ kind }) => kind === received.kind)
    const [hold] = index < 0 ? [] : this.#holds.splice(index, 1)
    if (hold === undefined) response.end('ok')
    else hold.arrived(received)
    for (const look of this.#watchers) look()
  }
}

async function withinDeadline<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${DEADLINE_MS} ms for ${what}`)), DEADLINE_MS)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}
