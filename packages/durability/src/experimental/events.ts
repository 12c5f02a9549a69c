import type { SchedulerPort } from '../core/helper.ts'
import { callHook } from '../core/report.ts'
import type { DescribedError } from '../core/thrown.ts'
import type { RunIdentity, RunOutcome } from './outcome.ts'
import type { Run } from './run-table.ts'

/** What happened to a run. */
export type ScheduledRunEventDetails =
  /** A tick recorded it. `queued`: it waits for a slot. */
  | { readonly type: 'due'; readonly queued: boolean }
  /** Its handler is about to be called, for the first and only time. */
  | { readonly type: 'started' }
  /** It has its outcome, and it is stored. `durationMs` is `undefined` when the instance that ran it is gone. */
  | {
      readonly type: 'settled'
      readonly outcome: RunOutcome['status']
      readonly error: DescribedError | undefined
      readonly durationMs: number | undefined
    }
  /** Delivery number `attempt` failed; the next is at `nextAttemptAt`, epoch ms. */
  | {
      readonly type: 'outcome_retry'
      readonly attempt: number
      readonly error: DescribedError
      readonly nextAttemptAt: number
    }
  /** Its outcome is given up after `attempts` failed deliveries; `error` says why. */
  | {
      readonly type: 'dead_lettered'
      readonly outcome: RunOutcome
      readonly attempts: number
      readonly error: DescribedError
    }
  /** It timed out and its handler has not settled: it keeps its slot until it does. */
  | { readonly type: 'stuck' }

/** Passed to `onLifecycleEvent`. Best effort: for logs and metrics, not for work that must happen. */
export type ScheduledRunEvent = RunIdentity & {
  readonly entityKind: 'scheduled_run'
  /** Epoch ms, when it happened. */
  readonly timestamp: number
} & ScheduledRunEventDetails

/** Names a run for the outside. */
export function identityOf(port: SchedulerPort, { scheduledTime, dueAt, version }: Run): RunIdentity {
  return { scheduledTime, dueAt, version, idempotencyKey: `${port.context.id}:${scheduledTime}` }
}

/** Tells the user's hook. An outcome that nobody received is also logged: it must be findable without a hook. */
export type EmitRunEvent = (run: Run, details: ScheduledRunEventDetails) => void

export function runEventsTo(
  port: SchedulerPort,
  hook: ((event: ScheduledRunEvent) => unknown) | undefined,
): EmitRunEvent {
  return (run, details) => {
    const event: ScheduledRunEvent = {
      entityKind: 'scheduled_run',
      timestamp: port.clock.now(),
      ...identityOf(port, run),
      ...details,
    }
    if (details.type === 'dead_lettered') {
      console.error(JSON.stringify({ event: 'durability.schedule.outcome_dead_lettered', ...event }))
    }
    callHook(hook, event)
  }
}
