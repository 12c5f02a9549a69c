import { nameOf, ofRun } from './audit-runs.ts'
import { eventsOf, type History, ofKind, type RequestHistory, type RunHistory } from './history.ts'
import { type Action, isStatus } from './log.ts'
import { nextOccurrence, OBJECTS, type ObjectName, PLANS } from './plan.ts'
import { SOON_MS, type Violation } from './violation.ts'

type SetAction = Extract<Action, { do: 'set' }>

/** One definition, from the `set` that may have stored it to the request that may have ended it. */
interface Definition {
  readonly action: SetAction
  readonly request: RequestHistory
  /** It was answered, or seen in a status. Otherwise a kill took the answer, and its runs show whether it was stored. */
  isSure: boolean
  /** Epoch ms; it was live at least until here. */
  liveUntil: number
  /** Epoch ms; it was not live any more after this. */
  deadFrom: number
  readonly runs: RunHistory[]
}

/** Every tick of a live schedule has its run, or passed before the run of an earlier one could be recorded. */
export function* auditTicks(history: History): Generator<Violation> {
  for (const object of OBJECTS) {
    const runs = history.runs.filter((run) => run.object === object)
    const definitions = definitionsOf(object, history.requests)
    for (const run of runs) {
      const definition = definitions.find(({ action }) => action.version === run.run.version)
      if (definition === undefined) yield ofRun(run, `is of version ${run.run.version}, which was never set`)
      else definition.runs.push(run)
    }
    let lastTime = 0
    for (const definition of definitions) {
      yield* auditDefinition(object, definition, lastTime)
      lastTime = definition.runs.at(-1)?.run.scheduledTime ?? lastTime
    }
    for (const run of runs) yield* auditLateness(run, history)
  }
}

function definitionsOf(object: ObjectName, requests: readonly RequestHistory[]): Definition[] {
  const definitions: Definition[] = []
  for (const request of requests) {
    const { action } = request.entry
    if (request.entry.object !== object) continue
    const seen = request.result?.result
    for (const definition of definitions)
      if (isStatus(seen) && seen.state === 'live' && seen.version === definition.action.version)
        definition.isSure = true
    if (action.do !== 'set' && action.do !== 'cancel') continue
    // A request that answers `false` changed nothing that is live.
    if (request.result?.result === false) continue
    for (const before of definitions) {
      before.liveUntil = Math.min(before.liveUntil, request.entry.at)
      if (request.result?.result === true) before.deadFrom = Math.min(before.deadFrom, request.endedAt)
    }
    if (action.do === 'cancel') continue
    const isSure = request.result !== undefined
    definitions.push({ action, request, isSure, liveUntil: Infinity, deadFrom: Infinity, runs: [] })
  }
  return definitions
}

function* auditDefinition(
  object: ObjectName,
  { action, request, isSure, liveUntil, deadFrom, runs }: Definition,
  lastTime: number,
): Generator<Violation> {
  const { expression, version, jitterMs } = action
  const maxJitterMs = typeof jitterMs === 'number' ? jitterMs : jitterMs.maxMs
  const [first] = runs
  const offset = first === undefined ? maxJitterMs : first.run.dueAt - first.run.scheduledTime
  for (const run of runs) {
    const { scheduledTime, dueAt } = run.run
    if (nextOccurrence(expression, scheduledTime - 1) !== scheduledTime)
      yield ofRun(run, `is at no time of ${expression}`)
    if (dueAt - scheduledTime !== offset) yield ofRun(run, 'has another jitter than its version')
    if (recordedAt(run) > deadFrom || dueAt > deadFrom)
      yield ofRun(run, 'was recorded after its version had been replaced or cancelled')
  }
  if (offset > maxJitterMs || offset < (typeof jitterMs === 'number' ? jitterMs : 0))
    yield { about: `version ${version} of ${object}`, what: `has a jitter of ${offset} ms`, seen: [] }

  // The first: it is the first time after the `set`, or one that was still in its jitter delay.
  const earliest = Math.max(lastTime, request.entry.at - PLANS[object].maxJitterMs)
  if (first && first.run.scheduledTime <= earliest) yield ofRun(first, 'is from before its version was set')
  const firstTime = nextOccurrence(expression, Math.max(lastTime, request.endedAt))
  if (first && first.run.scheduledTime > firstTime)
    yield ofRun(first, `is the first of its version, and ${firstTime} is missing`)
  // The rest: whoever looks for the next one skips what is due by then.
  let expected = firstTime
  for (const [index, run] of runs.entries()) {
    const next = runs[index + 1]
    const nextTime = nextOccurrence(expression, run.run.scheduledTime)
    expected = skipped(expression, nextTime, latestRecordAt(run) - offset)
    if (next && next.run.scheduledTime > expected)
      yield ofRun(next, `follows on ${nameOf(run)}, and ${expected} is missing`)
  }
  if ((isSure || first) && expected + offset <= liveUntil)
    yield {
      about: `version ${version} of ${object}`,
      what: `was live until ${liveUntil}, and ${expected} is missing`,
      seen: [request.entry.seq, ...runs.slice(-1).flatMap(({ all }) => all.map(({ seq }) => seq))],
    }
}

/** The first time from `time` on that is later than `passed`. */
function skipped(expression: string, time: number, passed: number): number {
  return time > passed ? time : nextOccurrence(expression, passed)
}

/** When it was recorded, if it was told. */
function recordedAt({ all }: RunHistory): number {
  return eventsOf(all, 'due')[0]?.event.timestamp ?? 0
}

/** It was recorded by then. When a kill took the word of it, the first sign of it comes later. */
function latestRecordAt({ all }: RunHistory): number {
  const [due] = eventsOf(all, 'due')
  return due?.event.timestamp ?? ofKind(all, 'run')[0]?.call.startedAt ?? all[0]?.at ?? Infinity
}

/** With the process up, ticks are recorded as they come due. */
function* auditLateness(run: RunHistory, { epochs }: History): Generator<Violation> {
  for (const { event, exchange } of eventsOf(run.all, 'due')) {
    const upAt = epochs.get(exchange.call.epoch)?.readyAt ?? Infinity
    const lateMs = event.timestamp - Math.max(run.run.dueAt, upAt)
    if (lateMs > SOON_MS) yield ofRun(run, `was recorded ${lateMs} ms late`)
  }
}
