import type { Start, Target } from './target.ts'

/** The two functions that a user writes: what a run does, and who is told of its outcome. */
export interface Handlers {
  run(scheduledTime: number): unknown
  note(scheduledTime: number, outcome: { readonly status: string }): unknown
}

export type HandlersName = 'calling' | 'empty' | 'recording'

/** Each makes one call to a target object, as users' do. */
export function callingHandlers(target: DurableObjectStub<Target>): Handlers {
  return {
    run: (scheduledTime) => target.run(scheduledTime),
    note: (scheduledTime, outcome) => target.note(scheduledTime, outcome),
  }
}

/** They do nothing, in the object itself: what is left is what the schedule costs. */
export const emptyHandlers: Handlers = { run() {}, note() {} }

/** In the object itself, and noting when they are called. */
export function recordingHandlers(starts: Start[]): Handlers {
  return {
    run(scheduledTime) {
      starts.push({ scheduledTime, startedAt: Date.now() })
    },
    note() {},
  }
}

/** Lets each run through when told, and tells when a run has started and when an outcome has been noted. */
export class Gate {
  readonly #closed: (() => void)[] = []
  #started = Promise.withResolvers<void>()
  #noted = Promise.withResolvers<void>()

  around(handlers: Handlers): Handlers {
    return {
      run: async (scheduledTime) => {
        await handlers.run(scheduledTime)
        const { promise, resolve } = Promise.withResolvers<void>()
        this.#closed.push(resolve)
        this.#started.resolve()
        await promise
      },
      note: async (scheduledTime, outcome) => {
        await handlers.note(scheduledTime, outcome)
        this.#noted.resolve()
      },
    }
  }

  /** Resolves when the next run stands before the gate. */
  nextStart(): Promise<void> {
    this.#started = Promise.withResolvers()
    return this.#started.promise
  }

  /** Resolves when the next outcome has been noted. */
  nextNote(): Promise<void> {
    this.#noted = Promise.withResolvers()
    return this.#noted.promise
  }

  letOneThrough(): void {
    this.#closed.shift()?.()
  }
}
