import { persist } from '../core/persist.ts'
import { report } from '../core/report.ts'
import { ScheduledRunInterruptedError, ScheduledRunTimeoutError } from '../core/run-errors.ts'
import { within } from '../core/timers.ts'
import { errorText } from './error-text.ts'
import { MAX_WRITE_TRIES, READ_AHEAD } from './limits.ts'
import { type Move, moveOn } from './moves.ts'
import type { EngineParts } from './parts.ts'
import { endedAt, toStart } from './run-rows.ts'
import { atOnce, LIVE_STATUSES, type RunPatch, type RunRow, type ScheduleRow } from './store.ts'
import { failedTooOften, pausing } from './superseded.ts'

/** The handlers of one engine: which run, which wait, and what becomes of those whose object died. */
export interface ObjectRuns {
  /** Takes a slot for a run that is about to be stored as running; `false` when it has to wait. */
  reserve(): boolean
  release(): void
  /** Calls the handler of a run that is stored as running and has a slot. */
  launch(run: RunRow): void
  /** A run was stored that waits. */
  waits(): void
  /** Reports the runs that another instance of the object left, once, and starts what waits. */
  look(): Promise<void>
  /** Whether something waits that could start. */
  hasDue(): boolean
  /** Whether a handler is in flight here. */
  busy(): boolean
  /** Whether runs wait for a slot. */
  queued(): boolean
  /** Aborts the signal of a run and forgets its result. `false` when it is not in flight in this engine. */
  abort(runId: string): boolean
  /** Runs with this concurrency key that were cancelled and whose handlers are still at work, in any engine of the object. */
  ending(concurrencyKey: string): number
  settled(): Promise<void>
}

/** ms between two tries to store how a run ended. */
const WRITE_RETRY_MS = 15_000

/** Runs in flight in this object, whichever engine started them, by the storage that they are in. */
const LIVE = new WeakMap<object, Set<string>>()
/** Cancelled runs whose handlers are still at work, each with its concurrency key: limits count them, the store does not. */
const ENDING = new WeakMap<object, Map<string, string>>()

export function objectRunsOf(engine: EngineParts, boundTo: object): ObjectRuns {
  const { store, clock } = engine
  const live = LIVE.get(boundTo) ?? new Set<string>()
  LIVE.set(boundTo, live)
  const ending = ENDING.get(boundTo) ?? new Map<string, string>()
  ENDING.set(boundTo, ending)
  /** Handlers that use a slot: those of runs that are over too, until they settle. */
  let slots = 0
  /** The first that wait, in their order, read ahead. */
  let ahead: RunRow[] = []
  /** Whether others may wait beside them: true until a look shows that none does. */
  let othersWait = true
  let looked = false
  const aborts = new Map<string, { readonly controller: AbortController; readonly run: RunRow }>()
  const executions = new Set<Promise<void>>()

  const mayWait = () => othersWait || ahead.length > 0

  const freeSlots = () => engine.maxConcurrentRuns - slots

  const release = () => {
    slots -= 1
    if (mayWait() && !engine.draining()) engine.hold(startWaiting().catch(reported))
  }

  const reported = (error: unknown) => report('schedules.runs_failed', error)

  /** Calls the handler once the run's row is durable; the first of end, timeout and cancel is its outcome. */
  const execute = async (run: RunRow, cancelled: AbortController) => {
    try {
      await engine.durable()
    } catch (error) {
      aborts.delete(run.id)
      ending.delete(run.id)
      release()
      await stored(run, { status: 'interrupted', error: errorText(error) })
      throw error
    }
    const registered = engine.registered(run.workflow)
    const timeoutMs =
      (registered?.kind === 'handler' ? registered.runTimeoutMs : undefined) ?? engine.runTimeoutMs
    const call = async ({ signal }: { readonly signal: AbortSignal }) => {
      try {
        if (registered?.kind !== 'handler') throw new Error(`"${run.workflow}" is no handler any more`)
        await registered.handler({ ...toStart(run), signal: AbortSignal.any([signal, cancelled.signal]) })
      } finally {
        // A handler whose run is over keeps its slot until it gets here, however late: it still uses the object.
        release()
      }
    }
    const late = () => new ScheduledRunTimeoutError(timeoutMs)
    const aborted = new Promise<RunPatch>((resolve) => {
      cancelled.signal.addEventListener('abort', () => resolve({}), { once: true })
    })
    const ended = within(clock, timeoutMs, call, late, {}).then(
      (): RunPatch => ({ status: 'complete' }),
      (error: unknown): RunPatch => ({ status: 'errored', error: errorText(error) }),
    )
    ended.finally(() => {
      aborts.delete(run.id)
      ending.delete(run.id)
    })
    const outcome = await Promise.race([ended, aborted])
    aborts.delete(run.id)
    if (outcome.status !== undefined) await stored(run, outcome)
    live.delete(run.id)
    // A handler that goes on after its run was cancelled is in flight until it settles or times out.
    await ended
  }

  const stored = (run: RunRow, outcome: RunPatch) =>
    persist({ clock, alarmMinDelayMs: WRITE_RETRY_MS }, () => settle(run, outcome))

  /** The first outcome wins, by the condition of the write. */
  const settle = async (run: RunRow, outcome: RunPatch) => {
    const patch = { ...outcome, ...endedAt(run, engine.now()) }
    const isStored = await engine.write(() => store.updateRun(run.id, patch, ['running']))
    if (isStored) await countFailure(run, outcome)
  }

  /** `pauseAfterFailures`: so many bad ends in a row of window runs. Others may write the row in between. */
  const countFailure = async ({ scheduleId, manual }: RunRow, outcome: RunPatch) => {
    if (scheduleId === null || manual) return
    for (let attempt = 0; attempt < MAX_WRITE_TRIES; attempt += 1) {
      const row = await store.getSchedule(scheduleId)
      const move = row === null ? undefined : await afterOutcome(engine, row, outcome)
      if (row === null || move === undefined || (await moveOn(engine, row, move)) === 'moved') return
    }
  }

  const launch = (run: RunRow) => {
    live.add(run.id)
    const cancelled = new AbortController()
    aborts.set(run.id, { controller: cancelled, run })
    const execution = execute(run, cancelled)
      .catch(reported)
      .finally(() => {
        live.delete(run.id)
        executions.delete(execution)
      })
    executions.add(execution)
    engine.hold(execution)
  }

  const nextWaiting = async (): Promise<RunRow | undefined> => {
    if (ahead.length === 0 && othersWait) {
      const waiting = await store.listRuns({
        namespace: engine.namespace,
        kind: 'handler',
        status: ['queued'],
        order: 'queue',
        limit: READ_AHEAD,
      })
      // Nothing can have been stored and told of since: the store answers at once, and whoever stores awaits that too.
      ahead = [...waiting]
      othersWait = waiting.length === READ_AHEAD
    }
    return ahead.shift()
  }

  /** Marks the first that wait as running, as many as there are slots, and calls their handlers. */
  const startWaiting = async () => {
    while (freeSlots() > 0 && !engine.draining()) {
      // Taken before anything is awaited, so that two that look at once start no more than there are slots.
      slots += 1
      let marked: RunRow | undefined
      let isNone = false
      try {
        const run = await nextWaiting()
        isNone = run === undefined
        if (run !== undefined) marked = await mark(run)
      } finally {
        if (marked === undefined) slots -= 1
        // Cancelled meanwhile, or not to be written: whatever waits is read again.
        if (marked === undefined && !isNone) waits()
      }
      if (isNone) return
      if (marked !== undefined) launch(marked)
    }
  }

  const mark = async (run: RunRow): Promise<RunRow | undefined> => {
    const patch = { status: 'running', startedAt: engine.now() } as const
    live.add(run.id)
    let isMarked = false
    try {
      isMarked = await engine.write(() => store.updateRun(run.id, patch, ['queued']))
      return isMarked ? { ...run, ...patch } : undefined
    } finally {
      if (!isMarked) live.delete(run.id)
    }
  }

  /** One that is new may come before those that were read. */
  const waits = () => {
    othersWait = true
    ahead = []
  }

  /** Whether an instance that is gone left anything: asked once, and one row read when it did not. */
  const firstLook = () => {
    const [left] = atOnce(
      store.listRuns({
        namespace: engine.namespace,
        kind: 'handler',
        status: LIVE_STATUSES,
        order: 'queue',
        limit: 1,
      }),
    )
    if (left === undefined) {
      looked = true
      othersWait = false
    }
  }

  /** Their handlers are not called again: what they did outside may have happened. */
  const settleInterrupted = async () => {
    const left = await store.listRuns({
      namespace: engine.namespace,
      kind: 'handler',
      status: ['running'],
      order: 'queue',
      limit: 1_000,
    })
    const error = errorText(new ScheduledRunInterruptedError())
    for (const run of left) if (!live.has(run.id)) await settle(run, { status: 'interrupted', error })
    looked = left.length < 1_000
  }

  return {
    reserve() {
      if (!looked) firstLook()
      if (freeSlots() <= 0 || mayWait()) return false
      slots += 1
      return true
    },
    release,
    launch,
    waits,
    async look() {
      if (!looked) await settleInterrupted()
      if (mayWait()) await startWaiting()
    },
    hasDue() {
      if (!looked) firstLook()
      return !looked || (mayWait() && freeSlots() > 0)
    },
    busy: () => executions.size > 0,
    queued: () => looked && mayWait(),
    abort(runId) {
      const aborted = aborts.get(runId)
      if (aborted === undefined) return false
      const { controller, run } = aborted
      if (run.concurrencyKey !== null) ending.set(runId, run.concurrencyKey)
      controller.abort(new Error('The run was cancelled'))
      return true
    },
    ending: (concurrencyKey) => [...ending.values()].filter((key) => key === concurrencyKey).length,
    async settled() {
      while (executions.size > 0) await Promise.all(executions)
    },
  }
}

/** What a window's run that ended changes of its schedule; `undefined` for nothing. */
async function afterOutcome(
  engine: EngineParts,
  row: ScheduleRow,
  { status }: RunPatch,
): Promise<Move | undefined> {
  const limit = row.definition.pauseAfterFailures
  if (limit === null) return undefined
  const failures = status === 'complete' ? 0 : row.failures + 1
  if (failures === row.failures) return undefined
  if (failures < limit || row.paused) return { patch: { failures } }
  return pausing(engine, row, engine.now(), failedTooOften(failures), { finished: row.finished, failures })
}
