import type { SchedulerPort } from '../core/helper.ts'
import { describeThrown } from '../core/thrown.ts'
import { type DefinitionRow, DefinitionStore } from './definition-row.ts'
import { Deliveries } from './deliveries.ts'
import { ScheduledRunInterruptedError } from './errors.ts'
import { occurrenceDueAfter } from './occurrences.ts'
import type { ScheduleSettings } from './options.ts'
import type { RunOutcome } from './outcome.ts'
import { RunEvents } from './run-events.ts'
import { type RecordedRun, RunTable } from './run-table.ts'
import { Runs } from './runs.ts'

/** What the live instance does about a schedule: its ticks, its runs and their outcomes. */
export class ScheduleWork {
  readonly definition: DefinitionStore
  readonly runs: Runs
  readonly deliveries: Deliveries
  readonly #port: SchedulerPort
  readonly #settings: ScheduleSettings
  readonly #events: RunEvents
  readonly #table: RunTable
  /** Runs marked running that no live instance holds. */
  #interrupted: RecordedRun[] = []
  /** The key of the first run that waits, or of the next one that will be recorded. `undefined` before the first look. */
  #nextToStart: number | undefined

  /** Whether a run may be waiting for a slot: true until a look shows that none is. */
  #mayWait = true

  constructor(port: SchedulerPort, settings: ScheduleSettings) {
    this.#port = port
    this.#settings = settings
    this.#events = new RunEvents(port.context.id.toString(), port.clock, settings.onLifecycleEvent)
    this.#table = new RunTable(port.context)
    this.definition = new DefinitionStore(port.context)
    const parts = { port, settings, events: this.#events, table: this.#table }
    this.deliveries = new Deliveries(parts)
    this.runs = new Runs({
      ...parts,
      settled: (run, outcome) => this.deliveries.deliver(run, outcome),
      slotFreed: () => {
        // Spares the ordinary run a look at the rows.
        if (this.#mayWait) this.#startWaiting()
      },
      lost: () => {
        this.#nextToStart = undefined
      },
    })
  }

  /** Runs that started and have no outcome. */
  get running(): number {
    return this.runs.live + this.#interrupted.length
  }

  nextAt(now: number): number | undefined {
    const row = this.definition.read()
    if (row === undefined) return undefined
    const waiting = this.waiting(row)
    if (this.#interrupted.length > 0 || (waiting > 0 && this.runs.freeSlots > 0)) return now
    const deliverAt = this.deliveries.nextAt()
    if (row.nextTime === null) return deliverAt
    const tickAt = row.nextTime + row.jitterMs
    return deliverAt === undefined ? tickAt : Math.min(tickAt, deliverAt)
  }

  /** The next tick finds what a crash leaves behind; without one, or outside a pass, an alarm of its own must. */
  fallbackWithinMs(passOpen: boolean): number | undefined {
    const row = this.definition.read()
    if (row === undefined) return undefined
    const { alarmMinDelayMs } = this.#port
    const inFlight = this.runs.live > 0 || this.deliveries.isBusy
    if (!inFlight) return this.waiting(row) > 0 ? alarmMinDelayMs : undefined
    if (!passOpen) return alarmMinDelayMs
    return this.#settings.interruptedWithinMs ?? (row.nextTime === null ? alarmMinDelayMs : undefined)
  }

  run(now: number): void {
    this.#reportInterrupted()
    this.deliveries.startDue(now)
    this.#startWaiting()
    this.#tick(now)
  }

  /** Runs that wait for a slot. */
  waiting(row: DefinitionRow): number {
    return row.lastRunId - this.#firstWaiting(row) + 1
  }

  /** Records a due tick that a change of the definition must not lose. It waits; the caller's reconciliation starts it. */
  recordDue(row: DefinitionRow, scheduledTime: number): RecordedRun {
    const run = this.#nextRun(row, scheduledTime)
    this.#mayWait = true
    this.#table.insert(run, false)
    return run
  }

  announceDue(run: RecordedRun): void {
    this.#events.due(run, true)
  }

  /** The tables were removed and created again: what this instance knew of their rows is void. */
  restart(): void {
    this.#interrupted = []
    this.#nextToStart = 1
    this.deliveries.dropAll()
  }

  /**
   * Looks at the rows that another instance left, once: those started, and where those that wait begin. Keys are dense
   * from there on, so the rest is arithmetic.
   */
  #firstWaiting(row: DefinitionRow): number {
    if (this.#nextToStart !== undefined) return this.#nextToStart
    const { runs, firstWaiting } = this.#table.started()
    this.#interrupted = []
    for (const run of runs) {
      if (run.outcome !== undefined) this.deliveries.inherit(run)
      else if (!this.runs.isLive(run.id)) this.#interrupted.push(run)
    }
    this.#nextToStart = firstWaiting ?? row.lastRunId + 1
    return this.#nextToStart
  }

  /** Their handlers are not called again: what they did outside may have happened. */
  #reportInterrupted(): void {
    const interrupted = this.#interrupted
    if (interrupted.length === 0) return
    const outcome: RunOutcome = {
      status: 'errored',
      error: describeThrown(new ScheduledRunInterruptedError()),
    }
    const isReported = this.#settings.onOutcome !== undefined
    this.#port.transaction(() => {
      for (const run of interrupted) {
        if (isReported) this.#table.settle(run, outcome)
        else this.#table.delete(run)
      }
      this.#interrupted = []
    })
    for (const run of interrupted) {
      this.#events.settled(run, outcome, undefined)
      const left = { ...run, outcome, attempts: 0, nextAttemptAt: undefined, delivering: false }
      if (isReported) this.deliveries.inherit(left)
    }
  }

  /** One tick, one run: the transaction that records the run moves the cursor past it. */
  #tick(now: number): void {
    const row = this.definition.read()
    if (row === undefined || row.expression === null || row.nextTime === null) return
    if (row.nextTime + row.jitterMs > now) return
    const { nextOccurrence } = this.#settings
    const next = occurrenceDueAfter(nextOccurrence, row.expression, row.nextTime, row.jitterMs, now)
    // The user's function ran: it may have changed the definition it was asked about.
    const asked = this.definition.read()
    if (asked?.version !== row.version || asked.nextTime !== row.nextTime) return
    const run = this.#nextRun(row, row.nextTime)
    const queued = this.waiting(row) > 0 || this.runs.freeSlots <= 0
    this.#recordAndStart(
      queued ? [] : [run],
      () => {
        this.#mayWait ||= queued
        this.#table.insert(run, !queued)
        this.definition.advance(row, {
          nextTime: next ?? null,
          lastTime: run.scheduledTime,
          lastRunId: run.id,
        })
        if (!queued) this.#nextToStart = run.id + 1
      },
      () => this.#events.due(run, queued),
    )
  }

  #startWaiting(): void {
    const row = this.definition.read()
    if (row === undefined) return
    const waiting = this.waiting(row)
    this.#mayWait = waiting > 0
    const free = Math.min(waiting, this.runs.freeSlots)
    if (free <= 0) return
    const runs = this.#table.waiting(this.#firstWaiting(row), free)
    const last = runs.at(-1)
    this.#recordAndStart(runs, () => {
      for (const run of runs) this.#table.start(run.id)
      this.#nextToStart = last === undefined ? undefined : last.id + 1
    })
  }

  /** Takes slots, writes, and calls the handlers once that is durable. When the write is undone, so is the rest. */
  #recordAndStart(starting: readonly RecordedRun[], write: () => void, recorded?: () => void): void {
    const before = this.#nextToStart
    for (const run of starting) this.runs.reserve(run)
    try {
      this.#port.transaction(write)
    } catch (error) {
      for (const run of starting) this.runs.abandon(run)
      this.#nextToStart = before
      this.definition.forget()
      throw error
    }
    recorded?.()
    for (const run of starting) this.runs.launch(run)
  }

  #nextRun(row: DefinitionRow, scheduledTime: number): RecordedRun {
    return {
      id: row.lastRunId + 1,
      scheduledTime,
      dueAt: scheduledTime + row.jitterMs,
      // Only a definition with a version has ticks.
      version: row.version ?? 0,
    }
  }
}
