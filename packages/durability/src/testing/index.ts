export { SimulatedClock } from './clock.ts'
export type { SimulatedCosts } from './costs.ts'
export type { CrashAtWrite, SimulatedProgress, SimulatedSeam } from './crash-plan.ts'
export type { SimulatedDuration } from './duration.ts'
export { SimulatedCrash } from './errors.ts'
export { type CrashHistory, type CrashPoint, everyCrash, type PlanCrash } from './every-crash.ts'
export type { SimulatedFault, SimulatedFaults } from './faults.ts'
export { type SimulatedObject, simulateObject } from './object.ts'
export type {
  SimulatedAlarmInfo,
  SimulatedFactory,
  SimulatedInstance,
  SimulatedLife,
  SimulatedObjectOptions,
} from './object-options.ts'
export type { MakeStore, TestFramework } from './schedule-store/framework.ts'
export { describeScheduleStore } from './schedule-store-suite.ts'
export { type SimulatedEventSource, SimulatedWorld, type SimulatedWorldOptions } from './world.ts'
