export * from './index.node.ts'
export { DurabilityScheduleObject, type ScheduleObjectOptions } from './object.ts'
