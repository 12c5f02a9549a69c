import type { Decision, ScheduleDescription } from './types.ts'
import { relativeTime } from './words.ts'

/** How a schedule stands, in one word. */
export type Standing = 'failing' | 'late' | 'paused' | 'finished' | 'fine'

/** ms after which something that is due counts as late: a Cron Trigger comes once a minute, and may take a moment. */
const LATE_MS = 90_000

/** @param failure What its last run failed with. */
export function standingOf(schedule: ScheduleDescription, now: number, failure: string | null): Standing {
  if (schedule.paused) return 'paused'
  if (schedule.finished) return 'finished'
  if (schedule.lastError !== null || failure !== null) return 'failing'
  if (schedule.nextFireAt !== null && now - schedule.nextFireAt > LATE_MS) return 'late'
  return 'fine'
}

/** Why it does not fire, and what became of its last window when that was not a run. */
export function reasons(
  schedule: ScheduleDescription,
  decisions: readonly Decision[],
  now: number,
  failure: string | null,
): readonly string[] {
  const said: string[] = []
  const { paused, finished, nextFireAt, startAt, endAt, maxRuns, fires, lastError } = schedule
  if (paused) {
    const pausedAt = decisions.find(({ decision }) => decision === 'paused')?.decidedAt
    said.push(`It is paused${pausedAt === undefined ? '' : `, since ${relativeTime(pausedAt, now)}`}.`)
    said.push('Resumed, it goes on with the next window; nothing is caught up.')
  } else if (finished) {
    if (maxRuns !== null && fires >= maxRuns)
      said.push(`It is finished: it has fired ${fires} times, as maxRuns says.`)
    else if (endAt !== null && endAt <= now) said.push('It is finished: its endAt has passed.')
    else said.push('It is finished: there is no later window.')
  } else if (standingOf(schedule, now, failure) === 'late' && nextFireAt !== null) {
    said.push(`It was due ${relativeTime(nextFireAt, now)}, and nothing has fired it since.`)
    said.push(
      'Either nothing has driven the engine (its alarm, a Cron Trigger, a poller), or its store has failed.',
    )
  } else if (startAt !== null && startAt > now) {
    said.push(`It starts ${relativeTime(startAt, now)}.`)
  }
  if (lastError !== null) said.push(`The last failure: ${lastError}`)
  if (failure !== null) said.push(`The last run failed: ${failure}`)
  const [last] = decisions
  const text = last === undefined ? undefined : PASSED_OVER[last.decision]
  if (text !== undefined && last !== undefined) {
    const isSaid = last.reason === lastError
    said.push(`The last window ${text}${last.reason && !isSaid ? `: ${last.reason}` : ''}.`)
  }
  return said
}

const PASSED_OVER: Readonly<Record<string, string>> = {
  skipped_overlap: 'was skipped, for the run before it was still going',
  skipped_catchup: 'was not caught up',
  start_failed: 'was not started',
  superseded: 'was superseded by a change',
}

export const DECISION_WORDS: Readonly<Record<string, string>> = {
  fired: 'Fired',
  skipped_overlap: 'Skipped: overlap',
  skipped_catchup: 'Not caught up',
  start_failed: 'Start failed',
  superseded: 'Superseded',
  paused: 'Paused',
  resumed: 'Resumed',
}
