export { default } from './entry.ts'
export { ScheduleLoopObject } from './schedules-loop-object.ts'
export { UserSchedulesObject } from './schedules-object.ts'
export { Target } from './target.ts'
