import { isLostDeadLetter } from './audit-deliveries.ts'
import { outcomesOf } from './audit-outcomes.ts'
import { eventsOf, historyOf, ofKind, type RunHistory } from './history.ts'
import type { Entry } from './log.ts'
import { PLANS } from './plan.ts'

/** What happened in a soak, counted from its log. */
export interface Summary {
  readonly kills: number
  /** Kills that fell while a run or a delivery was open. */
  readonly open: number
  readonly minutes: number
  /** Recorded runs, whether they were called or not. */
  readonly runs: number
  readonly called: number
  readonly interrupted: number
  readonly timedOut: number
  readonly deliveries: number
  /** Deliveries that were cut off by a kill. */
  readonly cut: number
  /** Outcomes that were delivered again after an answer in time: a kill came before its record. */
  readonly again: number
  readonly deadLetters: number
  /** Dead letters of which a kill took the word. */
  readonly untold: number
  readonly alarms: number
  readonly attempts: number
  readonly pulses: number
  readonly requests: number
}

export function summaryOf(entries: readonly Entry[]): Summary {
  const history = historyOf(entries)
  const { runs, exchanges, requests } = history
  const nameOfEach = runs.map((run) => outcomesOf(run)[0]?.outcome.error?.name)
  const endedWith = (name: string) =>
    nameOfEach.filter((other) => other === `ScheduledRun${name}Error`).length
  const deliveries = ofKind(exchanges, 'outcome')
  const untold = runs.filter((run) => isLostDeadLetter(run, history)).length
  const told = runs.filter(({ all }) => eventsOf(all, 'dead_lettered').length > 0).length
  const kills = entries.filter((entry) => entry.what === 'kill')
  return {
    kills: kills.length,
    open: kills.filter(({ runs, deliveries }) => runs + deliveries > 0).length,
    minutes: ((entries.at(-1)?.at ?? 0) - (entries[0]?.at ?? 0)) / 60_000,
    runs: runs.length,
    called: ofKind(exchanges, 'run').length,
    interrupted: endedWith('Interrupted'),
    timedOut: endedWith('Timeout'),
    deliveries: deliveries.length,
    cut: deliveries.filter(({ answer }) => answer === undefined).length,
    again: runs.filter((run) => isTakenAgain(run)).length,
    deadLetters: told + untold,
    untold,
    alarms: new Set(
      ofKind(exchanges, 'alarm').map(({ call }) => `${call.object} ${call.alarm.idempotencyKey}`),
    ).size,
    attempts: ofKind(exchanges, 'alarm').length,
    pulses: ofKind(exchanges, 'pulse').length,
    requests: requests.length,
  }
}

function isTakenAgain({ object, all }: RunHistory): boolean {
  const deliveries = ofKind(all, 'outcome')
  const taken = deliveries.findIndex(
    ({ answer, call }) =>
      answer?.status === 200 && answer.at < call.startedAt + PLANS[object].outcomeTimeoutMs,
  )
  return taken >= 0 && taken < deliveries.length - 1
}

/** The lines of the log that show a violation, with the starts and kills between them. */
export function excerpt(entries: readonly Entry[], seen: readonly number[]): string[] {
  const from = Math.min(...seen)
  const to = Math.max(...seen)
  const startedAt = entries[0]?.at ?? 0
  return entries
    .filter((entry) => entry.seq >= from && entry.seq <= to)
    .filter(
      (entry) =>
        seen.includes(entry.seq) ||
        ('of' in entry && seen.includes(entry.of)) ||
        ['spawn', 'ready', 'kill'].includes(entry.what),
    )
    .slice(0, 60)
    .map(({ at, ...entry }) => `  +${((at - startedAt) / 1_000).toFixed(3)} s ${JSON.stringify(entry)}`)
}
