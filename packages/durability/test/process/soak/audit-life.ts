import { type History, ofKind, type RequestHistory } from './history.ts'
import { type Entry, isStatus } from './log.ts'
import { OBJECTS, type ObjectName, PLANS } from './plan.ts'
import { SOON_MS, type Violation } from './violation.ts'

/** The objects come back by themselves, answer as they should, tell of no fault, and leave nothing behind. */
export function* auditLife(history: History): Generator<Violation> {
  for (const object of OBJECTS) {
    yield* auditComebacks(object, history)
    yield* auditInstances(object, history)
    yield* auditPulses(object, history)
    yield* auditEnd(object, history)
  }
  for (const request of history.requests) yield* auditRequest(request)
  for (const entry of history.entries) yield* auditPrinted(entry)
  for (const { call, seq } of ofKind(history.exchanges, 'helperFailed'))
    if (call.helper !== 'pulse')
      yield { about: call.object, what: `its helper ${call.helper} failed: ${call.message}`, seen: [seq] }
}

/** Without any request, an object with a live schedule calls after each start. */
function* auditComebacks(object: ObjectName, { epochs, requests, exchanges }: History): Generator<Violation> {
  const { intervalsMs, maxJitterMs } = PLANS[object]
  const withinMs = Math.max(...intervalsMs) + maxJitterMs + SOON_MS
  const own = requests.filter(({ entry }) => entry.object === object)
  for (const { epoch, spawnedAt, readyAt, killedAt } of epochs.values()) {
    const signs = own.filter(({ entry }) => entry.epoch < epoch).flatMap(signOf)
    const last = signs.at(-1)
    const firstRequestAt = own.find(({ entry }) => entry.epoch === epoch)?.entry.at ?? Infinity
    const calledAt = exchanges.find(({ call }) => call.object === object && call.epoch === epoch)?.at
    const endAt = Math.min(killedAt, firstRequestAt, calledAt ?? Infinity)
    if (last?.isLive && endAt > readyAt + withinMs)
      yield {
        about: `${object} in process ${epoch}, started at ${spawnedAt}`,
        what: `did nothing for ${withinMs} ms`,
        seen: [last.seq],
      }
  }
}

/** What a request shows of whether a schedule is live from then on; when a kill took its answer, that it may not be. */
function signOf({ entry, result }: RequestHistory): { seq: number; isLive: boolean }[] {
  const { seq, action } = entry
  if (isStatus(result?.result)) return [{ seq, isLive: result.result.state === 'live' }]
  if ((action.do !== 'set' && action.do !== 'cancel') || result?.result === false) return []
  return [{ seq, isLive: action.do === 'set' && result !== undefined }]
}

/** Nothing but a kill ends an instance here. */
function* auditInstances(object: ObjectName, { exchanges }: History): Generator<Violation> {
  const instances = new Map<number, string>()
  for (const { call, seq } of exchanges) {
    if (call.object !== object) continue
    const known = instances.get(call.epoch) ?? call.instance
    instances.set(call.epoch, call.instance)
    if (known !== call.instance)
      yield { about: `${object} in process ${call.epoch}`, what: 'was started anew', seen: [seq] }
  }
}

/** Each count of the user's helper is told once; only a kill can take one. */
function* auditPulses(object: ObjectName, { exchanges }: History): Generator<Violation> {
  const pulses = ofKind(exchanges, 'pulse').filter(({ call }) => call.object === object)
  for (const [index, { call, seq }] of pulses.entries()) {
    const before = pulses[index - 1]
    if (before === undefined) continue
    const steps = call.count - before.call.count
    if (steps < 1 || steps > 1 + call.epoch - before.call.epoch)
      yield {
        about: `the helper of ${object}`,
        what: `went from ${before.call.count} to ${call.count}`,
        seen: [before.seq, seq],
      }
  }
}

function* auditRequest({ entry, result, refused }: RequestHistory): Generator<Violation> {
  const about = `a request to ${entry.object}`
  if (refused) yield { about, what: `was refused: ${refused.error}`, seen: [entry.seq, refused.seq] }
  if (entry.expected !== undefined && result !== undefined && result.result !== entry.expected)
    yield {
      about,
      what: `was answered ${result.result}, not ${entry.expected}`,
      seen: [entry.seq, result.seq],
    }
}

function* auditPrinted(entry: Entry): Generator<Violation> {
  if (entry.what === 'printed')
    yield { about: 'the Worker', what: `printed ${entry.line}`, seen: [entry.seq] }
}

/** When all has ended, nothing is left. */
function* auditEnd(object: ObjectName, history: History): Generator<Violation> {
  const statuses = history.requests.flatMap(({ entry, result }) =>
    entry.object === object && entry.action.do === 'status' && isStatus(result?.result)
      ? [{ seq: entry.seq, status: result.result }]
      : [],
  )
  const last = statuses.at(-1)
  if (last === undefined) {
    yield { about: object, what: 'was not asked for its status at the end', seen: [] }
    return
  }
  const { running, waiting, undelivered, stuck, rows, alarms, alarmAt } = last.status
  if (running + waiting + undelivered + stuck + rows + alarms.length > 0 || alarmAt !== null)
    yield { about: object, what: `is not finished: ${JSON.stringify(last.status)}`, seen: [last.seq] }
}
