import { checkInteger, checkText, checkType } from '../core/checks.ts'
import type { SchedulerPort } from '../core/helper.ts'
import { MAX_EXPRESSION_LENGTH } from '../core/limits.ts'
import type { ObjectState } from '../core/state.ts'
import { type Definition, NO_DEFINITION } from './definition.ts'
import { runEventsTo } from './events.ts'
import { drawJitter, type JitterInput, parseJitter } from './jitter.ts'
import { checkedOccurrences, occurrenceDueAfter } from './occurrences.ts'
import { checkSettings, type DurabilityScheduleOptions, type ScheduleSettings } from './options.ts'
import type { Run } from './run-table.ts'
import { migrateSchema } from './schema.ts'
import { ScheduleWork } from './work.ts'

/** What `set` takes. */
export interface ScheduleDefinition {
  /** Opaque text of at most 65,536 characters: only `nextOccurrence` reads it. */
  readonly expression: string
  /** A non-negative safe integer. Only a higher one than the stored takes effect. */
  readonly version: number
  /** ms by which every tick is late, 0 to 2^31 - 1, or `{ maxMs }` to draw it once for this version. Default 0. */
  readonly jitterMs?: JitterInput
}

/** What `get` answers. */
export interface StoredSchedule {
  readonly expression: string
  readonly version: number
  /** ms; the offset that was drawn. */
  readonly jitterMs: number
  /** Epoch ms, the nominal time of the next tick; absent once the schedule has ended. */
  readonly nextAt?: number
}

/** What `status` answers. */
export interface ScheduleStatus {
  /** What is stored, also by a cancelled schedule. */
  readonly version: number | undefined
  readonly state: 'none' | 'live' | 'ended' | 'cancelled'
  /** Runs that started and have no outcome. */
  readonly running: number
  /** Runs that wait for a slot. */
  readonly waiting: number
  /** Outcomes that are not yet acknowledged. */
  readonly undelivered: number
  /** Slots kept by handlers that timed out and have not settled. */
  readonly stuck: number
}

/**
 * One recurring schedule per object. Each tick records one run; runs may overlap, each is attempted once, and its
 * outcome is delivered at least once.
 *
 * @throws TypeError or RangeError at construction, naming the option; Error when the scheduler has a schedule already.
 */
export class DurabilitySchedule {
  readonly #port: SchedulerPort
  readonly #settings: ScheduleSettings
  readonly #work: ScheduleWork

  constructor(options: DurabilityScheduleOptions) {
    checkType('options', options, 'object')
    checkType('scheduler', options.scheduler, 'object')
    this.#settings = checkSettings(options)
    this.#port = options.scheduler.attach({
      name: 'schedule',
      timed: true,
      nextAt: (now) => this.#work.nextAt(now),
      run: (now) => this.#work.run(now),
      fallbackWithinMs: (_now, passOpen) => this.#work.fallbackWithinMs(passOpen),
    })
    this.#work = new ScheduleWork(
      this.#port,
      this.#settings,
      runEventsTo(this.#port, options.onLifecycleEvent),
    )
  }

  /**
   * Goes to exactly the named schema (`'v1'`), or with `null` removes the tables and everything in them.
   *
   * @throws TypeError or RangeError for another target, DurabilityError when the stored schema is not known.
   */
  static migrate(ctx: ObjectState, target: string | null): void {
    migrateSchema(ctx, target)
  }

  /**
   * Stores the definition and its next tick, if `version` is higher than the stored one; resolves to whether it was.
   * The same version changes nothing but puts a lost alarm right. Everything is written before the first await.
   *
   * A tick that is already due is recorded as a run of the old version first. A nominal time still in its jitter delay
   * is kept if the expression is unchanged, dropped otherwise.
   *
   * Rejects with TypeError or RangeError for bad input, and with what `nextOccurrence` throws; then nothing is stored.
   */
  async set(definition: ScheduleDefinition): Promise<boolean> {
    checkType('definition', definition, 'object')
    const { expression, version, jitterMs } = definition
    checkText('expression', expression, MAX_EXPRESSION_LENGTH)
    checkVersion(version)
    const jitter = parseJitter(jitterMs)
    const row = this.#readAnew()
    const isNewer = version > (row.version ?? -1)
    const jitterMaxMs = jitter.isDrawn ? jitter.maxMs : null
    if (isNewer) {
      const change = { version, expression, cancelled: 0, jitterMs: drawJitter(jitter), jitterMaxMs }
      if (!this.#store(row, change)) return this.set(definition)
    } else if (version === row.version && row.expression !== null) {
      const sameJitter = row.jitterMaxMs === jitterMaxMs && (jitter.isDrawn || row.jitterMs === jitter.maxMs)
      if (!sameJitter || row.expression !== expression) {
        console.warn(`durability: version ${version} was set again with another definition, which is ignored`)
      }
    }
    await this.#port.reconcile()
    return isNewer
  }

  /**
   * Stops future ticks; resolves to whether a schedule was live. Runs already due or running finish and report.
   *
   * With a version it is ignored when the stored one is higher, and otherwise leaves a mark, so that a delayed `set` of
   * that version or a lower one cannot revive the schedule. Without one, any version may be set afterwards.
   *
   * Rejects with TypeError or RangeError for a bad version.
   */
  async cancel(version?: number): Promise<boolean> {
    if (version !== undefined) checkVersion(version)
    const row = this.#readAnew()
    const isNewer = version !== undefined && version > (row.version ?? -1)
    const applies =
      row.expression === null ? isNewer : version === undefined || isNewer || version === row.version
    if (applies) {
      const cancelled = {
        version: version ?? null,
        expression: null,
        cancelled: 1,
        jitterMs: 0,
        jitterMaxMs: null,
      }
      this.#write(row, this.#dueTime(row), { ...cancelled, nextTime: null })
    }
    await this.#port.reconcile()
    return applies && row.nextTime !== null
  }

  /** The stored definition, or `undefined` when none was set or it was cancelled. */
  get(): StoredSchedule | undefined {
    const { expression, version, jitterMs, nextTime } = this.#readAnew()
    if (expression === null || version === null) return undefined
    return { expression, version, jitterMs, ...(nextTime === null ? {} : { nextAt: nextTime }) }
  }

  /** What the schedule is doing. Its cost does not grow with the number of waiting runs. */
  status(): ScheduleStatus {
    const { version, expression, cancelled, nextTime } = this.#readAnew()
    const idle = cancelled === 1 ? 'cancelled' : 'none'
    return {
      version: version ?? undefined,
      state: nextTime !== null ? 'live' : expression !== null ? 'ended' : idle,
      ...this.#work.counts(),
      stuck: this.#work.stuck,
    }
  }

  /** What is stored now, whatever this instance last saw. */
  #readAnew(): Readonly<Definition> {
    this.#work.definition.forget()
    return this.#work.definition.read() ?? NO_DEFINITION
  }

  /** Answers whether it stored the change: not when `nextOccurrence` itself has changed the definition meanwhile. */
  #store(row: Readonly<Definition>, change: NewDefinition & { expression: string }): boolean {
    const now = this.#port.clock.now()
    const dueTime = this.#dueTime(row)
    const occurrenceAfter = checkedOccurrences(
      this.#settings.nextOccurrence,
      change.expression,
      change.jitterMs,
    )
    // A nominal time that has passed and is still in its jitter delay is kept while the expression is the same.
    let kept = row.expression === change.expression && row.nextTime !== null ? row.nextTime : undefined
    if (kept !== undefined && kept === dueTime)
      kept = occurrenceDueAfter(occurrenceAfter, kept, row.jitterMs, now)
    // No definition goes back to a nominal time at or before the last recorded one, whatever the clock says.
    const after = Math.max(now, dueTime ?? row.lastTime ?? 0)
    const nextTime = kept !== undefined && kept <= now ? kept : occurrenceAfter(after)
    if (!this.#work.definition.isStill(row)) return false
    this.#write(row, dueTime, { ...change, nextTime: nextTime ?? null })
    return true
  }

  /** The nominal time that is due now: of several missed ones, the earliest. */
  #dueTime({ nextTime, jitterMs }: Readonly<Definition>): number | undefined {
    return nextTime !== null && nextTime + jitterMs <= this.#port.clock.now() ? nextTime : undefined
  }

  /** One row and its alarm; one row more when a tick was due: it is recorded as a run of the old version. */
  #write(
    row: Readonly<Definition>,
    dueTime: number | undefined,
    change: NewDefinition & { readonly nextTime: number | null },
  ): void {
    const { definition } = this.#work
    let due: Run | undefined
    try {
      this.#port.transaction(() => {
        if (dueTime !== undefined) due = this.#work.recordDue(row, dueTime)
        const lastTime = dueTime ?? row.lastTime
        const isFirst = definition.write({ ...change, lastTime, lastRunId: due?.id ?? row.lastRunId })
        if (isFirst) this.#work.restart()
      })
    } finally {
      // The caller's own transaction may yet undo what was written.
      definition.forget()
    }
    this.#port.clearFailure()
    if (due !== undefined) this.#work.announceQueued(due)
  }
}

/** What `set` and `cancel` decide; the rest of the row is bookkeeping. */
type NewDefinition = Omit<Definition, 'nextTime' | 'lastTime' | 'lastRunId'>

function checkVersion(version: unknown): void {
  checkInteger('version', version, 0, Number.MAX_SAFE_INTEGER)
}
