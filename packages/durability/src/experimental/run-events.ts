import type { Clock } from '../core/clock.ts'
import { callHook } from '../core/report.ts'
import type { DescribedError } from '../core/thrown.ts'
import type { ScheduledRunEvent } from './events.ts'
import type { RunIdentity, RunOutcome } from './outcome.ts'
import type { RecordedRun } from './run-table.ts'

/** Names runs for the outside, and tells the user's hook what becomes of them. */
export class RunEvents {
  readonly #objectId: string
  readonly #clock: Clock
  readonly #hook: ((event: ScheduledRunEvent) => unknown) | undefined

  constructor(objectId: string, clock: Clock, hook: ((event: ScheduledRunEvent) => unknown) | undefined) {
    this.#objectId = objectId
    this.#clock = clock
    this.#hook = hook
  }

  identityOf({ scheduledTime, dueAt, version }: RecordedRun): RunIdentity {
    return { scheduledTime, dueAt, idempotencyKey: `${this.#objectId}:${scheduledTime}`, version }
  }

  due(run: RecordedRun, queued: boolean): void {
    this.#emit({ ...this.#about(run), type: 'due', queued })
  }

  started(run: RecordedRun): void {
    this.#emit({ ...this.#about(run), type: 'started' })
  }

  settled(run: RecordedRun, outcome: RunOutcome, durationMs: number | undefined): void {
    const error = outcome.status === 'errored' ? outcome.error : undefined
    this.#emit({ ...this.#about(run), type: 'settled', outcome: outcome.status, error, durationMs })
  }

  stuck(run: RecordedRun): void {
    this.#emit({ ...this.#about(run), type: 'stuck' })
  }

  outcomeRetry(run: RecordedRun, attempt: number, error: DescribedError, nextAttemptAt: number): void {
    this.#emit({ ...this.#about(run), type: 'outcome_retry', attempt, error, nextAttemptAt })
  }

  /** Also logged: an outcome that nobody received must be findable without a hook. */
  deadLettered(
    run: RecordedRun,
    outcome: RunOutcome | undefined,
    attempts: number,
    error: DescribedError,
  ): void {
    const about = this.#about(run)
    console.error(
      JSON.stringify({
        event: 'durability.schedule.outcome_dead_lettered',
        ...about,
        outcome,
        attempts,
        error,
      }),
    )
    this.#emit({ ...about, type: 'dead_lettered', outcome, attempts, error })
  }

  #about(run: RecordedRun): RunIdentity & { entityKind: 'scheduled_run'; timestamp: number } {
    return { entityKind: 'scheduled_run', ...this.identityOf(run), timestamp: this.#clock.now() }
  }

  #emit(event: ScheduledRunEvent): void {
    callHook('onLifecycleEvent', this.#hook, event)
  }
}
