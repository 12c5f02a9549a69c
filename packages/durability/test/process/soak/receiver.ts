import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Call, Log } from './log.ts'
import { ALARMS, type Answer, alarmAnswer, deliveryAnswer, PLANS, pulseAnswer, runAnswer } from './plan.ts'

interface OpenCall {
  readonly call: Call
  readonly arrivedAt: number
  readonly response: ServerResponse
  timer: NodeJS.Timeout | undefined
}

/** What the objects call: it logs what arrives and answers by the plan. What it saw survives every kill. */
export class SoakReceiver {
  readonly #log: Log
  readonly #seed: number
  readonly #server: Server
  readonly #open = new Map<number, OpenCall>()
  /** What this epoch and those before it still have open is cut off. */
  #deadEpoch = 0

  static async listen(log: Log, seed: number): Promise<SoakReceiver> {
    const receiver = new SoakReceiver(log, seed)
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve))
    return receiver
  }

  private constructor(log: Log, seed: number) {
    this.#log = log
    this.#seed = seed
    this.#server = createServer({ requestTimeout: 0, keepAliveTimeout: 0 }, (request, response) => {
      // A caller that was killed in the middle of its request told nothing.
      this.#receive(request, response).catch(() => response.destroy())
    })
  }

  get url(): string {
    const address = this.#server.address()
    if (address === null || typeof address === 'string') throw new Error('The receiver does not listen')
    return `http://127.0.0.1:${address.port}`
  }

  /** How many runs and deliveries are open: unanswered, and not yet given up by their caller. */
  get working(): { readonly runs: number; readonly deliveries: number } {
    const now = Date.now()
    const calls = [...this.#open.values()].filter(({ call, arrivedAt }) => now < arrivedAt + timeoutOf(call))
    const count = (kind: string) => calls.filter(({ call }) => call.kind === kind).length
    return { runs: count('run'), deliveries: count('outcome') }
  }

  /** The process of this epoch was killed: nobody is there to be answered. */
  cut(epoch: number): void {
    this.#deadEpoch = epoch
    for (const { timer, response } of this.#open.values()) {
      clearTimeout(timer)
      response.destroy()
    }
    this.#open.clear()
  }

  async close(): Promise<void> {
    for (const { timer } of this.#open.values()) clearTimeout(timer)
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += String(chunk)
    // Only the Worker of the soak knows the address.
    const call = JSON.parse(text) as Call
    const seq = this.#log.append({ what: 'call', call })
    // It was sent before the kill and read after it.
    if (call.epoch <= this.#deadEpoch) return void response.destroy()
    if (call.kind === 'aborted') this.#release(call.run.idempotencyKey)
    const open: OpenCall = { call, arrivedAt: Date.now(), response, timer: undefined }
    this.#open.set(seq, open)
    const { afterMs, status } = this.#answerTo(call)
    if (afterMs === 0) this.#answer(seq, response, status)
    else open.timer = setTimeout(() => this.#answer(seq, response, status), afterMs)
  }

  /** Logged before it is sent: what the caller does next comes later, in any case. */
  #answer(seq: number, response: ServerResponse, status: number): void {
    this.#open.delete(seq)
    this.#log.append({ what: 'answer', of: seq, status })
    response.writeHead(status).end()
  }

  /** Nobody waits for the answer to this run any more. */
  #release(idempotencyKey: string): void {
    for (const [seq, { call, response, timer }] of this.#open) {
      if (call.kind !== 'run' || call.run.idempotencyKey !== idempotencyKey) continue
      clearTimeout(timer)
      this.#open.delete(seq)
      response.end()
    }
  }

  #answerTo(call: Call): Answer {
    const { object } = call
    switch (call.kind) {
      case 'run':
        return runAnswer(this.#seed, object, call.run.scheduledTime)
      case 'outcome':
        return deliveryAnswer(this.#seed, object, call.run.scheduledTime, call.run.attempt)
      case 'alarm': {
        const name = ALARMS.find((known) => known === call.alarm.name) ?? 'renew'
        return alarmAnswer(this.#seed, object, name, call.alarm.scheduledTime, call.alarm.attempt)
      }
      case 'pulse':
        return pulseAnswer(this.#seed, object, call.count)
      default:
        return { afterMs: 0, status: 200 }
    }
  }
}

/** ms after which the call no longer matters to its caller, answered or not. */
function timeoutOf({ kind, object }: Call): number {
  const { runTimeoutMs, outcomeTimeoutMs } = PLANS[object]
  return kind === 'run' ? runTimeoutMs : outcomeTimeoutMs
}
