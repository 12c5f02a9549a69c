import { api, scheduleAt } from './api.ts'
import { ApiError } from './api-error.ts'
import { LiveSchedules } from './live-schedules.ts'
import type { RunsPage, ScheduleDescription, SchedulesPage } from './types.ts'

/** `null` when it is gone. */
export async function readSchedule(id: string): Promise<ScheduleDescription | null> {
  try {
    return await api<ScheduleDescription>(scheduleAt(id))
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null
    throw error
  }
}

/** The schedules as this viewer sees them. */
export const live: LiveSchedules = new LiveSchedules({
  page: ({ limit, cursor }) => api<SchedulesPage>('/schedules', { query: { limit, cursor } }),
  one: readSchedule,
  runs: async (limit) => (await api<RunsPage>('/runs', { query: { limit } })).runs,
})

/** Whether that was a 401; then the sign-in shows at once, instead of after the next look. */
export function isSignedOut(error: unknown): boolean {
  const isIt = error instanceof ApiError && error.status === 401
  if (isIt && live.state === 'ready') live.start()
  return isIt
}
