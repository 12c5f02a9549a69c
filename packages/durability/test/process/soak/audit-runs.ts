import { eventsOf, type History, ofKind, type RunHistory, runOf } from './history.ts'
import { OBJECTS, type ObjectName, PLANS } from './plan.ts'
import type { Violation } from './violation.ts'

/** Each run is one run, is started once and not too early, in tick order, and within the limits of its object. */
export function* auditRuns({ runs }: History): Generator<Violation> {
  for (const run of runs) yield* auditRun(run)
  for (const object of OBJECTS) {
    const own = runs.filter((run) => run.object === object)
    yield* auditOrder(own)
    yield* auditOverlap(object, own)
    yield* auditDeliveriesAtOnce(object, own)
  }
}

export function nameOf({ object, run }: RunHistory): string {
  return `the run ${run.scheduledTime} of ${object}`
}

/** A violation by a run, shown by all that is known of it. */
export function ofRun(history: RunHistory, what: string): Violation {
  return { about: nameOf(history), what, seen: history.all.map(({ seq }) => seq) }
}

function* auditRun(history: RunHistory): Generator<Violation> {
  const { run, all } = history
  for (const { call } of all) {
    const { dueAt, version, idempotencyKey } = runOf(call) ?? run
    if (dueAt !== run.dueAt || version !== run.version || idempotencyKey !== run.idempotencyKey)
      yield ofRun(history, 'is told with different times, versions or keys')
  }
  if (!run.idempotencyKey.endsWith(`:${run.scheduledTime}`))
    yield ofRun(history, 'has the key of another run')

  const calls = ofKind(all, 'run')
  if (calls.length > 1) yield ofRun(history, `was run ${calls.length} times`)
  // What is told is durable by then, so that nothing is told twice.
  for (const type of ['due', 'started', 'settled', 'dead_lettered'] as const)
    if (eventsOf(all, type).length > 1) yield ofRun(history, `was told to be ${type} more than once`)

  if (calls.some(({ call }) => call.startedAt < run.dueAt)) yield ofRun(history, 'was run before it was due')
  if (eventsOf(all, 'due').some(({ event }) => event.timestamp < run.dueAt))
    yield ofRun(history, 'was recorded before it was due')
}

/** A run, and when something was done with it: in which process, and at which time there. */
interface Step {
  readonly history: RunHistory
  readonly epoch: number
  readonly at: number
}

function* auditOrder(runs: readonly RunHistory[]): Generator<Violation> {
  const recorded = runs.flatMap((history) =>
    eventsOf(history.all, 'due').map(({ event, exchange }) => ({
      history,
      epoch: exchange.call.epoch,
      at: event.timestamp,
    })),
  )
  yield* auditSteps(recorded, 'recorded')
  const started = runs.flatMap((history) =>
    ofKind(history.all, 'run').map(({ call }) => ({ history, epoch: call.epoch, at: call.startedAt })),
  )
  yield* auditSteps(started, 'started')
}

/** They are in the order of their nominal times: so must their steps be. */
function* auditSteps(steps: readonly Step[], what: string): Generator<Violation> {
  for (const [index, step] of steps.entries()) {
    const before = steps[index - 1]
    if (before === undefined) continue
    if (step.epoch > before.epoch || (step.epoch === before.epoch && step.at >= before.at)) continue
    const { about, seen } = ofRun(step.history, '')
    yield {
      about,
      what: `was ${what} before ${nameOf(before.history)}`,
      seen: [...seen, ...ofRun(before.history, '').seen],
    }
  }
}

/** A handler is in flight at least from the arrival of its call to its answer, or to the word that it was aborted. */
function* auditOverlap(object: ObjectName, runs: readonly RunHistory[]): Generator<Violation> {
  const spans = runs.flatMap((history) =>
    ofKind(history.all, 'run').map(({ seq, answer, call }) => ({
      history,
      seq,
      epoch: call.epoch,
      endSeq: Math.min(answer?.seq ?? Infinity, ofKind(history.all, 'aborted')[0]?.seq ?? Infinity),
    })),
  )
  const limit = PLANS[object].maxConcurrentRuns
  for (const { history, seq, epoch } of spans) {
    const open = spans.filter((other) => other.epoch === epoch && other.seq <= seq && other.endSeq > seq)
    if (open.length > limit)
      yield {
        about: nameOf(history),
        what: `was started while ${open.length - 1} others were in flight, of at most ${limit}`,
        seen: open.flatMap((other) => other.history.all.map((exchange) => exchange.seq)),
      }
  }
}

/** A delivery takes its slot until it is answered or timed out. */
function* auditDeliveriesAtOnce(object: ObjectName, runs: readonly RunHistory[]): Generator<Violation> {
  const { maxConcurrentDeliveries: limit, outcomeTimeoutMs } = PLANS[object]
  const deliveries = runs.flatMap((history) =>
    ofKind(history.all, 'outcome').map((exchange) => ({ history, ...exchange })),
  )
  for (const { history, seq, call } of deliveries) {
    const open = deliveries.filter(
      (other) =>
        other.call.epoch === call.epoch &&
        other.seq <= seq &&
        (other.answer?.seq ?? Infinity) > seq &&
        other.call.startedAt + outcomeTimeoutMs > call.startedAt + 20,
    )
    if (open.length > limit)
      yield {
        about: nameOf(history),
        what: `was delivered while ${open.length - 1} others were, of at most ${limit}`,
        seen: open.map((other) => other.seq),
      }
  }
}
