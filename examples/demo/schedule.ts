import { DurableObject } from 'cloudflare:workers'
import { DurabilityScheduler } from 'durability'
import {
  DurabilitySchedule,
  type OutcomeRun,
  type RunOutcome,
  type ScheduledRun,
  type ScheduledRunEvent,
  type ScheduleStatus,
} from 'durability/experimental'
import { Feed } from './feed.ts'
import type { ScheduleInput } from './input.ts'
import { objectsOf } from './objects.ts'
import type { Receipt } from './target.ts'
import { decodeZonedCron, encodeZonedCron, nextZonedTime } from './zoned-cron.ts'

/** What `GET /schedules/:name` answers. */
export interface ScheduleView extends Omit<ScheduleStatus, 'version'> {
  readonly name: string
  readonly version: number | null
  readonly expression?: string
  readonly timezone?: string
  /** ms; what was drawn, if it was drawn. */
  readonly jitterMs?: number
  /** The next times, ISO 8601 in UTC. */
  readonly next: { readonly scheduledTime: string; readonly dueAt: string }[]
  /** What the target service knows of the latest runs, newest first. */
  readonly recent: Receipt[]
}

const SHOWN_TIMES = 5

/** One schedule that calls a target service. */
export class DemoSchedule extends DurableObject {
  readonly #feed = new Feed()
  readonly #scheduler = new DurabilityScheduler({ context: this.ctx })
  readonly #schedule = new DurabilitySchedule({
    scheduler: this.#scheduler,
    nextOccurrence: nextZonedTime,
    run: (run) => this.#run(run),
    onOutcome: (run, outcome) => this.#report(run, outcome),
    runTimeoutMs: 60_000,
    // A demo is watched: a run that a crash cut off should not stay silent until tomorrow's tick.
    interruptedWithinMs: 5_000,
    onLifecycleEvent: (event) => this.#show(event),
  })

  /** Resolves to whether the version was new. */
  configure({ version, jitterMs, ...zonedCron }: ScheduleInput): Promise<boolean> {
    return this.#schedule.set({ expression: encodeZonedCron(zonedCron), version, jitterMs })
  }

  /** Resolves to whether a live schedule was stopped. */
  remove(version: number | undefined): Promise<boolean> {
    return this.#schedule.cancel(version)
  }

  async read(): Promise<ScheduleView> {
    const recent = await this.#target().recent()
    const { version, ...status } = this.#schedule.status()
    return { name: this.#name(), version: version ?? null, ...this.#definition(), ...status, recent }
  }

  /** The live stream; any path. */
  override fetch(): Response {
    const stream = this.#feed.follow()
    if (stream === undefined) return new Response(null, { status: 503 })
    return new Response(stream, {
      headers: { 'content-type': 'text/event-stream', 'cache-control': 'no-store' },
    })
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  #name(): string {
    return this.ctx.id.name ?? this.ctx.id.toString()
  }

  #target() {
    return objectsOf(this.ctx).Target.getByName(this.#name())
  }

  #definition(): Pick<ScheduleView, 'expression' | 'timezone' | 'jitterMs' | 'next'> {
    const stored = this.#schedule.get()
    if (stored === undefined) return { next: [] }
    const { expression, jitterMs } = stored
    const next: ScheduleView['next'] = []
    let time = stored.nextAt
    while (time !== undefined && next.length < SHOWN_TIMES) {
      next.push({ scheduledTime: iso(time), dueAt: iso(time + jitterMs) })
      time = nextZonedTime(expression, time)
    }
    return { ...decodeZonedCron(expression), jitterMs, next }
  }

  async #run({ scheduledTime, idempotencyKey, signal }: ScheduledRun): Promise<void> {
    const answer = await this.#target().fire({ scheduledTime, idempotencyKey }, { signal })
    if (answer === 'busy') throw new Error('The target is busy')
  }

  async #report(run: OutcomeRun, outcome: RunOutcome): Promise<void> {
    const isNew = await this.#target().report(run, outcome)
    const what =
      outcome.status === 'complete' ? 'complete' : `errored, ${outcome.error.name}: ${outcome.error.message}`
    this.#publish('outcome', run, isNew ? what : `${what} (the target knew it already)`)
  }

  #show(event: ScheduledRunEvent): void {
    if (event.type === 'due')
      this.#publish('tick', event, `due ${iso(event.dueAt)}${event.queued ? ', waits' : ''}`)
    if (event.type === 'started') this.#publish('run', event, `version ${event.version} calls its target`)
    if (event.type === 'stuck') this.#publish('stuck', event, 'timed out and has not come back')
    if (event.type === 'outcome_retry') {
      this.#publish('retry', event, `delivery ${event.attempt} failed, again at ${iso(event.nextAttemptAt)}`)
    }
    if (event.type === 'dead_lettered') this.#publish('dead_lettered', event, event.error.message)
  }

  #publish(
    type: Parameters<Feed['publish']>[0]['type'],
    run: { scheduledTime: number; version: number; idempotencyKey: string },
    text: string,
  ): void {
    const { scheduledTime, version, idempotencyKey } = run
    const about = { schedule: this.#name(), scheduledTime: iso(scheduledTime), version, idempotencyKey }
    this.#feed.publish({ type, at: iso(Date.now()), ...about, text })
  }
}

function iso(time: number): string {
  return new Date(time).toISOString()
}
