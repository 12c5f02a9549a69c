import type { Directory } from './directory.ts'
import type { DemoSchedule } from './schedule.ts'
import type { Target } from './target.ts'

/** The bindings in `wrangler.toml`. */
export interface DemoEnv {
  /** One object per schedule, by its name. */
  readonly SCHEDULES: DurableObjectNamespace<DemoSchedule>
  /** What the schedules call: one object per schedule, of the same name. */
  readonly TARGETS: DurableObjectNamespace<Target>
  /** The names in use, in the one object `directory`. */
  readonly DIRECTORY: DurableObjectNamespace<Directory>
}
