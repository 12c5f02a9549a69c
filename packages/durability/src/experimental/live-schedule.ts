import { check } from '../core/checks.ts'
import { NEVER } from '../core/limits.ts'
import { persist } from '../core/persist.ts'
import { eventsTo } from '../core/report.ts'
import { ScheduledRunInterruptedError, ScheduledRunTimeoutError } from '../core/run-errors.ts'
import { replace, select, update } from '../core/sql.ts'
import { earliest, wait, within } from '../core/timers.ts'
import { checkVersion, type DefinitionRow, definitionOf, dueAtOf } from './definition.ts'
import { deadLetter, deliveryError, deliveryOf } from './deliveries.ts'
import type { ScheduledRunEventDetails } from './events.ts'
import { checkedOccurrences, occurrenceDueAfter } from './occurrences.ts'
import { type DurabilityScheduleOptions, settingsOf } from './options.ts'
import { complete, errored, type RunOutcome, type ScheduledRun } from './outcome.ts'
import { COMPLETE, ERRORED, identityOf, REMOVED, RUNNING, type Run, type RunRow, WAITING } from './run.ts'
import { createSchema, NO_DEFINITION, RUNS, readDefinition, SCHEDULE } from './schema.ts'
import type { LiveSchedule } from './status.ts'

/** A schedule as the live instance runs it: its definition, its ticks, its runs and their outcomes. */
export function scheduleOf(options: DurabilityScheduleOptions): LiveSchedule {
  const settings = settingsOf(options)
  check('options.scheduler.attach', settings.scheduler.attach, 'function')
  const { onOutcome } = settings

  /** The row, kept for the rest of the synchronous section: any later one could find it rolled back or deleted. */
  let known: DefinitionRow | undefined
  /** Started runs: those that this instance started, and those it found. */
  const started = new Set<Run>()
  /** Runs whose handlers are in flight, those that timed out included: they take the slots. */
  const handling = new Set<Run>()
  /** The key of the first run that waits, or of the next one to be recorded. */
  let nextToStart = 1
  /** The last recorded key as of the last look. Another one in the row: its tables are new, or were rolled back. */
  let seenRunId: number | undefined
  const interruption = errored(new ScheduledRunInterruptedError())
  /** Whether a run may be waiting for a slot: true until a look shows that none is. */
  let mayWait = true

  const port = settings.scheduler.attach({
    name: 'schedule',
    timed: true,

    nextAt(now) {
      const row = read()
      if (row === NO_DEFINITION) return undefined
      if (waiting() > 0 && freeSlots() > 0) return now
      const at = Math.min(dueAtOf(row), earliest(left()))
      return at < NEVER ? at : undefined
    },

    run(now) {
      settleLeft(now)
      startWaiting()
      tick(now)
    },

    /** The next tick finds what a crash leaves behind; without one, or outside a pass, an alarm of its own must. */
    fallbackWithinMs(_now, passOpen) {
      const row = read()
      if (row === NO_DEFINITION) return undefined
      const isBusy = left().length < started.size
      // Runs that wait behind a kept slot have nothing that wakes the object for them.
      const isBlocked = waiting() > 0 && (!isBusy || stuck() > 0)
      if (!isBusy && !isBlocked) return undefined
      const isCovered = passOpen && !isBlocked && row.nextTime !== null
      return Math.min(isBusy ? settings.interruptedWithinMs : NEVER, isCovered ? NEVER : alarmMinDelayMs)
    },
  })
  const { context, clock, alarmMinDelayMs } = port
  const emit = eventsTo<Run, ScheduledRunEventDetails>(
    clock,
    settings.onLifecycleEvent,
    'scheduled_run',
    'schedule.outcome_dead_lettered',
    (run) => identityOf(context, run),
  )

  const forget = () => {
    known = undefined
  }

  const keep = (row: DefinitionRow) => {
    known = row
    // Costs a fraction of what the runtime's `queueMicrotask` does.
    Promise.resolve().then(forget)
    return row
  }

  const read = () => known ?? keep(readDefinition(context))

  /** What is stored now, whatever this instance last saw. */
  const readAnew = () => {
    forget()
    if (read() === NO_DEFINITION) {
      left().forEach(lost)
      // Should the removal of the tables be rolled back, those runs are found again.
      seenRunId = undefined
    }
    return read()
  }

  /** Whether the row says the same as when it was read: user code that ran since may have set or cancelled. */
  const isStill = ({ version, nextTime }: DefinitionRow) =>
    version === read().version && nextTime === read().nextTime

  /**
   * Stores a change of the definition and, in the same transaction, the run of its tick at `dueTime`: one row each. A
   * queued run waits for the next pass or slot.
   */
  const store = (
    row: DefinitionRow,
    change: Partial<DefinitionRow>,
    dueTime: number | null,
    queued = true,
  ) => {
    const run =
      dueTime === null
        ? undefined
        : {
            id: row.lastRunId + 1,
            scheduledTime: dueTime,
            dueAt: dueTime + row.jitterMs,
            version: row.version ?? 0, // only a definition with a version has ticks
            state: queued ? WAITING : RUNNING,
            outcome: 'null',
            attempts: 0,
            nextAttemptAt: 0,
            delivering: 0,
          }
    const write = () => {
      if (read() === NO_DEFINITION) {
        createSchema(context)
        nextToStart = 1
      } else firstWaiting()
      const changed = { ...row, ...change, ...(run && { lastRunId: run.id, lastTime: run.scheduledTime }) }
      replace(context, SCHEDULE, { id: 1, ...changed })
      keep(changed)
      seenRunId = changed.lastRunId
      if (!run) return
      replace(context, RUNS, run)
      if (queued) mayWait = true
      else nextToStart = run.id + 1
    }
    start(run && !queued ? [run] : [], write)
    if (run) emit(run, { type: 'due', queued })
  }

  /** One tick, one run: the transaction that records the run moves the cursor past it. */
  const tick = (now: number) => {
    const row = read()
    const { expression, nextTime, jitterMs } = row
    if (expression === null || nextTime === null || dueAtOf(row) > now) return
    const occurrenceAfter = checkedOccurrences(settings.nextOccurrence, expression, jitterMs)
    const next = occurrenceDueAfter(occurrenceAfter, nextTime, jitterMs, now)
    // The user's function ran: it may have changed the definition it was asked about.
    if (isStill(row)) store(row, { nextTime: next ?? null }, nextTime, waiting() > 0 || freeSlots() <= 0)
  }

  /**
   * Changes the row of a run if it still is as this instance knows it, or removes it for good when there are no
   * columns. Answers whether it was there.
   */
  const change = (run: Run, columns?: Partial<RunRow>) => {
    const { id, scheduledTime, state } = run
    const changed = update(context, RUNS, { id, scheduledTime, state }, columns)
    if (!columns) started.delete(run)
    Object.assign(run, columns ?? { state: REMOVED })
    return changed
  }

  /** Its row is gone, and the loss is told. */
  const lost = (run: Run) => {
    started.delete(run)
    emit(run, deadLetter(run, deliveryError('Its row is gone')))
  }

  const deliver = deliveryOf(settings, port, change, emit)

  /** The first `limit` rows from key `id` on. */
  const runsFrom = (id: number, limit: number) =>
    select<Run>(context, RUNS, 'WHERE id >= ? ORDER BY id LIMIT ?', id, limit)

  /** Started runs that this instance does not hold: interrupted ones, and outcomes whose delivery is to come. */
  const left = () => [...started].filter(({ held }) => !held)

  /**
   * Looks at the rows that another instance left, once: those started, and where those that wait begin. Keys are dense
   * from there on, so the rest is arithmetic.
   */
  const firstWaiting = () => {
    const { lastRunId } = read()
    if (lastRunId !== seenRunId) {
      // Those that are still there are found again.
      for (const run of left()) started.delete(run)
      // Few, other than those that are found: comparing all with all would take longer than the platform lets it run.
      const heldRuns = [...started]
      let [run] = runsFrom(0, 1)
      while (run && run.state !== WAITING) {
        const { id, scheduledTime } = run
        run.inherited = true
        if (!heldRuns.some((other) => other.scheduledTime === scheduledTime)) started.add(run)
        ;[run] = runsFrom(id + 1, 1)
      }
      nextToStart = run?.id ?? lastRunId + 1
      seenRunId = lastRunId
    }
    return nextToStart
  }

  /** Slots kept by handlers whose runs have their outcome: they timed out. */
  const stuck = () => [...handling].filter(({ state }) => state > RUNNING).length

  const freeSlots = () => settings.maxConcurrentRuns - handling.size

  const waiting = () => read().lastRunId + 1 - firstWaiting()

  /** Takes slots, writes, and calls the handlers once that is durable. When the write is undone, so is the rest. */
  const start = (runs: readonly Run[], write: () => void) => {
    try {
      port.transaction(() => {
        write()
        for (const run of runs) {
          run.held = true
          started.add(run)
          handling.add(run)
        }
      })
    } catch (error) {
      for (const run of runs) {
        handling.delete(run)
        started.delete(run)
      }
      seenRunId = undefined
      forget()
      throw error
    }
    for (const run of runs) hold(run, execute(run))
  }

  const startWaiting = () => {
    const count = waiting()
    mayWait = count > 0
    const free = Math.min(count, freeSlots())
    if (free <= 0) return
    const runs = runsFrom(firstWaiting(), free)
    start(runs, () => {
      for (const run of runs) {
        change(run, { state: RUNNING })
        nextToStart = run.id + 1
      }
    })
  }

  const hold = (run: Run, work: Promise<void>) => {
    run.held = true
    port.hold(
      work.finally(() => {
        run.held = false
      }),
    )
  }

  /** Calls the handler once the record of its start is durable, and sees the run through to the end of its delivery. */
  const execute = async (run: Run) => {
    try {
      // Never in the turn that wrote the row: if the handler killed the object, the row would be lost with it.
      await Promise.all([context.storage.sync(), port.alarmTaken()])
    } catch (error) {
      handling.delete(run)
      throw error
    }
    emit(run, { type: 'started' })
    const startedAt = clock.now()
    const call = async (given: ScheduledRun) => {
      try {
        await settings.run(given)
      } finally {
        // A handler that timed out keeps its slot until it gets here, however late: it still uses the object.
        handling.delete(run)
        if (mayWait) port.hold((async () => startWaiting())())
      }
    }
    const { runTimeoutMs } = settings
    const late = () => new ScheduledRunTimeoutError(runTimeoutMs)
    const limited = within(clock, runTimeoutMs, call, late, identityOf(context, run))
    const outcome = await limited.then(complete, errored)
    const durationMs = Math.max(clock.now() - startedAt, 0)
    // Kept in memory and tried again when it fails. The first outcome wins, by the condition of the write.
    const isStored = await persist(port, () => storeOutcome(run, outcome))
    emitSettled(run, outcome, durationMs)
    const tellStuck = () => {
      if (handling.has(run)) emit(run, { type: 'stuck' })
    }
    if (handling.has(run)) {
      if (mayWait) port.transaction(() => {})
      port.hold(wait(clock, 0).then(tellStuck))
    }
    if (onOutcome && isStored) await deliver(run)
    else if (onOutcome) lost(run)
  }

  const storeOutcome = (run: Run, outcome: RunOutcome) => {
    const settled = { state: outcome.error ? ERRORED : COMPLETE, outcome: JSON.stringify(outcome) }
    return change(run, onOutcome ? settled : undefined)
  }

  const emitSettled = (run: Run, outcome: RunOutcome, durationMs: number | undefined) =>
    emit(run, { type: 'settled', outcome: outcome.status, error: outcome.error, durationMs })

  /** Takes up what is not held: runs without an instance get their outcome, and outcomes that are due are delivered. */
  const settleLeft = (now: number) => {
    const due = left().filter(({ nextAttemptAt }) => nextAttemptAt <= now)
    const interrupted = due.filter(({ state }) => state === RUNNING)
    // Their handlers are not called again: what they did outside may have happened.
    if (interrupted.length > 0)
      start([], () => {
        for (const run of interrupted) storeOutcome(run, interruption)
      })
    for (const run of interrupted) emitSettled(run, interruption, undefined)
    for (const run of due) if (started.has(run)) hold(run, deliver(run))
  }

  /** The nominal time that is due now: of several missed ones, the earliest. */
  const dueTimeOf = (row: DefinitionRow) => (dueAtOf(row) <= clock.now() ? row.nextTime : null)

  return {
    async set(definition) {
      const changed = definitionOf(definition)
      const { expression, version, jitterMs } = changed
      const row = readAnew()
      const isNewer = version > (row.version ?? -1)
      if (isNewer) {
        const now = clock.now()
        const dueTime = dueTimeOf(row)
        const occurrenceAfter = checkedOccurrences(settings.nextOccurrence, expression, jitterMs)
        // A nominal time that has passed and is still in its jitter delay is kept while the expression is the same.
        let kept = row.expression === expression ? row.nextTime : null
        if (kept !== null && kept === dueTime)
          kept = occurrenceDueAfter(occurrenceAfter, kept, row.jitterMs, now) ?? null
        // No definition goes back to a nominal time at or before the last recorded one, whatever the clock says.
        const after = Math.max(now, dueTime ?? row.lastTime ?? 0)
        const nextTime = kept !== null && kept <= now ? kept : (occurrenceAfter(after) ?? null)
        // `nextOccurrence` itself may have set or cancelled.
        if (!isStill(row)) return this.set(definition)
        store(row, { ...changed, nextTime }, dueTime)
        // The caller's own transaction may yet undo what was written.
        forget()
        port.clearFailure()
      } else if (
        version === row.version &&
        row.expression !== null &&
        (row.expression !== expression || row.jitter !== changed.jitter)
      ) {
        console.warn(`durability: version ${version} was set again with another definition`)
      }
      await port.reconcile()
      return isNewer
    },

    async cancel(version) {
      if (version !== undefined) checkVersion(version)
      const row = readAnew()
      const applies =
        (version ?? -1) > (row.version ?? -1) ||
        (row.expression !== null && (version ?? row.version) === row.version)
      if (applies) {
        const cancelled = { version: version ?? null, expression: null, nextTime: null }
        store(row, cancelled, dueTimeOf(row))
        forget()
        port.clearFailure()
      }
      await port.reconcile()
      return applies && row.nextTime !== null
    },

    get() {
      const { expression, version, jitterMs, nextTime } = readAnew()
      if (expression === null || version === null) return undefined
      return { expression, version, jitterMs, nextAt: nextTime ?? undefined }
    },

    status() {
      const row = readAnew()
      // Finds the started runs as well.
      const count = waiting()
      const idle = row === NO_DEFINITION ? 'none' : 'cancelled'
      const running = [...started].filter(({ state }) => state === RUNNING).length
      return {
        version: row.version ?? undefined,
        state: row.nextTime !== null ? 'live' : row.expression !== null ? 'ended' : idle,
        running,
        waiting: count,
        undelivered: started.size - running,
        stuck: stuck(),
      }
    },
  }
}
