import { check } from '../core/checks.ts'
import type { SqlValue } from '../core/state.ts'
import { AlarmService } from './alarm-service.ts'
import { checkInstant, checkOneOf } from './checks.ts'
import { CostCounter, type SimulatedCosts } from './costs.ts'
import { type CrashAtWrite, CrashPlan, type SimulatedProgress } from './crash-plan.ts'
import { durationMs, type SimulatedDuration } from './duration.ts'
import { SimulatedCrash } from './errors.ts'
import { SimulatedFaults } from './faults.ts'
import { Life } from './life.ts'
import type {
  AlarmCallTiming,
  SimulatedAlarmInfo,
  SimulatedFactory,
  SimulatedInstance,
  SimulatedObjectOptions,
} from './object-options.ts'
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
  /** What it lives in: its clock, and the order of events. */
  readonly world: SimulatedWorld
  /** Makes its storage fail. */
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

  /** Use `simulateObject`, which says the same in fewer words. */
  constructor(factory: SimulatedFactory<T>, options: SimulatedObjectOptions = {}) {
    check('factory', factory, 'function')
    const { id = 'simulated-object', alarmCalls = 'same turn', alarmLimit = '15 minutes', onSeam } = options
    check('options.id', id, 'string')
    checkOneOf('options.alarmCalls', alarmCalls, ['same turn', 'later turn'])
    if (onSeam !== undefined) check('options.onSeam', onSeam, 'function')
    this.world = options.world ?? new SimulatedWorld()
    this.#factory = factory
    this.#id = id
    this.#alarmCalls = alarmCalls
    this.#store = new DurableStore(this.world.turns)
    this.#plan = new CrashPlan(onSeam)
    this.#alarms = new AlarmService({
      clock: this.world.clock,
      turns: this.world.turns,
      store: this.#store,
      limitMs: durationMs(alarmLimit, 'options.alarmLimit'),
      receiver: () => this.#receiver(),
      isBlocked: () => this.#current?.life.gate.isClosed === true,
    })
    this.#leaveWorld = this.world.add(this.#alarms)
  }

  /** The living instance, made when there is none. Calls on it are plain calls: they neither wait nor are held back. */
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

  /**
   * Reads storage by a query from outside, without an instance and without cost; also what a turn has not committed yet.
   *
   * @throws Error for a query that would write, and what SQLite throws.
   */
  rows<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): Row[] {
    this.#store.bury()
    return this.#store.database.peek<Row>(query, bindings)
  }

  /**
   * Calls the instance as a request does: waits while the object is blocked, and gets its answer once what the object
   * has written is durable. Rejects when the object dies before: with `SimulatedCrash`, or with what the object itself
   * died of, such as the reason it gave to `ctx.abort()`. A request that waits for time is answered while time moves.
   */
  call<Result>(request: (instance: T) => Result | PromiseLike<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      const { instance, life } = this.#live()
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
          Promise.resolve(life.run(() => request(instance))).then(answered(resolve), answered(reject))
        } catch (error) {
          answered(reject)(error)
        }
      })
    })
  }

  /** Like `call`, made again for as long as the answer is a `SimulatedCrash`: as a client does whose object died. */
  async callUntilAnswered<Result>(request: (instance: T) => Result | PromiseLike<Result>): Promise<Result> {
    for (;;) {
      try {
        return await this.call(request)
      } catch (error) {
        if (!(error instanceof SimulatedCrash)) throw error
      }
    }
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
   * Crashes at the n-th durable write (an exec or a call by key that changes something, an alarm set or deleted, a
   * `deleteAll`) counted as `progress.writes` is. `before`: the turn with the write is lost, and nothing that follows the write in that turn
   * is seen outside (by way of `life.guard`). `after`: right after that turn is committed, before anyone hears of it.
   * Several can be planned.
   *
   * @throws RangeError when that write has been made, or is no integer from 1.
   */
  crashAt(at: CrashAtWrite): void {
    this.#plan.crashAtWrite(at)
  }

  /**
   * Crashes at the n-th seam, counted as `progress.seams` is, in the place of what would have happened there. A seam is
   * where the object waits, or is about to be called: see `SimulatedSeam`. Several can be planned.
   *
   * @throws RangeError when that seam has been passed, or is no integer from 1.
   */
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

  /**
   * Keeps alarms from being delivered for that long: they come late.
   *
   * @throws RangeError for what is no duration.
   */
  holdAlarms(duration: SimulatedDuration): void {
    this.#alarms.holdBack(durationMs(duration))
  }

  /**
   * Moves the stored alarm to an epoch ms or, with `null`, loses it, durably, as other code or a fault of the platform
   * might.
   *
   * @throws RangeError for what is neither.
   */
  overwriteAlarm(at: number | null): void {
    if (at !== null) checkInstant('at', at)
    this.#store.bury()
    this.#store.commitAlarm({ at, delivering: false })
  }

  /** What the object's code has cost since the start, or since `resetCosts()`, over all its instances. */
  get costs(): SimulatedCosts {
    return this.#costs.total
  }

  /** Sets all counters of `costs` to 0. */
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
      instance = life.run(() => this.#factory(ctx, life.clock, life))
    } catch (error) {
      life.kill()
      throw error
    }
    if (life.dead) throw new SimulatedCrash()
    this.world.lives.add(life)
    return { life, ctx, instance }
  }

  #onDeath(life: Life): void {
    this.world.lives.delete(life)
    if (this.#current?.life === life) this.#current = undefined
    this.#alarms.onDeath(life)
    this.#store.doom(life)
  }

  #receiver(): { life: Life; blocked: boolean; alarm: (info: SimulatedAlarmInfo) => unknown } {
    const { life, instance } = this.#live()
    return { life, blocked: life.gate.isClosed, alarm: (info) => life.run(() => instance.alarm(info)) }
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
 *
 * The factory is called when the instance is first used, and again after each crash. Your class takes `ctx` as it does
 * from the platform, and its time from `clock`; or call `object.world.installGlobals()` for code that uses `Date` and
 * `setTimeout`.
 *
 * @throws TypeError or RangeError for an option, naming it and its value.
 */
export function simulateObject<T extends SimulatedInstance>(
  factory: SimulatedFactory<T>,
  options?: SimulatedObjectOptions,
): SimulatedObject<T> {
  return new SimulatedObject(factory, options)
}
