export { DurabilityAlarms, type NamedAlarm } from './alarms/alarms.ts'
export type { NamedAlarmEvent, NamedAlarmEventDetails } from './alarms/events.ts'
export type {
  DurabilityAlarmsOptions,
  NamedAlarmHandler,
  NamedAlarmInfo,
  NamedAlarmMethod,
  NamedAlarmRetries,
} from './alarms/options.ts'
export type { Clock, Timer } from './core/clock.ts'
export { DurabilityError } from './core/errors.ts'
export type { AlarmRetry, SchedulerHelper, SchedulerPort } from './core/helper.ts'
export { DurabilityScheduler, type DurabilitySchedulerOptions } from './core/scheduler.ts'
export type { AlarmInfo, ObjectState, ObjectStorage, SqlCursor, SqlValue } from './core/state.ts'
export type { DescribedError } from './core/thrown.ts'
