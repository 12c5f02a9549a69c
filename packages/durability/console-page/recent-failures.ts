import type { RunDescription } from './types.ts'

/** What the latest runs failed with. Of older ones only those are kept that a schedule still names as its last. */
export class RecentFailures {
  readonly #errors = new Map<string, string>()
  #latest: ReadonlySet<string> = new Set()

  get size(): number {
    return this.#errors.size
  }

  of(runId: string): string | null {
    return this.#errors.get(runId) ?? null
  }

  add(runs: readonly RunDescription[]): void {
    this.#latest = new Set(runs.map(({ id }) => id))
    for (const run of runs) {
      const error = errorOfRun(run)
      if (error === null) this.#errors.delete(run.id)
      else this.#errors.set(run.id, error)
    }
  }

  /** @param lastRunIds The last runs of all schedules. A run that is newer than those is among the runs added last. */
  keepOnly(lastRunIds: ReadonlySet<string | null>): void {
    for (const id of this.#errors.keys()) {
      if (!lastRunIds.has(id) && !this.#latest.has(id)) this.#errors.delete(id)
    }
  }

  clear(): void {
    this.#errors.clear()
    this.#latest = new Set()
  }
}

/** What a run failed with; `null` when it has not. */
export function errorOfRun({ status, error }: RunDescription): string | null {
  return status === 'errored' || status === 'interrupted' ? (error ?? status) : null
}
