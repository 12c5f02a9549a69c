import type { SqlValue } from '../../src/core/state.ts'
import type { ScheduleStatus, StoredSchedule } from '../../src/experimental/status.ts'
import type { SimulatedObject } from '../../src/testing/index.ts'
import { checkAlarm, checkProgress, type Standing } from './alarm-invariants.ts'
import { definitionViolations } from './definition-invariants.ts'
import { Excuses, LATE_MS } from './excuses.ts'
import { NamedAlarms } from './named-alarms.ts'
import type { OutsideWorld } from './outside-world.ts'
import { RunInvariants } from './run-invariants.ts'
import type { Settings } from './settings.ts'
import type { SpinGuard } from './spin-guard.ts'
import { statusViolations } from './status-invariants.ts'
import { RUNNING, Storage, type Stored, type StoredDefinition, type StoredRun, WAITING } from './stored.ts'
import type { Subject } from './subject.ts'
import { at } from './trace.ts'

/** Watches what is committed, from one turn to the next, and knows what may follow what. */
export class Invariants {
  readonly excuses: Excuses = new Excuses()
  readonly alarms: NamedAlarms
  readonly #runs = new RunInvariants()
  #definition: StoredDefinition | undefined
  #seen: Stored | undefined
  /** Since the last tick. */
  #alarmsSet = 0
  readonly #storage: Storage
  readonly #object: SimulatedObject<Subject>
  readonly #outside: OutsideWorld
  readonly #spin: SpinGuard
  readonly #settings: () => Settings

  constructor(
    object: SimulatedObject<Subject>,
    outside: OutsideWorld,
    spin: SpinGuard,
    settings: () => Settings,
  ) {
    this.#object = object
    this.#outside = outside
    this.#spin = spin
    this.#settings = settings
    this.alarms = new NamedAlarms(outside)
    this.#storage = new Storage(object, settings().hasAlarms)
  }

  /** The row of a run as the running turn sees it. */
  rowOf(scheduledTime: number): StoredRun | undefined {
    return this.#storage.read().runs.find((row) => row.scheduledTime === scheduledTime)
  }

  /** Rows that other code removed are nobody's debt any more. */
  excuseRows(): void {
    this.#outside.runs.clear()
    this.#runs.forget()
    this.#definition = undefined
  }

  /** A durable write was made; it may yet be lost with its turn. */
  wrote(statement: string, bindings: readonly SqlValue[], writes: number): void {
    this.#storage.wrote(statement, writes)
    if (statement === 'setAlarm') this.#alarmsSet += 1
    // The last three columns of a condition are key, nominal time and state.
    const isRunChange = statement.includes('durability_schedule_runs SET') || statement.startsWith('DELETE')
    const known = isRunChange ? this.#outside.runs.get(Number(bindings.at(-2))) : undefined
    if (known !== undefined) known.writes += 1
  }

  /** The instance has died, and what its last turn wrote is undone. */
  died(): void {
    this.#storage.forget()
    this.alarms.crashed()
  }

  /** Compares what is stored with what was stored before. Call it only where the last turn is committed. */
  observe(): Stored {
    const stored = this.#storage.read()
    if (stored === this.#seen) return stored
    this.#seen = stored
    const now = this.#object.world.clock.now()
    const { definition } = stored
    const isChanged = definition?.version !== this.#definition?.version
    if (isChanged || definition?.expression !== this.#definition?.expression) this.excuses.changedAt = now
    const latestAt = this.#latestAt()
    const { failedDeliveries, ticks } = this.#outside.tally
    this.#runs.observe(stored.runs, { outside: this.#outside, settings: this.#settings(), now, latestAt })
    const recorded = (definition?.lastRunId ?? 0) - (this.#definition?.lastRunId ?? 0)
    const { clock } = this.#object.world
    const failed = this.#outside.tally.failedDeliveries - failedDeliveries
    const ended = this.#outside.tally.ticks - ticks
    // Behind the platform's clock an alarm comes too early twice, before a pass waits for its time: that of a tick, and
    // that of each delivery.
    const isBehind = clock.platformNow() > clock.now()
    this.#spin.allow((recorded + failed + ended) * (isBehind ? 3 : 1))
    if (failed > 0) this.excuses.extraordinary = true
    this.#checkCost(stored, recorded)
    this.#checkDefinition(definition, stored.runs, now)
    if (this.#settings().hasAlarms) this.alarms.observe(stored.alarms, this.#settings().alarmAttempts)
    return stored
  }

  /** Where everything has settled: what is to come is provided for, and what can go on does. */
  check(): void {
    const stored = this.observe()
    const standing = this.#standing()
    checkAlarm(stored, standing, this.#settings(), this.#outside, this.excuses)
    checkProgress(stored, standing, this.#settings(), this.#outside, this.excuses)
  }

  /** Right after a commit: whatever the instance still has in mind, rows and alarm alone must do. */
  checkCommit(): void {
    const standing = { ...this.#standing(), alive: false, openPasses: 0 }
    checkAlarm(this.observe(), standing, this.#settings(), this.#outside, this.excuses)
  }

  /** What the object says of itself, just now. */
  statusViolations(status: ScheduleStatus, told: StoredSchedule | undefined): string[] {
    const stored = this.#storage.read()
    const held = stored.runs.filter(({ scheduledTime, state }) => {
      const known = this.#outside.runs.get(scheduledTime)
      return state === RUNNING && known?.ended === undefined && known?.invokedBy === this.#outside.instances
    })
    return statusViolations(status, told, stored, this.#outside.inFlight - held.length)
  }

  /** Nothing is left to do: what was recorded has been reported, and no trace of it remains. */
  checkEnd(): void {
    for (const { scheduledTime } of this.#outside.runs.values()) {
      this.#outside.violate(`the row of ${at(scheduledTime)} is still there`)
    }
    const { alarmAt, inAlarm, world } = this.#object
    if (alarmAt !== null) this.#outside.violate(`an alarm is left at ${at(alarmAt)}`)
    if (inAlarm) this.#outside.violate('a pass is left open')
    if (world.clock.pendingTimers > 0) this.#outside.violate('a timer is left')
    if (this.#storage.read().alarms.length > 0) this.#outside.violate('a named alarm is left')
  }

  #standing(): Standing {
    const { alarmAt, inAlarm, alive, world } = this.#object
    const openPasses = alive ? this.#object.instance.openPasses : 0
    return { now: world.clock.now(), alarmAt, inAlarm, alive, openPasses }
  }

  /** When a tick that is recorded now was to be recorded at the latest, if it was due by then. */
  #latestAt(): number | undefined {
    const { clock } = this.#object.world
    const { alarm, heldUntilMs, changedAt } = this.excuses
    const isExcused =
      alarm ||
      clock.elapsedMs <= heldUntilMs ||
      clock.platformNow() !== clock.now() ||
      this.#outside.hasJustFailed(this.#settings().minDelayMs + LATE_MS)
    // A change may find a tick due, and start it by an alarm one millisecond later.
    return isExcused ? undefined : changedAt + LATE_MS
  }

  /** From one ordinary tick to the next one alarm is armed. Call it before the definition is taken for seen. */
  #checkCost({ definition, runs }: Stored, recorded: number): void {
    if (recorded === 0) return
    const { hasAlarms, interruptedWithinMs } = this.#settings()
    const { excuses } = this
    const last = runs.at(-1)
    const isOnTime = last?.state !== WAITING && last?.dueAt === this.#object.world.clock.now()
    const isOrdinary =
      definition?.nextTime !== null &&
      !hasAlarms &&
      interruptedWithinMs === Number.POSITIVE_INFINITY &&
      recorded === 1 &&
      !excuses.extraordinary &&
      isOnTime
    if (isOrdinary && this.#alarmsSet !== 1) {
      this.#outside.violate(`${this.#alarmsSet} alarms were set for one ordinary run`)
    }
    this.#alarmsSet = 0
    const { clock } = this.#object.world
    const isStuck = runs.filter(({ state }) => state === RUNNING).length < this.#outside.inFlight
    excuses.extraordinary =
      definition?.nextTime === null ||
      runs.some(({ state, attempts }) => state === WAITING || attempts > 0) ||
      isStuck ||
      this.#standing().openPasses === 0 ||
      clock.platformNow() !== clock.now()
  }

  #checkDefinition(definition: StoredDefinition | undefined, runs: readonly StoredRun[], now: number): void {
    const before = this.#definition
    this.#definition = definition
    if (before === undefined) return
    if (definition === undefined) this.#outside.violate('the schedule is gone')
    else for (const what of definitionViolations(before, definition, runs, now)) this.#outside.violate(what)
  }
}
