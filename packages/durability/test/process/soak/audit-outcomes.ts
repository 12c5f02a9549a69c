import type { RunOutcome } from '../../../src/experimental/index.ts'
import { ofRun } from './audit-runs.ts'
import { type Exchange, eventsOf, type History, ofKind, type RunHistory } from './history.ts'
import type { CallOf } from './log.ts'
import { PLANS } from './plan.ts'
import { HEARD_MS, ROUNDING_MS, SOON_MS, type Violation } from './violation.ts'

/** Every run has one outcome, the same wherever it is told, and one that what happened justifies. */
export function* auditOutcomes(history: History): Generator<Violation> {
  for (const run of history.runs) {
    const told = outcomesOf(run)
    const [first] = told
    if (first === undefined) {
      yield ofRun(run, 'was recorded and never reported')
      continue
    }
    const contents = new Set(told.map(({ outcome }) => JSON.stringify([outcome.status, outcome.error])))
    if (contents.size > 1) yield ofRun(run, `is told with ${contents.size} different outcomes`)
    const problem = problemOf(run, first.outcome, first.exchange, history)
    if (problem !== undefined) yield ofRun(run, problem)
  }
}

export function outcomesOf({ all }: RunHistory): { outcome: RunOutcome; exchange: Exchange }[] {
  return all.flatMap((exchange) => {
    const { call } = exchange
    if (call.kind === 'outcome') return [{ outcome: call.outcome, exchange }]
    if (call.kind !== 'runEvent') return []
    const { event } = call
    if (event.type === 'dead_lettered') return [{ outcome: event.outcome, exchange }]
    // The two come from one outcome.
    if (event.type === 'settled')
      return [{ outcome: { status: event.outcome, error: event.error } as RunOutcome, exchange }]
    return []
  })
}

/** What is wrong with this outcome, as it was first told. */
function problemOf(
  run: RunHistory,
  { status, error }: RunOutcome,
  first: Exchange,
  history: History,
): string | undefined {
  const [call] = ofKind(run.all, 'run')
  const answer = call?.answer !== undefined && call.answer.seq < first.seq ? call.answer : undefined
  if (status === 'complete') {
    if (call === undefined || answer?.status !== 200) return 'is complete without having returned'
    const timeoutAt = call.call.startedAt + PLANS[run.object].runTimeoutMs
    return answer.at > timeoutAt + HEARD_MS ? 'is complete long after its time' : undefined
  }
  switch (error.name) {
    case 'Error':
      return answer?.status === 500 && error.message === 'The receiver answered 500'
        ? undefined
        : `failed with what it did not throw: ${error.message}`
    case 'ScheduledRunTimeoutError':
      return timeoutProblem(run, call, first)
    case 'ScheduledRunInterruptedError':
      return interruptionProblem(run, call, first, history)
    default:
      return `ended with a ${error.name}: ${error.message}`
  }
}

function timeoutProblem(
  { object, all }: RunHistory,
  call: Exchange<CallOf<'run'>> | undefined,
  first: Exchange,
): string | undefined {
  if (call === undefined) return 'timed out without having been run'
  const timeoutAt = call.call.startedAt + PLANS[object].runTimeoutMs
  const settledAt = eventsOf(all, 'settled')[0]?.event.timestamp ?? first.at
  if (settledAt < timeoutAt - ROUNDING_MS) return 'timed out before its time'
  if (call.answer && call.answer.at < timeoutAt - HEARD_MS) return 'timed out though it was answered'
  return undefined
}

/** A run is interrupted by the end of its process only, while it was open, and reported by the next tick. */
function interruptionProblem(
  run: RunHistory,
  call: Exchange<CallOf<'run'>> | undefined,
  first: Exchange,
  { epochs, runs }: History,
): string | undefined {
  const [started] = eventsOf(run.all, 'started')
  const epoch = call?.call.epoch ?? started?.exchange.call.epoch
  const [settled] = eventsOf(run.all, 'settled')
  const settledIn = (settled?.exchange ?? first).call.epoch
  if (settledIn === 1) return 'is interrupted before any kill'
  if (epoch === undefined) return undefined
  if (epoch >= settledIn) return 'is interrupted by the process that ran it'
  const killedAt = epochs.get(epoch)?.killedAt ?? Infinity
  if (call?.answer && killedAt > call.answer.at + SOON_MS) return 'is interrupted long after it was answered'
  if (call && killedAt > call.call.startedAt + PLANS[run.object].runTimeoutMs + SOON_MS)
    return 'is interrupted long after its time'
  const nextTickIn = Math.min(
    ...runs
      .filter(({ object }) => object === run.object)
      .flatMap(({ all }) => eventsOf(all, 'due').map(({ exchange }) => exchange.call.epoch))
      .filter((other) => other > epoch),
  )
  // A pass settles what it finds before it records its tick. Without the event it may have been earlier.
  if (settled && settledIn > nextTickIn) return 'is reported as interrupted later than by the next tick'
  return undefined
}
