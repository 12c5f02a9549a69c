export type { JitterInput, ScheduleDefinition } from './definition.ts'
export { ScheduledRunInterruptedError, ScheduledRunTimeoutError } from './errors.ts'
export type { ScheduledRunEvent, ScheduledRunEventDetails } from './events.ts'
export type { NextOccurrence } from './occurrences.ts'
export type { DurabilityScheduleOptions, OutcomeRetries } from './options.ts'
export type { OutcomeRun, RunIdentity, RunOutcome, ScheduledRun } from './outcome.ts'
export {
  DurabilitySchedule,
  type ScheduleStatus,
  type StoredSchedule,
} from './schedule.ts'
