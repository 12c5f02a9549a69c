import type {
  OutcomeRun,
  RunIdentity,
  RunOutcome,
  ScheduledRunEvent,
} from '../../../src/experimental/index.ts'
import type { NamedAlarmEvent } from '../../../src/index.ts'
import type { ObjectName } from './plan.ts'

/** What an object tells the receiver. `startedAt` is when it began, by the object's clock; epoch ms. */
export type Report =
  | { readonly kind: 'run'; readonly run: RunIdentity; readonly startedAt: number }
  /** A handler was aborted and is about to end. */
  | { readonly kind: 'aborted'; readonly run: RunIdentity }
  | {
      readonly kind: 'outcome'
      readonly run: OutcomeRun
      readonly outcome: RunOutcome
      readonly startedAt: number
    }
  /** After a delivery returned, its row was gone, durably: what an object sends waits for what it has written. */
  | { readonly kind: 'gone'; readonly run: OutcomeRun }
  | { readonly kind: 'runEvent'; readonly event: ScheduledRunEvent }
  | { readonly kind: 'alarm'; readonly alarm: AlarmAttempt; readonly startedAt: number }
  | { readonly kind: 'alarmEvent'; readonly event: NamedAlarmEvent }
  | { readonly kind: 'pulse'; readonly count: number }
  /** `onAlarmRetry` was called. */
  | { readonly kind: 'helperFailed'; readonly helper: string; readonly message: string }

export interface AlarmAttempt {
  readonly name: string
  readonly scheduledTime: number
  readonly attempt: number
  readonly idempotencyKey: string
}

/** A report and where it comes from. The epoch counts the processes: each lasts from a start to a kill. */
export type Call = Report & {
  readonly object: ObjectName
  readonly instance: string
  readonly epoch: number
}

export type CallOf<Kind extends Report['kind']> = Extract<Call, { readonly kind: Kind }>

/** What the soak asks an object to do. */
export type Action =
  | {
      readonly do: 'set'
      readonly expression: string
      readonly version: number
      readonly jitterMs: number | { readonly maxMs: number }
    }
  | { readonly do: 'cancel'; readonly version?: number }
  | { readonly do: 'setAlarm'; readonly name: string; readonly at: number }
  | { readonly do: 'cancelAlarm'; readonly name: string }
  | { readonly do: 'pulse'; readonly on: boolean }
  | { readonly do: 'status' }

export interface ObjectStatus {
  readonly version?: number | undefined
  readonly state: string
  readonly running: number
  readonly waiting: number
  readonly undelivered: number
  readonly stuck: number
  /** Rows of runs. */
  readonly rows: number
  /** Names of pending alarms. */
  readonly alarms: readonly string[]
  /** The physical alarm. */
  readonly alarmAt: number | null
}

/** What the library answered; for `pulse` nothing. */
export type Result = boolean | ObjectStatus | null

export function isStatus(result: unknown): result is ObjectStatus {
  return typeof result === 'object' && result !== null
}

export type EntryContent =
  | { readonly what: 'spawn'; readonly epoch: number }
  | { readonly what: 'ready'; readonly epoch: number }
  /** With the runs and deliveries that are open in this moment: they have arrived and are unanswered. */
  | {
      readonly what: 'kill'
      readonly epoch: number
      readonly runs: number
      readonly deliveries: number
    }
  | { readonly what: 'call'; readonly call: Call }
  /** `of` is the `seq` of the call or request. */
  | { readonly what: 'answer'; readonly of: number; readonly status: number }
  | {
      readonly what: 'request'
      readonly epoch: number
      readonly object: ObjectName
      readonly action: Action
      /** What the soak knows the result must be. */
      readonly expected?: boolean
    }
  | { readonly what: 'result'; readonly of: number; readonly result: Result }
  | { readonly what: 'refused'; readonly of: number; readonly error: string }
  /** A line of the Worker's own log that tells of a fault. */
  | { readonly what: 'printed'; readonly epoch: number; readonly line: string }

/** `seq` is the order in which the soak saw it, `at` the time in epoch ms. */
export type Entry<What extends EntryContent['what'] = EntryContent['what']> = Extract<
  EntryContent,
  { what: What }
> & { readonly seq: number; readonly at: number }

/** Everything the soak saw and did, in order. */
export class Log {
  readonly entries: Entry[] = []
  readonly #watchers = new Set<(entry: Entry) => void>()
  readonly #now: () => number

  constructor(now: () => number = Date.now) {
    this.#now = now
  }

  get lastKill(): Entry<'kill'> | undefined {
    return this.entries.findLast((entry) => entry.what === 'kill')
  }

  /** Answers the `seq` of the new entry. */
  append(content: EntryContent): number {
    const seq = this.entries.length
    const entry: Entry = { seq, at: this.#now(), ...content }
    this.entries.push(entry)
    for (const watcher of this.#watchers) watcher(entry)
    return seq
  }

  /** Tells each new entry. Answers how to end that. */
  watch(watcher: (entry: Entry) => void): () => void {
    this.#watchers.add(watcher)
    return () => this.#watchers.delete(watcher)
  }

  /** Resolves to whether such an entry came within so many ms. */
  next(matches: (entry: Entry) => boolean, withinMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(false), withinMs)
    const unwatch = this.watch((entry) => {
      if (matches(entry)) resolve(true)
    })
    return promise.finally(() => {
      clearTimeout(timer)
      unwatch()
    })
  }
}
