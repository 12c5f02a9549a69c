export { type D1Like, type D1StatementLike, d1Store } from './d1-store.ts'
export type { ScheduleDefinition } from './definition.ts'
export type { ScheduleDescription } from './description.ts'
export { type DispatchOptions, dispatch } from './dispatch.ts'
export { durableObjectStore, type SqlStoreOptions } from './durable-object-store.ts'
export type { Duration } from './durations.ts'
export { DurabilityEngine, type DurabilityEngineOptions, type EngineSchedules } from './engine.ts'
export {
  ConcurrencyLimitError,
  EngineDrainingError,
  InvalidInputError,
  InvalidScheduleError,
  ScheduleAlreadyExistsError,
  ScheduleContentionError,
  ScheduleNotFoundError,
  StartTimeoutError,
  StoreNotCapableError,
  WorkflowNotRegisteredError,
} from './errors.ts'
export type { ScheduleFilter } from './filters.ts'
export type { Decision } from './history.ts'
export type { JsonValue } from './json.ts'
export { memoryStore } from './memory-store.ts'
export type {
  OutsideStatus,
  RegisteredHandler,
  RegisteredOutside,
  RunToStart,
  ValidateInput,
} from './registered.ts'
export type { HandlerWorkflow, WorkflowLike } from './registered-of.ts'
export {
  type Answer,
  type ObjectVerb,
  type Placement,
  type PlainError,
  type ScheduleObjectStub,
  ShardCountError,
  ShardError,
} from './remote.ts'
export { type RemoteSchedules, remoteSchedules } from './remote-schedules.ts'
export type { Page, RunDescription, RunFilter, RunStatus, StartOptions } from './runs.ts'
export {
  type PartialPage,
  type ScheduleObjects,
  type ShardedOptions,
  type ShardedSchedules,
  shardedSchedules,
} from './sharded.ts'
export type {
  Awaitable,
  Catchup,
  DecisionKind,
  DecisionRow,
  ExpectedSchedule,
  FireResult,
  FireUnit,
  Overlap,
  Retention,
  RunConditions,
  RunKind,
  RunPatch,
  RunQuery,
  RunRow,
  ScheduleKey,
  SchedulePatch,
  ScheduleQuery,
  ScheduleRow,
  ScheduleStore,
  StoredDefinition,
  StoredRunStatus,
} from './store.ts'
export type { Schedules } from './verbs.ts'
export type { PreviewedWindow } from './windows.ts'
export {
  type WorkflowBinding,
  type WorkflowInstanceLike,
  type WorkflowOptions,
  workflow,
} from './workflow.ts'
