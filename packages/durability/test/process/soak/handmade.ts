import type { RunOutcome } from '../../../src/experimental/index.ts'
import { audit } from './audit.ts'
import {
  type Action,
  type CallOf,
  type Entry,
  Log,
  type ObjectStatus,
  type Report,
  type Result,
} from './log.ts'
import { OBJECTS, type ObjectName } from './plan.ts'

export const COMPLETE: RunOutcome = { status: 'complete' }
export const FAILED: RunOutcome = {
  status: 'errored',
  error: { name: 'Error', message: 'The receiver answered 500' },
}
export const TIMED_OUT = errored('ScheduledRunTimeoutError')
export const INTERRUPTED = errored('ScheduledRunInterruptedError')

export function errored(name: string): RunOutcome {
  return { status: 'errored', error: { name, message: 'It says why' } }
}

export const FINISHED: ObjectStatus = {
  state: 'cancelled',
  running: 0,
  waiting: 0,
  undelivered: 0,
  stuck: 0,
  rows: 0,
  alarms: [],
  alarmAt: null,
}

/** One process with one live schedule, of the object with room for eight runs and four deliveries of four attempts. */
export function history(expression = '1000+0', jitterMs = 0): HandMade {
  const made = new HandMade().start().at(100)
  made.jitterMs = jitterMs
  return made.ask({ do: 'set', expression, version: 1, jitterMs }, true)
}

/** What the audit finds in a log. */
export function faults(made: HandMade): string[] {
  return audit(made.entries).map(({ what }) => what)
}

type RunEvent = CallOf<'runEvent'>['event']
type Details = RunEvent extends infer Event ? (Event extends RunEvent ? Omit<Event, Common> : never) : never
type Common = 'entityKind' | 'timestamp' | 'scheduledTime' | 'dueAt' | 'idempotencyKey' | 'version'

/** A log as a soak would have written it, made by hand, one entry after the other. Times are small: ms from 0. */
export class HandMade {
  /** The time of the next entry, and of what it tells. */
  time = 0
  version = 1
  jitterMs = 0
  object: ObjectName = 'wide'
  instance = 'one'
  #epoch = 0
  readonly #log = new Log(() => this.time)

  get entries(): readonly Entry[] {
    return this.#log.entries
  }

  at(time: number): this {
    this.time = time
    return this
  }

  start(): this {
    this.#epoch += 1
    this.#log.append({ what: 'spawn', epoch: this.#epoch })
    this.#log.append({ what: 'ready', epoch: this.#epoch })
    return this
  }

  kill(): this {
    this.#log.append({ what: 'kill', epoch: this.#epoch, runs: 0, deliveries: 0 })
    return this
  }

  /** Answers the `seq`, to be answered. */
  call(report: Report): number {
    const { object, instance } = this
    return this.#log.append({ what: 'call', call: { object, instance, epoch: this.#epoch, ...report } })
  }

  answer(seq: number, status = 200): this {
    this.#log.append({ what: 'answer', of: seq, status })
    return this
  }

  /** Without a result a kill took it. */
  ask(action: Action, result?: Result, expected?: boolean): this {
    const of = this.#log.append({
      what: 'request',
      epoch: this.#epoch,
      object: this.object,
      action,
      ...(expected === undefined ? {} : { expected }),
    })
    if (result !== undefined) this.#log.append({ what: 'result', of, result })
    return this
  }

  print(line: string): this {
    this.#log.append({ what: 'printed', epoch: this.#epoch, line })
    return this
  }

  event(scheduledTime: number, details: Details): this {
    // The details are those of one event.
    const event = {
      entityKind: 'scheduled_run',
      timestamp: this.time,
      ...this.#run(scheduledTime),
      ...details,
    } as RunEvent
    this.call({ kind: 'runEvent', event })
    return this
  }

  due(scheduledTime: number): this {
    return this.event(scheduledTime, { type: 'due', queued: false })
  }

  run(scheduledTime: number): number {
    return this.call({ kind: 'run', run: this.#run(scheduledTime), startedAt: this.time })
  }

  settled(scheduledTime: number, { status, error }: RunOutcome): this {
    return this.event(scheduledTime, { type: 'settled', outcome: status, error, durationMs: 1 })
  }

  deliver(scheduledTime: number, outcome: RunOutcome = COMPLETE, attempt = 1): number {
    const run = { ...this.#run(scheduledTime), attempt }
    return this.call({ kind: 'outcome', run, outcome, startedAt: this.time })
  }

  retry(scheduledTime: number, attempt: number): this {
    const error = { name: 'Error', message: 'The receiver answered 500' }
    return this.event(scheduledTime, { type: 'outcome_retry', attempt, error, nextAttemptAt: this.time })
  }

  dead(scheduledTime: number, attempts: number, outcome: RunOutcome = COMPLETE): this {
    const error = { name: 'Error', message: 'The receiver answered 500' }
    return this.event(scheduledTime, { type: 'dead_lettered', attempts, outcome, error })
  }

  gone(scheduledTime: number, attempt = 1): this {
    this.call({ kind: 'gone', run: { ...this.#run(scheduledTime), attempt } })
    return this
  }

  /** A tick whose run returns, up to its delivery. */
  begin(scheduledTime: number): this {
    this.at(Math.max(this.time, scheduledTime + this.jitterMs)).due(scheduledTime)
    return this.answer(this.run(scheduledTime)).settled(scheduledTime, COMPLETE)
  }

  /** An ordinary tick, from its record to its end. */
  tick(scheduledTime: number): this {
    this.begin(scheduledTime)
    return this.answer(this.deliver(scheduledTime)).gone(scheduledTime)
  }

  alarm(at: number, attempt = 1, idempotencyKey = `alarm:${at}`): number {
    const alarm = { name: 'renew', scheduledTime: at, attempt, idempotencyKey }
    return this.call({ kind: 'alarm', alarm, startedAt: this.time })
  }

  alarmEnded(at: number, type: 'completed' | 'dead_lettered', attempt = 1): this {
    const error = { name: 'Error', message: 'The receiver answered 500' }
    this.call({
      kind: 'alarmEvent',
      event: {
        ...{ entityKind: 'alarm', name: 'renew', idempotencyKey: `alarm:${at}`, timestamp: this.time },
        ...{ scheduledTime: at, attempt },
        ...(type === 'completed' ? { type } : { type, error }),
      },
    })
    return this
  }

  /** Everything is cancelled, and each object is asked what is left. */
  end(left: Partial<ObjectStatus> = {}): this {
    this.ask({ do: 'cancel' }, true)
    for (const object of OBJECTS) {
      this.object = object
      this.ask({ do: 'status' }, { ...FINISHED, ...left })
    }
    return this
  }

  #run(scheduledTime: number) {
    const { version, jitterMs } = this
    return {
      scheduledTime,
      dueAt: scheduledTime + jitterMs,
      version,
      idempotencyKey: `id:${scheduledTime}`,
    }
  }
}
