import type { ScheduleDefinition } from './definition.ts'

/** What `get` answers. */
export interface StoredSchedule {
  readonly expression: string
  readonly version: number
  /** ms; the offset that was drawn. */
  readonly jitterMs: number
  /** Epoch ms, the nominal time of the next tick; `undefined` once the schedule has ended. */
  readonly nextAt: number | undefined
}

/** What `status` answers. */
export interface ScheduleStatus {
  /** What is stored, also by a cancelled schedule. */
  readonly version: number | undefined
  readonly state: 'none' | 'live' | 'ended' | 'cancelled'
  /** Runs that started and have no outcome. */
  readonly running: number
  /** Runs that wait for a slot. */
  readonly waiting: number
  /** Outcomes that are not yet acknowledged. */
  readonly undelivered: number
  /** Slots kept by handlers that timed out and have not settled. */
  readonly stuck: number
}

/** What `DurabilitySchedule` does; documented there. */
export interface LiveSchedule {
  set(definition: ScheduleDefinition): Promise<boolean>
  cancel(version?: number): Promise<boolean>
  get(): StoredSchedule | undefined
  status(): ScheduleStatus
}
