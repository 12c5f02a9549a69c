import type { Directory } from './directory.ts'
import type { DemoSchedule } from './schedule.ts'
import type { Target } from './target.ts'
import type { DemoSchedules } from './user-schedules.ts'

/** The Worker's own objects. They need no bindings: `ctx.exports` has every class that the main module exports. */
export interface DemoObjects {
  /** One object per schedule, by its name. */
  readonly DemoSchedule: DurableObjectNamespace<DemoSchedule>
  /** What the schedules call: one object per schedule, of the same name. */
  readonly Target: DurableObjectNamespace<Target>
  /** The names in use, in the one object `directory`. */
  readonly Directory: DurableObjectNamespace<Directory>
  /** The schedules that users create, in the one object `demo`. */
  readonly DemoSchedules: DurableObjectNamespace<DemoSchedules>
}

/** The type of `ctx.exports` is global, and this repository holds more than one Worker; so it is said here. */
export function objectsOf(ctx: Pick<ExecutionContext, 'exports'>): DemoObjects {
  return ctx.exports as unknown as DemoObjects
}
