export { AlarmTimeoutError, DurabilityAlarms, type NamedAlarm } from './alarms/alarms.ts'
export type { NamedAlarmEvent } from './alarms/events.ts'
export type {
  DurabilityAlarmsOptions,
  NamedAlarmHandler,
  NamedAlarmInfo,
  NamedAlarmMethod,
  NamedAlarmRetries,
} from './alarms/options.ts'
export type { Clock, Timer } from './core/clock.ts'
export type { AlarmRetry, SchedulerHelper, SchedulerPort } from './core/helper.ts'
export { DurabilityScheduler, type DurabilitySchedulerOptions } from './core/scheduler.ts'
export type { AlarmInfo, ObjectState, ObjectStorage, SqlCursor, SqlValue } from './core/state.ts'
export type { DescribedError } from './core/thrown.ts'
