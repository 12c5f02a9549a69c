export * from './index.node.ts'
export { DurabilityScheduleObject, type ObjectVerb, type ScheduleObjectOptions } from './object.ts'
