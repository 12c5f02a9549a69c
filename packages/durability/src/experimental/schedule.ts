import { checkFunction, checkInteger, checkObject, checkText } from '../core/checks.ts'
import type { SchedulerPort } from '../core/helper.ts'
import { MAX_EXPRESSION_LENGTH } from '../core/limits.ts'
import type { ObjectState } from '../core/state.ts'
import { type DefinitionRow, NO_DEFINITION } from './definition-row.ts'
import { drawJitter, type Jitter, type JitterInput, parseJitter } from './jitter.ts'
import { occurrenceAfter, occurrenceDueAfter } from './occurrences.ts'
import { checkSettings, type DurabilityScheduleOptions, type ScheduleSettings } from './options.ts'
import type { RecordedRun } from './run-table.ts'
import { ScheduleWork } from './schedule-work.ts'
import { migrateSchema } from './schema.ts'

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
    checkObject('options', options)
    checkObject('scheduler', options.scheduler)
    checkFunction('scheduler.attach', options.scheduler.attach)
    this.#settings = checkSettings(options)
    this.#port = options.scheduler.attach({
      name: 'schedule',
      timed: true,
      nextAt: (now) => this.#work.nextAt(now),
      run: (now) => this.#work.run(now),
      fallbackWithinMs: (_now, passOpen) => this.#work.fallbackWithinMs(passOpen),
    })
    this.#work = new ScheduleWork(this.#port, this.#settings)
  }

  /**
   * Goes to exactly the named schema (`'v1'`), or with `null` removes the tables and everything in them.
   *
   * @throws TypeError or RangeError for another target, ScheduleSchemaError when the stored schema is not known.
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
    checkObject('definition', definition)
    const expression = checkText('expression', definition.expression, MAX_EXPRESSION_LENGTH, 0)
    const version = checkVersion(definition.version)
    const jitter = parseJitter(definition.jitterMs)
    const row = this.#readAnew() ?? NO_DEFINITION
    const isNewer = row.version === null || version > row.version
    if (isNewer) this.#store(row, { expression, version, jitter })
    else if (version === row.version) warnIfDifferent(row, expression, jitter)
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
    const wasLive = this.#cancel(row, version)
    await this.#port.reconcile()
    return wasLive
  }

  /** The stored definition, or `undefined` when none was set or it was cancelled. */
  get(): StoredSchedule | undefined {
    const row = this.#readAnew()
    if (row === undefined || row.expression === null || row.version === null) return undefined
    const { expression, version, jitterMs, nextTime } = row
    return { expression, version, jitterMs, ...(nextTime === null ? {} : { nextAt: nextTime }) }
  }

  /** What the schedule is doing. Its cost does not grow with the number of waiting runs. */
  status(): ScheduleStatus {
    const row = this.#readAnew()
    const waiting = row === undefined ? 0 : this.#work.waiting(row)
    return {
      version: row?.version ?? undefined,
      state: stateOf(row),
      running: this.#work.running,
      waiting,
      undelivered: this.#work.deliveries.count,
      stuck: this.#work.runs.stuck,
    }
  }

  #readAnew(): DefinitionRow | undefined {
    this.#work.definition.forget()
    return this.#work.definition.read()
  }

  #store(
    row: DefinitionRow,
    { expression, version, jitter }: { expression: string; version: number; jitter: Jitter },
  ): void {
    const jitterMs = drawJitter(jitter)
    const now = this.#port.clock.now()
    const dueTime = dueTimeOf(row, now)
    const nextTime = this.#firstTime(row, expression, jitterMs, now)
    this.#write(row, dueTime, {
      version,
      expression,
      cancelled: false,
      jitterMs,
      jitterMaxMs: jitter.kind === 'drawn' ? jitter.maxMs : null,
      nextTime: nextTime ?? null,
    })
  }

  #cancel(row: DefinitionRow | undefined, version: number | undefined): boolean {
    const stored = row ?? NO_DEFINITION
    const wasLive = stored.nextTime !== null
    if (version === undefined && stored.expression === null) return false
    if (version !== undefined && stored.version !== null) {
      if (stored.version > version) return false
      if (stored.version === version && stored.expression === null) return false
    }
    this.#write(stored, dueTimeOf(stored, this.#port.clock.now()), {
      version: version ?? null,
      expression: null,
      cancelled: true,
      jitterMs: 0,
      jitterMaxMs: null,
      nextTime: null,
    })
    return wasLive
  }

  /** One row and its alarm; one row more when a tick was due. */
  #write(
    row: DefinitionRow,
    dueTime: number | undefined,
    change: Omit<DefinitionRow, 'lastTime' | 'lastRunId'>,
  ): void {
    const { definition } = this.#work
    let due: RecordedRun | undefined
    try {
      this.#port.transaction(() => {
        if (dueTime !== undefined) due = this.#work.recordDue(row, dueTime)
        const created = definition.write({
          ...change,
          lastTime: due?.scheduledTime ?? row.lastTime,
          lastRunId: due?.id ?? row.lastRunId,
        })
        if (created) this.#work.restart()
      })
    } catch (error) {
      definition.forget()
      throw error
    }
    this.#port.clearFailure()
    if (due !== undefined) this.#work.announceDue(due)
  }

  /** The first nominal time of a new definition: never one at or before the last recorded, whatever the clock says. */
  #firstTime(row: DefinitionRow, expression: string, jitterMs: number, now: number): number | undefined {
    const { nextOccurrence } = this.#settings
    const recorded = dueTimeOf(row, now) ?? row.lastTime ?? Number.NEGATIVE_INFINITY
    if (row.expression === expression && row.nextTime !== null && row.nextTime <= now) {
      const kept =
        recorded === row.nextTime
          ? occurrenceDueAfter(nextOccurrence, expression, recorded, row.jitterMs, now)
          : row.nextTime
      if (kept === undefined || kept <= now) return kept
    }
    return occurrenceAfter(nextOccurrence, expression, Math.max(now, recorded), jitterMs)
  }
}

/** The nominal time that is due now: of several missed ones, the earliest. */
function dueTimeOf(row: DefinitionRow, now: number): number | undefined {
  return row.nextTime !== null && row.nextTime + row.jitterMs <= now ? row.nextTime : undefined
}

function stateOf(row: DefinitionRow | undefined): ScheduleStatus['state'] {
  if (row === undefined) return 'none'
  if (row.expression !== null) return row.nextTime === null ? 'ended' : 'live'
  return row.cancelled ? 'cancelled' : 'none'
}

function checkVersion(version: unknown): number {
  return checkInteger('version', version, 0, Number.MAX_SAFE_INTEGER)
}

function warnIfDifferent(row: DefinitionRow, expression: string, jitter: Jitter): void {
  if (row.expression === null) return
  const sameJitter =
    jitter.kind === 'fixed'
      ? row.jitterMaxMs === null && row.jitterMs === jitter.ms
      : row.jitterMaxMs === jitter.maxMs
  if (row.expression === expression && sameJitter) return
  console.warn(
    `durability: version ${row.version} was set again with another definition, which is ignored; raise the version`,
  )
}
