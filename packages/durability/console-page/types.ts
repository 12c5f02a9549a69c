export type {
  Decision,
  PreviewedWindow,
  RunDescription,
  ScheduleDescription,
} from '../src/schedules/index.node.ts'

import type {
  Decision,
  PreviewedWindow,
  RunDescription,
  ScheduleDescription,
} from '../src/schedules/index.node.ts'

export interface SchedulesPage {
  readonly schedules: readonly ScheduleDescription[]
  readonly cursor: string | null
  /** What could not be asked, where the schedules are spread over objects. */
  readonly failed?: readonly string[]
}

export interface RunsPage {
  readonly runs: readonly RunDescription[]
  readonly cursor: string | null
  readonly failed?: readonly string[]
}

export interface Windows {
  readonly windows: readonly PreviewedWindow[]
}

export interface Decisions {
  readonly decisions: readonly Decision[]
}
