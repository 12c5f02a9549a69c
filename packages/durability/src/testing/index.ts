export type { SimulatedAlarmInfo } from './alarm-service.ts'
export { SimulatedClock } from './clock.ts'
export type { SimulatedCosts } from './costs.ts'
export type { CrashAtWrite, SimulatedProgress, SimulatedSeam } from './crash-plan.ts'
export type { SimulatedCursor } from './cursor.ts'
export type { SimulatedDuration } from './duration.ts'
export { SimulatedCrash } from './errors.ts'
export type { SimulatedFault, SimulatedFaults } from './faults.ts'
export type { SimulatedLife } from './life.ts'
export {
  type SimulatedFactory,
  type SimulatedInstance,
  SimulatedObject,
  type SimulatedObjectOptions,
  simulateObject,
} from './object.ts'
export type { SimulatedState } from './state.ts'
export type { SimulatedStorage } from './storage.ts'
export { SimulatedWorld, type SimulatedWorldOptions } from './world.ts'
