import { WorkflowNotRegisteredError } from './errors.ts'
import {
  failed,
  giveUpRun,
  isThereAfterAll,
  limitError,
  pauseBroken,
  pauseFailing,
  refuse,
} from './fire-failed.ts'
import { absentOf, DONE, fired, firedPatch, type Step } from './fire-moves.ts'
import { failuresAfter, lastRunOf, validated } from './fire-policies.ts'
import { decided, moved, moveOn, placedAfter, placedAt } from './moves.ts'
import type { EngineParts } from './parts.ts'
import type { RegisteredHandler, RegisteredOutside } from './registered.ts'
import { windowRunId } from './run-id.ts'
import { runRowOf, toStart } from './run-rows.ts'
import { isLive, makeRoom, oldestRefreshed, roomFor } from './run-status.ts'
import { startWithin } from './start-within.ts'
import type { DecisionRow, RunRow, SchedulePatch, ScheduleRow } from './store.ts'
import { latestDueWindow, previousWindow } from './timing.ts'

/** When a tick looked, and how long the starts that it makes may take. */
export interface TickTime {
  readonly now: number
  /** Resolves when starts that have no answer yet are given up. */
  readonly late: Promise<unknown>
}

/**
 * Fires one due schedule, or records why not. Resolves to the ids of the runs that it started and moved past. Other
 * engines may be at the same schedule: whatever is written is written on the condition that the row is as it was read.
 */
export async function fireDue(engine: EngineParts, row: ScheduleRow, time: TickTime): Promise<string[]> {
  const { now } = time
  const runIds: string[] = []
  let due: ScheduleRow | undefined = row
  while (due !== undefined && due.nextWindow !== null && (due.nextFireAt ?? now + 1) <= now) {
    let latest: number
    try {
      latest = latestDueWindow(due.id, due.definition, due.nextWindow, now)
    } catch (error) {
      await pauseBroken(engine, due, now, error)
      break
    }
    const step: Step = await fireWindow(engine, due, due.nextWindow, latest, time)
    if (step.runId !== undefined) runIds.push(step.runId)
    due = step.next
  }
  return runIds
}

async function fireWindow(
  engine: EngineParts,
  row: ScheduleRow,
  window: number,
  latest: number,
  time: TickTime,
): Promise<Step> {
  const { now } = time
  const runId = windowRunId(row.id, window)
  const registered = engine.registered(row.workflow)
  const existing = await engine.store.getRun(runId)
  // A window that has a run is fired, however late: it has one entry in the history, and that is it.
  const isGivenUp =
    existing?.status === 'starting' &&
    row.firstAttemptAt !== null &&
    latest > window &&
    !(await isThereAfterAll(engine, row, existing))
  if (existing === null || isGivenUp) {
    const { catchup, jitterMs, maxRuns } = row.definition
    // A start that lost its advance may have been counted since this window became the next one.
    if (maxRuns !== null && row.fires >= maxRuns) {
      await moveOn(engine, row, { patch: { ...placedAt(row, null), updatedAt: now } })
      return DONE
    }
    const isLate = catchup === 'skip' && now - latest > engine.graceMs + jitterMs
    const pass = { engine, row, window, latest, now, isGivenUp }
    if (isLate) return skipTo(pass)
    if (latest > window) return catchUp(pass)
  } else if (existing.status !== 'starting') {
    return fired(engine, row, window, now, existing)
  }
  // While a start of this window may be under way, in another engine or one that died, no refusal is for good.
  const refused = (error: unknown) =>
    existing === null ? refuse(engine, row, window, now, error) : failed(engine, row, window, time, error)
  if (registered === undefined) return refused(new WorkflowNotRegisteredError(row.workflow))
  let last: RunRow | null = null
  try {
    const refusal = await validated(engine, row, registered, time.late)
    if (refusal !== undefined) return refused(refusal)
    last = await lastRunOf(engine, row)
  } catch (error) {
    return failed(engine, row, window, time, error)
  }
  const failures = failuresAfter(row, last)
  // A start that was begun goes on, whatever its policies say now.
  if (existing !== null) {
    if (registered.kind === 'handler') return failed(engine, row, window, time, new Error(WAS_OUTSIDE))
    return startOutside(engine, { ...row, failures }, window, time, registered, existing)
  }
  if (row.definition.pauseAfterFailures !== null && failures >= row.definition.pauseAfterFailures) {
    return pauseFailing(engine, row, window, now, failures)
  }
  if (row.definition.overlap === 'skip' && last !== null && isLive(last)) {
    const patch = { ...placedAfter(row, window, row.fires), failures, updatedAt: now }
    const decisions = [
      decided(row, 'skipped_overlap', now, { window, reason: `${last.id} is ${last.status}` }),
    ]
    await moveOn(engine, row, { patch, decisions, absent: absentOf(row, window) })
    return DONE
  }
  if (registered.kind === 'handler') return startHere(engine, { ...row, failures }, window, now, registered)
  return startOutside(engine, { ...row, failures }, window, time, registered, null)
}

const WAS_OUTSIDE = 'Its start outside the object was never answered, and its workflow is a handler now'

/** Windows that are passed over: from the one that is stored to the latest that is due. */
interface Pass {
  readonly engine: EngineParts
  readonly row: ScheduleRow
  readonly window: number
  readonly latest: number
  readonly now: number
  /** A start of the stored one was begun, and is not repeated. */
  readonly isGivenUp: boolean
}

/** Nothing ran for a while: on to the latest window, in one step and with one entry. It is fired as stored. */
async function catchUp(pass: Pass): Promise<Step> {
  const { row, window, latest, now } = pass
  const patch = { ...placedAt(row, latest), updatedAt: now }
  const to = previousWindow(row.definition, latest) ?? window
  const stretch = { window: to, from: window, to, reason: 'missed: a later window was due' }
  const decisions =
    row.firstAttemptAt === null
      ? [decided(row, 'skipped_catchup', now, stretch)]
      : [
          decided(row, 'start_failed', now, { window, reason: row.lastError }),
          ...(to > window
            ? [decided(row, 'skipped_catchup', now, { ...stretch, from: after(row, window) ?? to })]
            : []),
        ]
  return (await passOver(pass, patch, decisions)) ? { next: moved(row, patch) } : DONE
}

function after(row: ScheduleRow, window: number): number | null {
  return placedAfter(row, window, 0).nextWindow ?? null
}

/** `catchup: 'skip'`: everything up to the latest window is too late. */
async function skipTo(pass: Pass): Promise<Step> {
  const { engine, row, window, latest, now } = pass
  const patch = { ...placedAfter(row, latest, row.fires), updatedAt: now }
  const reason = `later than graceMs of ${engine.graceMs}`
  const decision =
    row.firstAttemptAt !== null && window === latest
      ? decided(row, 'start_failed', now, { window, reason: row.lastError })
      : decided(row, 'skipped_catchup', now, { window: latest, from: window, to: latest, reason })
  await passOver(pass, patch, [decision])
  return DONE
}

async function passOver(
  { engine, row, window, now, isGivenUp }: Pass,
  patch: SchedulePatch,
  decisions: readonly DecisionRow[],
): Promise<boolean> {
  const result = await moveOn(engine, row, { patch, decisions, absent: absentOf(row, window) })
  if (result !== 'moved') return false
  // After the decision: a run that is over already would pass for a fired window, should this engine die in between.
  if (isGivenUp) await giveUpRun(engine, row, window, now, row.lastError ?? 'Its start failed')
  return true
}

/** A run of this object: its row, the schedule's move and the count are one unit. */
async function startHere(
  engine: EngineParts,
  row: ScheduleRow,
  window: number,
  now: number,
  registered: RegisteredHandler,
): Promise<Step> {
  const runs = engine.objectRuns
  if (runs === undefined)
    return refuse(engine, row, window, now, new WorkflowNotRegisteredError(row.workflow))
  const hasSlot = runs.reserve()
  const insert = runRowOf(row, registered.kind, {
    window,
    manual: false,
    now,
    status: hasSlot ? 'running' : 'queued',
  })
  const limit = roomFor(engine, insert.concurrencyKey, row.definition.concurrency?.limit)
  const patch = firedPatch(row, window, now)
  let result: 'moved' | 'lost' | 'over_limit' = 'lost'
  try {
    result = await moveOn(engine, row, { patch, run: { insert, limit } })
  } finally {
    if (result !== 'moved' && hasSlot) runs.release()
  }
  if (result === 'over_limit') return refuse(engine, row, window, now, limitError(row))
  if (result === 'lost') return DONE
  if (hasSlot) runs.launch(insert)
  else runs.waits()
  return { runId: insert.id, next: moved(row, patch) }
}

/**
 * Two for each that is started, so that they become fewer; with `pauseAfterFailures` the last one was asked already, and
 * with `overlap: 'skip'` each of them, when it was the last.
 */
function oldAsked(
  engine: EngineParts,
  row: ScheduleRow,
  window: number,
  { kind }: RegisteredOutside,
): Promise<void> | undefined {
  const { overlap, pauseAfterFailures } = row.definition
  if (kind !== 'workflow' || overlap === 'skip' || row.fires < engine.keptRuns) return undefined
  return oldestRefreshed(engine, row, window, pauseAfterFailures === null ? 2 : 1)
}

/** A run of something outside: a row that says so, the idempotent start, then the schedule's move. */
async function startOutside(
  engine: EngineParts,
  row: ScheduleRow,
  window: number,
  time: TickTime,
  registered: RegisteredOutside,
  existing: RunRow | null,
): Promise<Step> {
  const { store } = engine
  const { now } = time
  const expected = { nextFireAt: row.nextFireAt, writes: row.writes }
  const insert = runRowOf(row, registered.kind, { window, manual: false, now, status: 'starting' })
  const limit = roomFor(engine, insert.concurrencyKey, row.definition.concurrency?.limit)
  const conditions = { limit, schedule: { id: row.id, expected } }
  if (existing === null) {
    const save = () => engine.write(() => store.saveRun(insert, conditions))
    let saved = await save()
    if (saved === 'over_limit') {
      try {
        if (await makeRoom(engine, insert.concurrencyKey, 'rejects')) saved = await save()
      } catch (error) {
        // Whether there is room is not known: the window is not lost for a Workflow that was silent just now.
        return failed(engine, row, window, time, error)
      }
    }
    if (saved === 'over_limit') return refuse(engine, row, window, now, limitError(row))
    if (saved === 'lost') return DONE
  }
  const asked = oldAsked(engine, row, window, registered)
  let status: 'running' | 'complete'
  try {
    status = await startWithin(engine, time.late, () => registered.start(toStart(insert)))
  } catch (error) {
    return failed(engine, row, window, time, error)
  }
  const startedAt = engine.now()
  const runPatch = { status, startedAt, finishedAt: status === 'complete' ? startedAt : null }
  const patch = firedPatch(row, window, now, existing?.counted)
  const result = await moveOn(engine, row, { patch, run: { started: insert.id, patch: runPatch } })
  await Promise.race([asked, time.late])
  if (result === 'moved') return { runId: insert.id, next: moved(row, patch) }
  // Another engine moved it, or wrote to it, or a verb did: the run exists all the same, and its window counts once.
  // Counted first: a start that was counted is known to have succeeded, should this engine die in between.
  await engine.write(() => store.countFire(row.id, insert.id, window))
  await engine.write(() => store.updateRun(insert.id, runPatch, ['starting', 'errored']))
  const current = await store.getSchedule(row.id)
  if (current === null || current.nextWindow !== window) return DONE
  return fired(engine, current, window, now, { ...insert, ...runPatch, counted: true })
}
