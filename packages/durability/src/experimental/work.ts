import type { SchedulerPort } from '../core/helper.ts'
import { persist } from '../core/persist.ts'
import { callHook } from '../core/report.ts'
import { describeThrown } from '../core/thrown.ts'
import { earlier, wait, within } from '../core/timers.ts'
import { type Definition, DefinitionStore } from './definition.ts'
import { Deliveries, type ScheduleParts } from './deliveries.ts'
import { ScheduledRunInterruptedError, ScheduledRunTimeoutError } from './errors.ts'
import { type EmitRunEvent, identityOf } from './events.ts'
import { checkedOccurrences, occurrenceDueAfter } from './occurrences.ts'
import type { ScheduleSettings } from './options.ts'
import type { RunOutcome } from './outcome.ts'
import { outcomeColumns, RUNNING, type Run, RunTable, WAITING } from './run-table.ts'

/** What the live instance does about a schedule: its ticks, its runs and their outcomes. */
export class ScheduleWork {
  readonly definition: DefinitionStore
  readonly #parts: ScheduleParts
  readonly #deliveries: Deliveries
  /** Handlers in flight, those that timed out included. */
  #slots = 0
  /** Those of them that timed out. */
  stuck = 0
  /** The key of the first run that waits, or of the next one that will be recorded. `undefined` before the first look. */
  #nextToStart: number | undefined
  /** Whether a run may be waiting for a slot: true until a look shows that none is. */
  #mayWait = true

  constructor(port: SchedulerPort, settings: ScheduleSettings, emit: EmitRunEvent) {
    this.definition = new DefinitionStore(port.context)
    this.#parts = { port, settings, emit, table: new RunTable(port.context) }
    this.#deliveries = new Deliveries(this.#parts)
  }

  /** How many runs are in each state. Reads no waiting row but the first. */
  counts(): Record<'running' | 'waiting' | 'undelivered', number> {
    const row = this.definition.read()
    const waiting = row === undefined ? 0 : this.#waiting(row)
    const started = [...this.#parts.table.started.values()]
    const running = started.filter(({ state }) => state === RUNNING).length
    return { running, waiting, undelivered: started.length - running }
  }

  nextAt(now: number): number | undefined {
    const row = this.definition.read()
    if (row === undefined) return undefined
    if (this.#waiting(row) > 0 && this.#freeSlots > 0) return now
    let at = row.nextTime === null ? Number.POSITIVE_INFINITY : row.nextTime + row.jitterMs
    for (const run of this.#left()) at = Math.min(at, run.nextAttemptAt ?? now)
    return at < Number.POSITIVE_INFINITY ? at : undefined
  }

  /** The next tick finds what a crash leaves behind; without one, or outside a pass, an alarm of its own must. */
  fallbackWithinMs(passOpen: boolean): number | undefined {
    const row = this.definition.read()
    if (row === undefined) return undefined
    const { port, settings, table } = this.#parts
    const isBusy = table.busy.size > 0
    // Runs that wait behind a kept slot have nothing that wakes the object for them.
    const isBlocked = this.#waiting(row) > 0 && (!isBusy || this.stuck > 0)
    if (!isBusy && !isBlocked) return undefined
    const isCovered = passOpen && !isBlocked && row.nextTime !== null
    return earlier(
      isBusy ? settings.interruptedWithinMs : undefined,
      isCovered ? undefined : port.alarmMinDelayMs,
    )
  }

  run(now: number): void {
    this.#settleLeft(now)
    this.#startWaiting()
    this.#tick(now)
  }

  /** Records a due tick that a change of the definition must not lose. It waits; the caller's reconciliation starts it. */
  recordDue(row: Readonly<Definition>, scheduledTime: number): Run {
    const run = newRun(row, scheduledTime, WAITING)
    this.#mayWait = true
    this.#parts.table.insert(run)
    return run
  }

  announceQueued(run: Run): void {
    this.#parts.emit(run, { type: 'due', queued: true })
  }

  /** The tables were created: what this instance knew of others is void. */
  restart(): void {
    for (const run of this.#left()) this.#deliveries.giveUp(run, new Error('Its row is gone'))
    this.#parts.table.started.clear()
    this.#nextToStart = 1
  }

  get #freeSlots(): number {
    return this.#parts.settings.maxConcurrentRuns - this.#slots
  }

  /** Started runs that this instance does not hold: interrupted ones, and outcomes whose delivery is to come. */
  #left(): Run[] {
    const { busy, started } = this.#parts.table
    return [...started.values()].filter((run) => !busy.has(run))
  }

  #waiting(row: Readonly<Definition>): number {
    return row.lastRunId + 1 - this.#firstWaiting(row)
  }

  /**
   * Looks at the rows that another instance left, once: those started, and where those that wait begin. Keys are dense
   * from there on, so the rest is arithmetic.
   */
  #firstWaiting(row: Readonly<Definition>): number {
    // Keys that are behind what was seen belong to tables that were removed and made anew.
    if (this.#nextToStart !== undefined && this.#nextToStart <= row.lastRunId + 1) return this.#nextToStart
    const { table } = this.#parts
    let next = 0
    for (;;) {
      const [run] = table.from(next, 1)
      if (run === undefined || run.state === WAITING) {
        this.#nextToStart = run?.id ?? row.lastRunId + 1
        return this.#nextToStart
      }
      next = run.id + 1
      if (table.started.has(run.id)) continue
      table.started.set(run.id, run)
      this.#deliveries.inherit(run)
    }
  }

  /** Takes up what is not held: runs without an instance get their outcome, and outcomes that are due are delivered. */
  #settleLeft(now: number): void {
    const { settings, table, emit } = this.#parts
    const due = this.#left().filter((run) => (run.nextAttemptAt ?? now) <= now)
    const interrupted = due.filter(({ state }) => state === RUNNING)
    // Their handlers are not called again: what they did outside may have happened.
    const outcome = errored(new ScheduledRunInterruptedError())
    if (interrupted.length > 0) {
      this.#write(() => {
        for (const run of interrupted) {
          if (settings.onOutcome === undefined) table.delete(run)
          else table.update(run, outcomeColumns(outcome))
        }
      })
    }
    for (const run of interrupted) emit(run, { ...settled(outcome), durationMs: undefined })
    for (const run of due) if (table.started.has(run.id)) this.#hold(run, this.#deliveries.deliver(run))
  }

  /** One tick, one run: the transaction that records the run moves the cursor past it. */
  #tick(now: number): void {
    const { settings, table, emit } = this.#parts
    const row = this.definition.read()
    if (!row || row.expression === null || row.nextTime === null || row.nextTime + row.jitterMs > now) return
    const { expression, jitterMs, nextTime } = row
    const next = occurrenceDueAfter(
      checkedOccurrences(settings.nextOccurrence, expression, jitterMs),
      nextTime,
      jitterMs,
      now,
    )
    // The user's function ran: it may have changed the definition it was asked about.
    if (!this.definition.isStill(row)) return
    const queued = this.#waiting(row) > 0 || this.#freeSlots <= 0
    const run = newRun(row, nextTime, queued ? WAITING : RUNNING)
    this.#start(
      queued ? [] : [run],
      () => {
        table.insert(run)
        this.definition.write({ ...row, nextTime: next ?? null, lastTime: nextTime, lastRunId: run.id })
        if (queued) this.#mayWait = true
        else this.#nextToStart = run.id + 1
      },
      () => emit(run, { type: 'due', queued }),
    )
  }

  #startWaiting(): void {
    const { table } = this.#parts
    const row = this.definition.read()
    if (row === undefined) return
    const waiting = this.#waiting(row)
    this.#mayWait = waiting > 0
    const free = Math.min(waiting, this.#freeSlots)
    if (free <= 0) return
    const runs = table.from(this.#firstWaiting(row), free)
    this.#start(runs, () => {
      for (const run of runs) table.update(run, { state: RUNNING })
      const last = runs.at(-1)
      this.#nextToStart = last && last.id + 1
    })
  }

  /** Takes slots, writes, and calls the handlers once that is durable. When the write is undone, so is the rest. */
  #start(runs: readonly Run[], write: () => void, announce?: () => void): void {
    const { busy, started } = this.#parts.table
    for (const run of runs) {
      started.set(run.id, run)
      busy.add(run)
    }
    this.#slots += runs.length
    try {
      this.#write(write)
    } catch (error) {
      this.#slots -= runs.length
      for (const run of runs) {
        busy.delete(run)
        started.delete(run.id)
      }
      throw error
    }
    announce?.()
    for (const run of runs) this.#hold(run, this.#execute(run))
  }

  /** When a transaction is rolled back, what this instance knew of the rows is void. */
  #write(write: () => void): void {
    const { port, table } = this.#parts
    try {
      port.transaction(write)
    } catch (error) {
      for (const run of this.#left()) table.started.delete(run.id)
      this.#nextToStart = undefined
      this.definition.forget()
      throw error
    }
  }

  #hold(run: Run, work: Promise<void>): void {
    const { busy } = this.#parts.table
    busy.add(run)
    this.#parts.port.hold(work.finally(() => busy.delete(run)))
  }

  /** Calls the handler once the record of its start is durable, and sees the run through to the end of its delivery. */
  async #execute(run: Run): Promise<void> {
    const { port, settings, emit } = this.#parts
    // Never in the turn that wrote the row: if the handler killed the object, the row would be lost with it.
    await Promise.all([port.context.storage.sync(), port.alarmTaken()]).catch((error: unknown) => {
      this.#slots -= 1
      throw error
    })
    emit(run, { type: 'started' })
    const startedAt = port.clock.now()
    const controller = new AbortController()
    const handling = outcomeOfCall(() =>
      settings.run({ ...identityOf(port, run), signal: controller.signal }),
    )
    let timeout: ScheduledRunTimeoutError | undefined
    const outcome = await within(port.clock, settings.runTimeoutMs, handling, () => {
      timeout = new ScheduledRunTimeoutError(settings.runTimeoutMs)
      return errored(timeout)
    })
    const durationMs = Math.max(port.clock.now() - startedAt, 0)
    const settling = this.#settle(run, outcome, durationMs)
    if (timeout === undefined) this.#freeSlot()
    else this.#keepSlot(run, handling, () => controller.abort(timeout))
    await settling
  }

  /** Stores the outcome and delivers it. The first outcome wins, by the condition of the write. */
  async #settle(run: Run, outcome: RunOutcome, durationMs: number): Promise<void> {
    const { port, settings, table, emit } = this.#parts
    const isReported = settings.onOutcome !== undefined
    const stored = await persist(port, () =>
      isReported ? table.update(run, outcomeColumns(outcome)) : table.delete(run),
    )
    emit(run, { ...settled(outcome), durationMs })
    if (!isReported) return
    await (stored
      ? this.#deliveries.deliver(run)
      : this.#deliveries.giveUp(run, new Error('Its row is gone')))
  }

  #freeSlot(): void {
    this.#slots -= 1
    if (this.#mayWait) this.#parts.port.hold((async () => this.#startWaiting())())
  }

  /** A timed-out handler still uses the object: it keeps its slot until it settles, however late. */
  #keepSlot(run: Run, handling: Promise<unknown>, abort: () => void): void {
    const { port, emit } = this.#parts
    let isStuck = true
    this.stuck += 1
    handling.then(() => {
      isStuck = false
      this.stuck -= 1
      this.#freeSlot()
    })
    if (this.#mayWait) port.transaction(() => {})
    // The runtime throws here what a listener of the signal throws.
    callHook(abort, undefined)
    port.hold(wait(port.clock, 0).then(() => (isStuck ? emit(run, { type: 'stuck' }) : undefined)))
  }
}

function newRun(row: Readonly<Definition>, scheduledTime: number, state: number): Run {
  return {
    id: row.lastRunId + 1,
    scheduledTime,
    dueAt: scheduledTime + row.jitterMs,
    version: row.version ?? 0, // only a definition with a version has ticks
    state,
    errorName: null,
    errorMessage: null,
    attempts: 0,
    nextAttemptAt: null,
    delivering: 0,
  }
}

function errored(error: unknown): RunOutcome {
  return { status: 'errored', error: describeThrown(error) }
}

function settled(outcome: RunOutcome) {
  const error = outcome.status === 'errored' ? outcome.error : undefined
  return { type: 'settled', outcome: outcome.status, error } as const
}

/** Calls the handler now; never rejects. */
async function outcomeOfCall(handler: () => unknown): Promise<RunOutcome> {
  try {
    await handler()
    return { status: 'complete' }
  } catch (error) {
    return errored(error)
  }
}
