import type { ObjectState } from '../core/state.ts'
import type { RunIdentity } from './outcome.ts'

/** What a run's row says of it. */
export const WAITING = 0
export const RUNNING = 1
export const COMPLETE = 2
export const ERRORED = 3
/** Not stored: its row is gone. */
export const REMOVED = 4

/** A run, from its tick to the end of its delivery: its row. */
export type RunRow = {
  /** Keys rise by one with each tick, so that their order is the order of starts. */
  readonly id: number
  readonly scheduledTime: number
  readonly dueAt: number
  readonly version: number
  state: number
  /** A `RunOutcome` as JSON; `null` as JSON before it is settled. */
  outcome: string
  /** Failed deliveries so far. */
  attempts: number
  /** Epoch ms; 0 before the first delivery failed. */
  nextAttemptAt: number
  /** 1 while an inherited outcome is being delivered. */
  delivering: number
}

/** The row, and what the live instance makes of it. */
export type Run = RunRow & {
  /** This instance is running it, delivering its outcome, or waiting for a near retry. */
  held?: boolean
  /** Left by an instance that is gone: delivered alone and under a mark, for it may be what killed it. */
  inherited?: boolean
}

/** Names a run for the outside. */
export function identityOf({ id }: ObjectState, { scheduledTime, dueAt, version }: Run): RunIdentity {
  return { scheduledTime, dueAt, version, idempotencyKey: `${id}:${scheduledTime}` }
}
