import { type Exchange, type History, ofKind, type RequestHistory } from './history.ts'
import type { Action, CallOf } from './log.ts'
import { ALARMS, type AlarmName, OBJECTS, type ObjectName, PLANS } from './plan.ts'
import { HEARD_MS, ROUNDING_MS, SOON_MS, type Violation } from './violation.ts'

/** One setting of a name; its time is used once, so that it tells one from another. */
interface Occurrence {
  readonly object: ObjectName
  readonly name: AlarmName
  readonly at: number
  readonly attempts: readonly Exchange<CallOf<'alarm'>>[]
  readonly events: readonly Exchange<CallOf<'alarmEvent'>>[]
  readonly request: RequestHistory | undefined
  /** The next request about the name that was not refused: it replaces or removes what is pending. */
  readonly next: RequestHistory | undefined
}

/** Every alarm runs at least once, not before its time, and its attempts are counted. */
export function* auditAlarms(history: History): Generator<Violation> {
  for (const object of OBJECTS)
    for (const name of ALARMS) {
      const occurrences = occurrencesOf(object, name, history)
      for (const occurrence of occurrences)
        for (const what of problemsOf(occurrence, history)) yield ofAlarm(occurrence, what)
      yield* auditOneAtATime(occurrences)
    }
}

function ofAlarm({ object, name, at, attempts, events, request }: Occurrence, what: string): Violation {
  const seen = [...attempts, ...events].map(({ seq }) => seq)
  return {
    about: `the alarm ${name} ${at} of ${object}`,
    what,
    seen: request ? [request.entry.seq, ...seen] : seen,
  }
}

type AlarmAction = Extract<Action, { do: 'setAlarm' | 'cancelAlarm' }>

function occurrencesOf(object: ObjectName, name: AlarmName, history: History): Occurrence[] {
  const requests = history.requests.flatMap((request) => {
    const { action } = request.entry
    const isAbout = action.do === 'setAlarm' || action.do === 'cancelAlarm'
    return isAbout && request.entry.object === object && action.name === name ? [{ action, request }] : []
  })
  const attempts = ofKind(history.exchanges, 'alarm').filter(
    ({ call }) => call.object === object && call.alarm.name === name,
  )
  const events = ofKind(history.exchanges, 'alarmEvent').filter(
    ({ call }) => call.object === object && call.event.name === name,
  )
  const timeOf = (action: AlarmAction) => (action.do === 'setAlarm' ? [action.at] : [])
  const times = new Set([
    ...requests.flatMap(({ action }) => timeOf(action)),
    ...attempts.map(({ call }) => call.alarm.scheduledTime),
  ])
  return [...times].map((at) => {
    const index = requests.findIndex(({ action }) => timeOf(action)[0] === at)
    return {
      object,
      name,
      at,
      attempts: attempts.filter(({ call }) => call.alarm.scheduledTime === at),
      events: events.filter(({ call }) => call.event.scheduledTime === at),
      request: requests[index]?.request,
      next: index < 0 ? undefined : requests[index + 1]?.request,
    }
  })
}

function* problemsOf(occurrence: Occurrence, { epochs }: History): Generator<string> {
  const { object, name, at, attempts, events, request, next } = occurrence
  const { alarmTimeoutMs, alarmAttempts } = PLANS[object]
  const maxAttempts = alarmAttempts[name]
  const killedAt = (epoch: number) => epochs.get(epoch)?.killedAt ?? Infinity
  const ended = events.filter(({ call }) => ['completed', 'dead_lettered'].includes(call.event.type))
  const last = attempts.at(-1)
  if (request === undefined) yield 'was never set'
  if (attempts.length === 0 && request?.result && next === undefined) yield 'never ran'
  if (new Set(attempts.map(({ call }) => call.alarm.idempotencyKey)).size > 1) yield 'has several keys'
  if (ended.length > 1) yield 'ended more than once'

  for (const [index, { call, seq }] of attempts.entries()) {
    const { attempt } = call.alarm
    const before = attempts[index - 1]
    const epochsPassed = call.epoch - (before?.call.epoch ?? request?.entry.epoch ?? call.epoch)
    const counted = before?.call.alarm.attempt ?? 0
    if (call.startedAt < at) yield 'ran before its time'
    if (attempt <= counted) yield `ran as attempt ${attempt} after attempt ${counted}`
    // Each kill may take one that was counted and not yet called.
    if (attempt > counted + 1 + epochsPassed) yield `ran as attempt ${attempt} after attempt ${counted}`
    if (attempt > maxAttempts) yield `ran as attempt ${attempt} of ${maxAttempts}`
    if (ended.some((end) => end.seq < seq)) yield 'ran after it had ended'
    if (before === undefined) continue
    const { answer } = before
    const timeoutAt = before.call.startedAt + alarmTimeoutMs
    const isAcknowledged = answer?.status === 200 && answer.at < timeoutAt - HEARD_MS
    if (isAcknowledged && (epochsPassed === 0 || killedAt(before.call.epoch) > answer.at + SOON_MS))
      yield 'ran again after it had returned'
    const isFailed = answer !== undefined && answer.status !== 200
    if (epochsPassed === 0 && !isFailed && call.startedAt < timeoutAt - ROUNDING_MS)
      yield `ran as attempt ${attempt} while attempt ${counted} had not ended`
  }
  for (const { call } of ended)
    if (call.event.type === 'dead_lettered' && call.event.attempt !== maxAttempts)
      yield `is given up after ${call.event.attempt} of ${maxAttempts} attempts`
    else if (call.event.type === 'completed' && !attempts.some(({ answer }) => answer?.status === 200))
      yield 'is complete without having returned'
  // The one under way when it was replaced may still begin; no other.
  const replacedAt = next?.result ? next.endedAt : Infinity
  if (attempts.filter(({ call }) => call.startedAt > replacedAt).length > 1)
    yield 'goes on after it was replaced'
  if (ended.length > 0 || last === undefined || next !== undefined) return
  // The word of its end was taken by a kill, at once after it.
  const endedAt = last.answer?.at ?? last.call.startedAt + alarmTimeoutMs
  const isSuccess = last.answer?.status === 200
  const isCut = last.answer === undefined && last.call.alarm.attempt >= maxAttempts
  if (!(isSuccess || last.call.alarm.attempt >= maxAttempts)) yield 'was given up with attempts left'
  else if (!isCut && killedAt(last.call.epoch) > endedAt + SOON_MS) yield 'ended without a word'
}

/** A replacement runs after the handler that is under way. */
function* auditOneAtATime(occurrences: readonly Occurrence[]): Generator<Violation> {
  for (const occurrence of occurrences) {
    const { alarmTimeoutMs } = PLANS[occurrence.object]
    for (const { seq, call } of occurrence.attempts)
      for (const other of occurrences)
        for (const open of other.attempts) {
          const isOpen = open.seq < seq && (open.answer?.seq ?? Infinity) > seq
          const isTimedOut = call.startedAt >= open.call.startedAt + alarmTimeoutMs - ROUNDING_MS
          if (open.call.epoch === call.epoch && isOpen && !isTimedOut && other !== occurrence)
            yield ofAlarm(occurrence, `ran while the one for ${other.at} was running`)
        }
  }
}
