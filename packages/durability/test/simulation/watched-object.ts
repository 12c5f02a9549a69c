import type { ObjectState } from '../../src/core/state.ts'
import {
  type SimulatedObject,
  type SimulatedProgress,
  type SimulatedSeam,
  SimulatedWorld,
  simulateObject,
} from '../../src/testing/index.ts'
import { START_AT } from './expressions.ts'
import { Faults } from './faults.ts'
import { Invariants } from './invariants.ts'
import { OutsideWorld } from './outside-world.ts'
import { type Settings, settingsOf } from './settings.ts'
import { Sites } from './sites.ts'
import { SpinGuard } from './spin-guard.ts'
import { Subject, type SubjectOptions } from './subject.ts'
import { Trace } from './trace.ts'
import { watched } from './watch.ts'

export interface ModelOptions extends SubjectOptions {
  /** What goes first of timers and alarms at one instant. */
  readonly ties?: 'timers first' | 'alarms first'
  /** Whether an awaited alarm call ends the turn. */
  readonly alarmCalls?: 'same turn' | 'later turn'
  /** Helpers fail on purpose; refusals by `faults` need no mention. */
  readonly mayFail?: boolean
  /** Keeps all that happened, for tests to look at and to print. Default true; a long history has no room for it. */
  readonly keepsAll?: boolean
  /** Notes the places of the library that it comes to. */
  readonly notesSites?: boolean
}

/** Seams at which the turn before is committed, so that what is stored can be looked at. */
const COMMITTED: ReadonlySet<SimulatedSeam['kind']> = new Set([
  'sync',
  'timer',
  'alarm',
  'alarm done',
  'announced',
])

/** Timers and alarms in one step of a history; more of them is code that spins. */
const MAX_STEPS = 20_000

/** A history has broken a promise: what follows says nothing. */
export class Violated extends Error {}

/** An object with a schedule, the world around it, and the invariants that are checked whatever happens to it. */
export class WatchedObject {
  readonly object: SimulatedObject<Subject>
  readonly outside: OutsideWorld
  readonly invariants: Invariants
  readonly trace: Trace
  readonly faults: Faults = new Faults()
  readonly sites: Sites | undefined
  /** Kinds of seams and statements of writes that it came to. */
  readonly kinds: Set<string> = new Set()
  /** How far it had come at each crash. */
  readonly deaths: SimulatedProgress[] = []
  protected readonly spin: SpinGuard = new SpinGuard()
  protected current: ModelOptions
  protected settings: Settings
  #unchecked = true
  /** What was excused before the last alarm came is right when its pass has ended. */
  #excusesAtAlarm = 0
  /** Alarms out of turn that are still to come: each waits for the end of a pass that is open. */
  protected unordered = 0
  /** Failed alarms in a row. */
  #rejections = 0
  /** The last instance whose death was noticed. */
  #buriedInstance = 0

  constructor(options: ModelOptions = {}) {
    const world = new SimulatedWorld({
      startAt: START_AT,
      ties: options.ties ?? 'timers first',
      maxSteps: MAX_STEPS,
    })
    const { clock } = world
    this.current = options
    this.settings = settingsOf(options)
    this.trace = new Trace(() => clock.now(), options.keepsAll ?? true)
    this.sites = options.notesSites ? new Sites() : undefined
    this.outside = new OutsideWorld({
      now: () => clock.now(),
      elapsedMs: () => clock.elapsedMs,
      settings: () => this.settings,
      keepsAll: options.keepsAll ?? true,
      trace: this.trace,
      rowOf: (scheduledTime) => this.invariants.rowOf(scheduledTime),
    })
    // Looks at the object wherever everything has settled, also where it has just died.
    const model = this
    world.add({
      get nextMs() {
        return model.#unchecked || model.#isUnburied() ? clock.elapsedMs : undefined
      },
      act: () => this.check(),
    })
    this.object = simulateObject(
      (ctx, objectClock, life) => {
        this.bury()
        this.sites?.instanceStarted()
        const timed = this.sites?.watchTimers(objectClock, () => this.object.progress.seams) ?? objectClock
        return new Subject(this.#watch(ctx), timed, life, this)
      },
      {
        world,
        alarmCalls: options.alarmCalls ?? 'same turn',
        onSeam: (seam) => this.#onSeam(seam),
      },
    )
    this.invariants = new Invariants(this.object, this.outside, this.spin, () => this.settings)
  }

  get now(): number {
    return this.object.world.clock.now()
  }

  get options(): ModelOptions {
    return this.current
  }

  /** What was violated, with the history that led there. */
  failure(about: string): string | undefined {
    const { violations } = this.outside
    if (violations.length === 0) return undefined
    return `${about}\n${violations.join('\n')}\n\nHistory:\n${this.trace.lines.join('\n')}`
  }

  /** A helper failed, or `alarm()` rejected: right only where something was made to fail. */
  failed(what: string, isAlarm: boolean): void {
    this.outside.note(what)
    if (isAlarm) this.#backOff()
    this.outside.failed()
    this.invariants.excuses.extraordinary = true
    this.spin.allow(2)
    if (this.faults.hits === 0 && !this.current.mayFail) this.outside.violate(what)
  }

  /** The platform waits before it runs a failed alarm again, longer from one to the next. */
  #backOff(): void {
    this.#rejections += 1
    const { excuses } = this.invariants
    const longestMs = 2_000 * 2 ** this.#rejections
    excuses.heldUntilMs = Math.max(excuses.heldUntilMs, this.outside.elapsedMs + longestMs)
  }

  #watch(state: ObjectState): ObjectState {
    return watched(state, this.faults, {
      writes: () => this.object.progress.writes,
      onWrite: (site, bindings, [from, to]) => {
        const kind = `write: ${site}`
        this.trace.pass(kind)
        this.kinds.add(kind)
        this.sites?.onWrite(kind, from, to)
        if (site === 'setAlarm') this.trace.passInstant(Number(bindings[0]))
        this.invariants.wrote(site, bindings, to - from + 1)
      },
      onCall: (kind) => this.sites?.onCall(kind),
      onRefused: (what) => this.#refused(what),
    })
  }

  /** Rows whose alarm was refused stay without it until it is tried again. */
  #refused(what: 'write' | 'alarm'): void {
    this.outside.note(`a${what === 'alarm' ? 'n alarm' : ' write'} is refused`)
    this.outside.tally.refusals += 1
    this.outside.failed()
    this.invariants.excuses.extraordinary = true
    this.spin.allow(2)
    if (what === 'alarm') this.invariants.excuses.excuseAlarm()
  }

  #onSeam(seam: SimulatedSeam): void {
    const { kind, name } = seam
    const { excuses } = this.invariants
    this.#unchecked = true
    const site = name === undefined ? `seam: ${kind}` : `seam: ${name}`
    this.trace.pass(site)
    this.kinds.add(site)
    this.sites?.onSeam(site, seam)
    if (kind === 'alarm') this.#onAlarm()
    // What the pass recorded was excused.
    if (kind === 'alarm done') this.invariants.observe()
    // A pass that failed put nothing right; the platform may run it again, or not.
    const isRight = this.#excusesAtAlarm === excuses.count && this.outside.failedMs < this.outside.elapsedMs
    if (kind === 'alarm done' && isRight) {
      excuses.alarm = false
      this.#rejections = 0
    }
    // Handed off: it costs alarms that an ordinary run does not.
    if (kind === 'alarm done' && this.outside.runs.size > 0) excuses.extraordinary = true
    if (COMMITTED.has(kind)) this.invariants.checkCommit()
  }

  #onAlarm(): void {
    const { excuses } = this.invariants
    this.outside.note('alarm')
    this.outside.tally.alarms += 1
    this.#excusesAtAlarm = excuses.count
    if (this.unordered > 0) {
      this.unordered -= 1
      excuses.extraordinary = true
    }
    const { minDelayMs, interruptedWithinMs, handoffMs } = this.settings
    const { clock } = this.object.world
    // Behind the platform's clock the alarm of a hand-off comes at once, and the next pass holds again.
    const held = clock.platformNow() > clock.now() ? handoffMs : Number.POSITIVE_INFINITY
    if (this.spin.alarmCame(clock.elapsedMs, Math.min(minDelayMs, interruptedWithinMs, held))) {
      this.outside.violate('alarms come over and over')
    }
  }

  #isUnburied(): boolean {
    return this.outside.dead && this.#buriedInstance !== this.outside.instances
  }

  /** Notes the death of an instance, before there is another. */
  protected bury(): void {
    if (!this.#isUnburied()) return
    this.#buriedInstance = this.outside.instances
    this.deaths.push(this.object.progress)
    this.invariants.died()
    this.invariants.observe()
    this.outside.note(`instance ${this.outside.instances} is dead`)
    this.outside.trouble('crash')
    this.outside.tally.crashes += 1
    this.invariants.excuses.extraordinary = true
    this.spin.allow(2)
  }

  protected check(): void {
    this.#unchecked = false
    this.bury()
    this.invariants.check()
    const failure = this.failure('A promise was broken')
    if (failure !== undefined) throw new Violated(failure)
  }
}
