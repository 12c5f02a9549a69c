import { api, scheduleAt } from './api.ts'
import { ApiError } from './api-error.ts'
import { LiveSchedules } from './live-schedules.ts'
import type { RunsPage, ScheduleDescription, SchedulesPage } from './types.ts'

/** The schedules as this viewer sees them. */
export const live: LiveSchedules = new LiveSchedules({
  page: ({ limit, cursor }) => api<SchedulesPage>('/schedules', { query: { limit, cursor } }),
  async one(id) {
    try {
      return await api<ScheduleDescription>(scheduleAt(id))
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return null
      throw error
    }
  },
  async runs(limit) {
    try {
      const { runs } = await api<RunsPage>('/runs', { query: { limit } })
      return runs
    } catch (error) {
      if (error instanceof ApiError && error.status === 403) return []
      throw error
    }
  },
})
