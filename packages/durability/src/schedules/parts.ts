import type { Clock } from '../core/clock.ts'
import type { InTurn } from './in-turn.ts'
import type { ObjectRuns } from './object-runs.ts'
import type { Registered } from './registered.ts'
import type { Awaitable, ScheduleStore } from './store.ts'

/** What the parts of one engine share. */
export interface EngineParts {
  readonly store: ScheduleStore
  readonly clock: Clock
  /** Epoch ms: every verb takes its time from here. */
  readonly now: () => number
  /** `undefined`: an operator, which sees and fires every namespace. */
  readonly namespace: string | undefined
  readonly maxConcurrentRuns: number
  readonly runTimeoutMs: number
  readonly maxFiresPerTick: number
  readonly startTimeoutMs: number
  readonly graceMs: number
  readonly minEveryMs: number
  readonly seconds: boolean
  readonly keptRuns: number
  readonly keptDecisions: number
  /** Whether anything is registered that does not run in the object. */
  readonly startsOutside: boolean
  /** The registered workflow of that name. */
  registered(name: string): Registered | undefined
  /** The name of a registered value; a string is one already. */
  nameOf(workflow: unknown): string
  /** When the soonest schedule is due, as this turn read it. */
  readonly soonest: InTurn<number | undefined>
  /** Makes a write; where a scheduler drives the engine, the alarm is put right in the same unit. */
  write<T>(write: () => Awaitable<T>): Awaitable<T>
  /** Keeps the object alive until it settles. */
  hold(work: Promise<unknown>): void
  /** Only where the store is bound to one object. */
  readonly objectRuns: ObjectRuns | undefined
  /** Resolves when what was written is durable and the platform has taken the alarm. */
  durable(): Promise<void>
  draining(): boolean
}
