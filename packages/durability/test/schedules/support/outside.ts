import type { RunToStart, WorkflowBinding } from '../../../src/schedules/index.node.ts'
import { dispatch, type WorkflowLike, workflow } from '../../../src/schedules/index.node.ts'

/** What engines start things in, and what stays when they die. */
export class Outside {
  /** Run ids with how often they arrived. */
  readonly got = new Map<string, number>()
  /** Of Workflows: instances by their run id. */
  readonly statuses = new Map<string, string>()
  readonly #runIds = new Map<string, string>()
  /** Starts that fail before they are to succeed. */
  failures = 0
  /** The status that an instance has at first. */
  status = 'complete'

  #arrive(runId: string): void {
    if (this.failures > 0) {
      this.failures -= 1
      throw new Error('down')
    }
    this.got.set(runId, (this.got.get(runId) ?? 0) + 1)
  }

  /** As an engine sees it that calls by way of `through`. */
  workflows(through: <T>(call: () => T) => Promise<T>): Record<string, WorkflowLike> {
    const binding: WorkflowBinding = {
      create: ({ id, params }) =>
        through(() => {
          const { runId } = params as RunToStart
          if (this.statuses.has(id)) throw new Error('instance.already_exists')
          this.#arrive(runId)
          this.#runIds.set(runId, id)
          this.statuses.set(id, this.status)
        }),
      get: async (id) => {
        if (!this.statuses.has(id)) throw new Error('instance.not_found')
        return {
          status: () => through(() => ({ status: this.statuses.get(id) ?? 'unknown' })),
          terminate: () => through(() => void this.statuses.set(id, 'terminated')),
        }
      },
    }
    return {
      send: dispatch(({ runId }) => through(() => this.#arrive(runId))),
      flow: workflow(binding, { params: (run) => run }),
    }
  }

  /** What becomes of an instance. */
  end(runId: string, status: 'complete' | 'errored'): void {
    const id = this.#runIds.get(runId)
    if (id !== undefined) this.statuses.set(id, status)
  }
}
