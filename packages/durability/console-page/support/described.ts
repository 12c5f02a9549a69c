import type { RunDescription, ScheduleDescription } from '../types.ts'

export const NOW: number = Date.UTC(2026, 2, 2, 8)

/** A schedule as the API answers it. */
export function described(id: string, more: Partial<ScheduleDescription> = {}): ScheduleDescription {
  return {
    id,
    workflow: 'quick',
    input: null,
    namespace: 'default',
    cron: '0 9 * * *',
    every: null,
    everyMs: null,
    timezone: 'UTC',
    jitter: null,
    jitterMs: 0,
    overlap: 'allow',
    catchup: 'latest',
    tags: [],
    searchAttributes: null,
    priority: 0,
    concurrency: null,
    startAt: null,
    endAt: null,
    maxRuns: null,
    pauseAfterFailures: null,
    paused: false,
    finished: false,
    note: null,
    nextFireAt: NOW + 3_600_000,
    lastFireAt: null,
    lastRunId: null,
    fires: 0,
    lastError: null,
    createdAt: NOW,
    updatedAt: NOW,
    revision: 1,
    ...more,
  }
}

export type Failure = Pick<RunDescription, 'id' | 'status' | 'error'>
