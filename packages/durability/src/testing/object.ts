import type { SqlValue } from '../core/state.ts'
import type { AlarmCallTiming } from './alarm-calls.ts'
import { AlarmService, type SimulatedAlarmInfo } from './alarm-service.ts'
import { CostCounter, type SimulatedCosts } from './costs.ts'
import { type CrashAtWrite, CrashPlan, type SimulatedProgress } from './crash-plan.ts'
import { durationMs, type SimulatedDuration } from './duration.ts'
import { SimulatedCrash } from './errors.ts'
import { SimulatedFaults } from './faults.ts'
import { Life } from './life.ts'
import type { SimulatedFactory, SimulatedInstance, SimulatedObjectOptions } from './object-options.ts'
import { SimulatedState } from './state.ts'
import { DurableStore } from './store.ts'
import { SimulatedWorld } from './world.ts'

interface Current<T> {
  readonly life: Life
  readonly ctx: SimulatedState
  readonly instance: T
}

/** An object whose storage and alarm outlive its instances. See `simulateObject`. */
export class SimulatedObject<T extends SimulatedInstance> {
  readonly world: SimulatedWorld
  readonly faults: SimulatedFaults = new SimulatedFaults()
  readonly #factory: SimulatedFactory<T>
  readonly #id: string
  readonly #alarmCalls: AlarmCallTiming
  readonly #store: DurableStore
  readonly #plan: CrashPlan
  readonly #costs = new CostCounter()
  readonly #alarms: AlarmService
  readonly #leaveWorld: () => void
  #current: Current<T> | undefined

  constructor(factory: SimulatedFactory<T>, options: SimulatedObjectOptions = {}) {
    this.world = options.world ?? new SimulatedWorld()
    this.#factory = factory
    this.#id = options.id ?? 'simulated-object'
    this.#alarmCalls = options.alarmCalls ?? 'same turn'
    this.#store = new DurableStore(this.world.turns)
    this.#plan = new CrashPlan(options.onSeam)
    this.#alarms = new AlarmService({
      clock: this.world.clock,
      turns: this.world.turns,
      store: this.#store,
      limitMs: durationMs(options.alarmLimit ?? '15 minutes'),
      receiver: () => this.#receiver(),
      isBlocked: () => this.#current?.life.gate.isClosed === true,
    })
    this.#leaveWorld = this.world.add(this.#alarms)
  }

  /** The living instance, made when there is none. */
  get instance(): T {
    return this.#live().instance
  }

  /** The living instance's state, as a test would use it in the place of other code of the object. */
  get ctx(): DurableObjectState {
    return this.#live().ctx
  }

  /** Whether an instance is in memory. */
  get alive(): boolean {
    return this.#current !== undefined
  }

  /** The alarm that the platform holds, epoch ms; `null` when there is none, and while `alarm()` handles it. */
  get alarmAt(): number | null {
    const { at, delivering } = this.#store.committedAlarm
    return delivering ? null : at
  }

  /** Whether an `alarm()` has started and not ended. */
  get inAlarm(): boolean {
    return this.#alarms.running
  }

  /** Reads storage from outside, without an instance and without cost; also what a turn has not committed yet. */
  rows<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    this.#store.bury()
    return this.#store.database.peek<Row>(query, bindings)
  }

  /**
   * Calls the instance as a request does: waits while the object is blocked, and gets its answer once what the object
   * has written is durable. Rejects when the object dies before: with `SimulatedCrash`, or with what the object itself
   * died of, such as the reason it gave to `ctx.abort()`.
   */
  call<Result>(request: (instance: T) => Result | PromiseLike<Result>): Promise<Result> {
    const { instance, life } = this.#live()
    return new Promise((resolve, reject) => {
      const unmourned = life.onDeath(() => reject(life.reason ?? new SimulatedCrash()))
      const answered =
        <Answer>(settle: (answer: Answer) => void) =>
        (answer: Answer): void =>
          this.#store.whenCommitted(() => {
            unmourned()
            settle(answer)
          })
      life.gate.pass(() => {
        if (life.dead) return
        try {
          Promise.resolve(request(instance)).then(answered(resolve), answered(reject))
        } catch (error) {
          answered(reject)(error)
        }
      })
    })
  }

  /** See `SimulatedWorld.advance`. */
  advance(duration: SimulatedDuration): Promise<void> {
    return this.world.advance(duration)
  }

  /** See `SimulatedWorld.settle`. */
  settle(): Promise<void> {
    return this.world.settle()
  }

  /**
   * Drops the instance with its timers, promises and the writes of an unfinished turn. The next alarm, or the next use
   * of `instance`, makes a new one. An alarm that was being handled is delivered again, at once when time moves.
   */
  crash(): void {
    this.#current?.life.kill()
  }

  /**
   * Crashes at the n-th durable write (an exec that changes something, or an alarm set or deleted) counted as
   * `progress.writes` is. `before`: the turn with the write is lost, and nothing that follows the write in that turn
   * is seen outside (by way of `life.guard`). `after`: right after that turn is committed, before anyone hears of it.
   */
  crashAt(at: CrashAtWrite): void {
    this.#plan.crashAtWrite(at)
  }

  /** Crashes at the n-th seam, counted as `progress.seams` is, in the place of what would have happened there. */
  crashAtAwait(seam: number): void {
    this.#plan.crashAtSeam(seam)
  }

  /** Durable writes and seams so far: run a history once to count them, then once for each with a crash there. */
  get progress(): SimulatedProgress {
    return this.#plan.progress
  }

  /** Announces a seam of the living instance. Inside handlers use the factory's `life`, which knows whose it is. */
  seam(name: string): Promise<void> {
    return this.#live().life.seam(name)
  }

  /**
   * Delivers an alarm without moving time, then settles: the stored one when it is due, with `early` also when it is
   * not. `duplicate` delivers the last one once more, as when the platform's note of the first delivery is lost; the
   * stored one stays. While an `alarm()` runs, the delivery waits for its end. Resolves `false` when there is no such
   * alarm.
   */
  async deliverAlarm(how: { readonly early?: boolean; readonly duplicate?: boolean } = {}): Promise<boolean> {
    await this.settle()
    if (!this.#alarms.force(how.duplicate ? 'duplicate' : how.early ? 'early' : 'due')) return false
    await this.world.advance(0)
    return true
  }

  /** Keeps alarms from being delivered for that long: they come late. */
  holdAlarms(duration: SimulatedDuration): void {
    this.#alarms.holdBack(durationMs(duration))
  }

  /** Moves or, with `null`, loses the stored alarm, durably, as other code or a fault of the platform might. */
  overwriteAlarm(at: number | null): void {
    this.#store.bury()
    this.#store.commitAlarm({ at, delivering: false })
  }

  get costs(): SimulatedCosts {
    return this.#costs.total
  }

  resetCosts(): void {
    this.#costs.reset()
  }

  /** Frees the database and takes the object out of its world. Needed where many objects are made. */
  close(): void {
    this.crash()
    this.#leaveWorld()
    this.#store.close()
  }

  #live(): Current<T> {
    this.#current ??= this.#start()
    return this.#current
  }

  #start(): Current<T> {
    this.#store.bury()
    const { clock, turns } = this.world
    const life = new Life({
      clock,
      turns,
      plan: this.#plan,
      costs: this.#costs,
      onDeath: (dead) => this.#onDeath(dead),
    })
    const ctx = new SimulatedState(this.#id, {
      life,
      store: this.#store,
      plan: this.#plan,
      costs: this.#costs,
      faults: this.faults,
      alarmCalls: this.#alarmCalls,
    })
    let instance: T
    try {
      instance = this.#factory(ctx, life.clock, life)
    } catch (error) {
      life.kill()
      throw error
    }
    if (life.dead) throw new SimulatedCrash()
    return { life, ctx, instance }
  }

  #onDeath(life: Life): void {
    if (this.#current?.life === life) this.#current = undefined
    this.#alarms.onDeath(life)
    this.#store.doom(life)
  }

  #receiver(): { life: Life; blocked: boolean; alarm: (info: SimulatedAlarmInfo) => unknown } {
    const { life, instance } = this.#live()
    return { life, blocked: life.gate.isClosed, alarm: (info) => instance.alarm(info) }
  }
}

/**
 * Simulates a Durable Object, with the storage, the alarm and the failures of a real one, in time that moves only
 * when told.
 *
 * ```ts
 * const object = simulateObject((ctx, clock) => new Reminder(ctx, clock))
 * object.instance.remindIn(60_000)
 * await object.advance('90 s')
 * object.crash()
 * ```
 */
export function simulateObject<T extends SimulatedInstance>(
  factory: SimulatedFactory<T>,
  options?: SimulatedObjectOptions,
): SimulatedObject<T> {
  return new SimulatedObject(factory, options)
}
