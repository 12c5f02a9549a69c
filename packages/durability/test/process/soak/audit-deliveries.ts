import { ofRun } from './audit-runs.ts'
import { type Exchange, eventsOf, type History, ofKind, type RunHistory } from './history.ts'
import type { CallOf } from './log.ts'
import { PLANS } from './plan.ts'
import { HEARD_MS, ROUNDING_MS, SOON_MS, type Violation } from './violation.ts'

type Delivery = Exchange<CallOf<'outcome'>>

/**
 * A delivery that is marked and cut off before its call arrives counts, and the receiver never sees it. Each takes a kill
 * in the few ms between the two: more than these never fall on one run.
 */
const MOST_UNSEEN = 2

/** Outcomes are delivered until they are acknowledged or given up, and each attempt is counted as it should be. */
export function* auditDeliveries(history: History): Generator<Violation> {
  for (const run of history.runs) {
    const book = bookOf(run, history)
    for (const [index, delivery] of book.deliveries.entries()) {
      const { attempt } = delivery.call.run
      const problem = problemBefore(book, book.deliveries[index - 1], {
        attempt,
        epoch: delivery.call.epoch,
        seq: delivery.seq,
        at: delivery.call.startedAt,
      })
      if (problem !== undefined) yield ofRun(run, `its delivery as attempt ${attempt} ${problem}`)
    }
    yield* auditEnd(run, book)
  }
}

/** Whether it was given up in a process that was killed before it could tell. */
export function isLostDeadLetter(run: RunHistory, history: History): boolean {
  const book = bookOf(run, history)
  return !isOver(run, book) && isGivenUpUntold(book)
}

/** What is known of the deliveries of one run. */
interface Book {
  readonly run: RunHistory
  readonly deliveries: readonly Delivery[]
  readonly maxAttempts: number
  readonly timeoutMs: number
  /** The processes that made the outcome; others inherit it. */
  readonly makers: ReadonlySet<number>
  readonly killedAt: (epoch: number) => number
  readonly lastKilled: number
}

function bookOf(run: RunHistory, { epochs }: History): Book {
  const { all } = run
  const { maxAttempts, outcomeTimeoutMs } = PLANS[run.object]
  const killed = [...epochs.values()].filter(({ killedAt }) => killedAt < Infinity)
  return {
    run,
    deliveries: ofKind(all, 'outcome'),
    maxAttempts,
    timeoutMs: outcomeTimeoutMs,
    makers: new Set(
      [...ofKind(all, 'run'), ...eventsOf(all, 'started').map(({ exchange }) => exchange)].map(
        ({ call }) => call.epoch,
      ),
    ),
    killedAt: (epoch) => epochs.get(epoch)?.killedAt ?? Infinity,
    lastKilled: Math.max(0, ...killed.map(({ epoch }) => epoch)),
  }
}

/** The next thing that happens to an outcome: a delivery, or that it is given up, which is like one attempt too many. */
interface Next {
  readonly attempt: number
  readonly epoch: number
  readonly seq: number
  readonly at: number
}

function problemBefore(book: Book, previous: Delivery | undefined, next: Next): string | undefined {
  const { run, deliveries } = book
  if (ofKind(run.all, 'gone').some(({ seq }) => seq < next.seq)) return 'comes after its row was gone'
  if (eventsOf(run.all, 'dead_lettered').some(({ exchange }) => exchange.seq < next.seq))
    return 'comes after it was given up'
  const counted = Math.max(
    0,
    ...eventsOf(run.all, 'outcome_retry')
      .filter(({ exchange }) => exchange.seq < next.seq)
      .map(({ event }) => event.attempt),
  )
  if (previous === undefined) {
    const firstEpoch = run.all[0]?.call.epoch ?? next.epoch
    return outside(next.attempt, counted + 1, 1 + Math.min(next.epoch - firstEpoch, MOST_UNSEEN))
  }
  const { attempt } = previous.call.run
  const failure = failureOf(book, previous, next.at)
  if (next.epoch === previous.call.epoch) {
    if (failure === undefined) return `follows on attempt ${attempt}, which had not failed`
    return outside(next.attempt, attempt + 1, attempt + 1)
  }
  if (isAcknowledged(book, previous) && isKilledLate(book, previous))
    return `follows on attempt ${attempt}, which had been acknowledged long before the kill`
  const isFirst = deliveries.find(({ call }) => call.epoch === previous.call.epoch) === previous
  const isMarked = isFirst && !book.makers.has(previous.call.epoch)
  const unseen = Math.min(next.epoch - previous.call.epoch - 1, MOST_UNSEEN)
  return outside(
    next.attempt,
    Math.max(counted + 1, attempt + (isMarked ? 1 : 0)),
    attempt + (isMarked || failure !== undefined ? 1 : 0) + unseen,
  )
}

function outside(attempt: number, least: number, most: number): string | undefined {
  if (attempt < least) return `should be ${least}: an attempt was not counted`
  return attempt > Math.max(least, most) ? `should be at most ${most}: one was counted too many` : undefined
}

/** Whether its caller saw it fail by `at`. */
function failureOf(book: Book, { call, answer }: Delivery, at: number): 'failed' | 'timed out' | undefined {
  const timeoutAt = call.startedAt + book.timeoutMs
  const endAt = Math.min(at, book.killedAt(call.epoch))
  if (answer !== undefined && answer.status !== 200) return 'failed'
  if (endAt < timeoutAt - ROUNDING_MS) return undefined
  return answer === undefined || answer.at > timeoutAt - HEARD_MS ? 'timed out' : undefined
}

/** It was answered in time: that its caller heard of it is another matter. */
function isAcknowledged({ timeoutMs }: Book, { call, answer }: Delivery): boolean {
  return answer?.status === 200 && answer.at < call.startedAt + timeoutMs
}

function isKilledLate(book: Book, { call, answer }: Delivery): boolean {
  const endedAt = answer?.at ?? call.startedAt + book.timeoutMs
  return book.killedAt(call.epoch) > endedAt + SOON_MS
}

function* auditEnd(run: RunHistory, book: Book): Generator<Violation> {
  const { deliveries, maxAttempts } = book
  const last = deliveries.at(-1)
  for (const { event, exchange } of eventsOf(run.all, 'dead_lettered')) {
    const { attempts, timestamp: at } = event
    if (attempts !== maxAttempts) yield ofRun(run, `is given up after ${attempts} of ${maxAttempts} attempts`)
    const next = { attempt: maxAttempts + 1, epoch: exchange.call.epoch, seq: exchange.seq, at }
    const before = deliveries.filter(({ seq }) => seq < exchange.seq).at(-1)
    const problem = problemBefore(book, before, next)
    if (problem !== undefined) yield ofRun(run, `its end as a dead letter ${problem}`)
  }
  if (isOver(run, book) || isGivenUpUntold(book)) return
  if (last === undefined) yield ofRun(run, 'its outcome is never delivered')
  else yield ofRun(run, `ends unacknowledged with attempt ${last.call.run.attempt} of ${maxAttempts}`)
}

function isOver({ all }: RunHistory, book: Book): boolean {
  const last = book.deliveries.at(-1)
  if (ofKind(all, 'gone').length + eventsOf(all, 'dead_lettered').length > 0) return true
  return last !== undefined && isAcknowledged(book, last)
}

/** All attempts are made, and a kill took the word of it: at once, or after a marked one that it cut off was counted. */
function isGivenUpUntold(book: Book): boolean {
  const last = book.deliveries.at(-1)
  if (last === undefined || last.call.run.attempt < book.maxAttempts) return false
  const { epoch } = last.call
  if (epoch > book.lastKilled) return false
  const isInherited = !book.makers.has(epoch)
  const isCut = failureOf(book, last, Infinity) === undefined
  return isCut ? isInherited && epoch < book.lastKilled : !isKilledLate(book, last)
}
