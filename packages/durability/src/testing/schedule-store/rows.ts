import type { DecisionRow, RunRow, ScheduleRow } from '../../schedules/store.ts'

/** Epoch ms. */
export const AT: number = Date.UTC(2026, 0, 1)

export function ids(rows: readonly { readonly id: string }[]): string[] {
  return rows.map(({ id }) => id)
}

export function schedule(given: Partial<ScheduleRow> & { readonly tags?: readonly string[] }): ScheduleRow {
  const { tags = [], ...row } = given
  return {
    id: 'one',
    namespace: 'default',
    workflow: 'w',
    definition: {
      input: { a: 1 },
      cron: null,
      everyMs: 60,
      every: 60,
      timezone: null,
      jitterMs: 0,
      jitter: null,
      overlap: 'allow',
      catchup: 'latest',
      tags,
      searchAttributes: null,
      priority: 0,
      concurrency: null,
      startAt: null,
      endAt: null,
      maxRuns: null,
      pauseAfterFailures: null,
    },
    note: null,
    paused: false,
    finished: false,
    nextWindow: null,
    nextFireAt: null,
    firstAttemptAt: null,
    attempts: 0,
    lastFireAt: null,
    lastRunId: null,
    fires: 0,
    lastError: null,
    failures: 0,
    createdAt: AT,
    updatedAt: AT,
    revision: 1,
    writes: 1,
    ...row,
  }
}

export function run(given: Partial<RunRow>): RunRow {
  const { scheduleId = 'one', scheduledTime = AT, manual = false } = given
  const id = `sched:${scheduleId}:${manual ? 'manual:' : ''}${scheduledTime}`
  return {
    id,
    workflow: 'w',
    kind: 'handler',
    input: null,
    namespace: 'default',
    tags: [],
    searchAttributes: null,
    priority: 0,
    scheduleId,
    scheduledTime,
    manual,
    revision: scheduleId === null ? null : 1,
    concurrencyKey: null,
    status: 'running',
    counted: false,
    createdAt: AT,
    startedAt: null,
    finishedAt: null,
    error: null,
    expiresAt: null,
    ...given,
  }
}

export function decision(given: Partial<DecisionRow>): DecisionRow {
  return {
    scheduleId: 'one',
    decision: 'skipped_overlap',
    scheduledTime: AT,
    from: null,
    to: null,
    decidedAt: AT,
    reason: null,
    ...given,
  }
}
