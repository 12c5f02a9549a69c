import type { Clock } from '../core/clock.ts'
import type { AlarmCallTiming } from './alarm-calls.ts'
import type { SimulatedAlarmInfo } from './alarm-service.ts'
import type { SimulatedSeam } from './crash-plan.ts'
import type { SimulatedDuration } from './duration.ts'
import type { SimulatedLife } from './life.ts'

import type { SimulatedWorld } from './world.ts'

/** What an object's class has to have. */
export interface SimulatedInstance {
  alarm(info: SimulatedAlarmInfo): unknown
}

/**
 * Makes an instance as the platform does on the first use after a crash, of your class for example. The instance takes
 * its time from `clock`.
 */
export type SimulatedFactory<T extends SimulatedInstance> = (
  ctx: DurableObjectState,
  clock: Clock,
  life: SimulatedLife,
) => T

export interface SimulatedObjectOptions {
  /** Shares clock and order of events with other objects. Default: a world of its own. */
  readonly world?: SimulatedWorld
  /** What `ctx.id` is called, by `name` and as text. Default: `simulated-object`. */
  readonly id?: string
  /** The platform cuts an `alarm()` that runs longer, and runs it again. Default: 15 minutes. */
  readonly alarmLimit?: SimulatedDuration
  /**
   * Whether an awaited `getAlarm`, `setAlarm` or `deleteAlarm` ends the turn. The runtime promises neither; today it
   * stays in the same turn, which is the default.
   */
  readonly alarmCalls?: AlarmCallTiming
  /** Called at each seam, in order: a history to print. */
  readonly onSeam?: (seam: SimulatedSeam) => void
}
