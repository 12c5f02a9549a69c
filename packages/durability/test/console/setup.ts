import type { ConsoleAction } from '../../src/console/index.ts'
import { bearerToken, type ConsoleOptions, createConsole } from '../../src/console/index.ts'
import { DurabilityEngine, dispatch, memoryStore, type WorkflowLike } from '../../src/schedules/index.node.ts'

export const TOKEN = 'the-token-of-the-tests'
export const NOW: number = Date.UTC(2026, 2, 2, 8)

export interface TestConsole {
  readonly engine: DurabilityEngine
  /** Sends a request; a path is one of the API, under the console's own. */
  send(method: string, path: string, options?: SendOptions): Promise<Response>
  readonly asked: ConsoleAction[]
  moveTo(now: number): void
}

export interface SendOptions {
  readonly body?: unknown
  /** Sent as it is; a stream without its length. */
  readonly text?: string | ReadableStream
  readonly token?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

export const BASE = '/ops/console'

export function engineAt(clock: () => number): DurabilityEngine {
  const workflows: Record<string, WorkflowLike> = {
    brief: () => undefined,
    endless: () => new Promise(() => {}),
    picky: {
      handler: () => undefined,
      validate: () => {
        throw new Error('no topic')
      },
    },
    gone: dispatch(() => {
      throw new Error('the queue is full')
    }),
  }
  return new DurabilityEngine({ store: memoryStore(), clock, workflows })
}

/** A console with one token for everything. */
export function testConsole(options: Partial<ConsoleOptions> = {}): TestConsole {
  let now = NOW
  const engine = engineAt(() => now)
  const asked: ConsoleAction[] = []
  const authorize = bearerToken(TOKEN)
  const fetch = createConsole({
    engine,
    basePath: BASE,
    authorize(request, action) {
      asked.push(action)
      return authorize(request, action)
    },
    ...options,
  })
  return {
    engine,
    asked,
    moveTo(to) {
      now = to
    },
    send(method, path, { body, text, token = TOKEN, headers = {} } = {}) {
      const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
      return fetch(
        new Request(`https://ops.example${BASE}${path}`, {
          method,
          headers: {
            ...(token !== null && { authorization: `Bearer ${token}` }),
            ...(sent !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(sent !== undefined && { body: sent, duplex: 'half' }),
        }),
      )
    },
  }
}

/** The status and the body of an answer. */
export async function read(response: Response): Promise<{ readonly status: number; readonly body: unknown }> {
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
}
