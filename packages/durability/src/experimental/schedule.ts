import type { ObjectState } from '../core/state.ts'
import type { ScheduleDefinition } from './definition.ts'
import { scheduleOf } from './live-schedule.ts'
import type { DurabilityScheduleOptions } from './options.ts'
import { migrateSchema } from './schema.ts'
import type { LiveSchedule, ScheduleStatus, StoredSchedule } from './status.ts'

/**
 * One recurring schedule per object. Each tick records one run; runs may overlap, each is attempted once, and its
 * outcome is delivered at least once.
 *
 * @throws TypeError or RangeError at construction, naming the option; Error when the scheduler has a schedule already.
 */
export class DurabilitySchedule {
  readonly #live: LiveSchedule

  constructor(options: DurabilityScheduleOptions) {
    this.#live = scheduleOf(options)
  }

  /**
   * Stores the definition and its next tick, if `version` is higher than the stored one; resolves to whether it was.
   * The same version changes nothing but puts a lost alarm right. Everything is written before the first await.
   *
   * A tick that is already due is recorded as a run of the old version first. A nominal time still in its jitter delay
   * is kept if the expression is unchanged, dropped otherwise.
   *
   * Rejects with TypeError or RangeError for bad input, and with what `nextOccurrence` throws; then nothing is stored.
   */
  set(definition: ScheduleDefinition): Promise<boolean> {
    return this.#live.set(definition)
  }

  /**
   * Stops future ticks; resolves to whether a schedule was live. Runs already due or running finish and report.
   *
   * With a version it is ignored when the stored one is higher, and otherwise leaves a mark, so that a delayed `set` of
   * that version or a lower one cannot revive the schedule. Without one, any version may be set afterwards.
   *
   * Rejects with TypeError or RangeError for a bad version.
   */
  cancel(version?: number): Promise<boolean> {
    return this.#live.cancel(version)
  }

  /** The stored definition, or `undefined` when none was set or it was cancelled. */
  get(): StoredSchedule | undefined {
    return this.#live.get()
  }

  /** What the schedule is doing. Its cost does not grow with the number of waiting runs. */
  status(): ScheduleStatus {
    return this.#live.status()
  }

  /**
   * Goes to exactly the named schema (`'v1'`), or with `null` removes the tables and everything in them.
   *
   * @throws TypeError or RangeError for another target, DurabilityError when the stored schema is not known.
   */
  static migrate(ctx: ObjectState, target: string | null): void {
    migrateSchema(ctx, target)
  }
}
