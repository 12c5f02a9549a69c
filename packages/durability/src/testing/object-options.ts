import type { Clock } from '../core/clock.ts'
import type { AlarmInfo } from '../core/state.ts'
import type { SimulatedSeam } from './crash-plan.ts'
import type { SimulatedDuration } from './duration.ts'

import type { SimulatedWorld } from './world.ts'

/** What the platform passes to `alarm()`: all of it, where a call by other code passes what it likes. */
export type SimulatedAlarmInfo = Required<AlarmInfo>

/** When the promises of the alarm calls resolve. */
export type AlarmCallTiming = 'same turn' | 'later turn'

/** What a factory gets to tie its scenario to one instance's life. */
export interface SimulatedLife {
  /** True from the crash on. */
  readonly dead: boolean
  /**
   * An await of the outside world inside a handler, at which a crash can be planned. It takes a turn, and no time.
   * Never resolves in a dead instance.
   */
  seam(name: string): Promise<void>
  /**
   * Wraps a handler that acts on something outside the object, such as a test's list of calls. Code that still runs
   * when the instance dies cannot be stopped midway; through the guard it calls nothing any more, and what a handler
   * returns after the crash is never heard of.
   */
  guard<Args extends readonly unknown[], Result>(
    handler: (...args: Args) => Result | PromiseLike<Result>,
  ): (...args: Args) => Promise<Result>
  /** Kills this instance from within. Never resolves. */
  crash(): Promise<never>
}

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
