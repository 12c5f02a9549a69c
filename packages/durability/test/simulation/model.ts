import type { ObjectState } from '../../src/core/state.ts'
import { DurabilitySchedule } from '../../src/experimental/schedule.ts'
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
import { at, Trace } from './trace.ts'
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

/** How long a history may go on after its last step: longer than any retry of the scenarios. */
const END_HORIZON_MS = 60 * 60_000

/** Timers and alarms in one step of a history; more of them is code that spins. */
const MAX_STEPS = 20_000

/** A history has broken a promise: what follows says nothing. */
export class Violated extends Error {}

/**
 * One object with a schedule, the world around it, and the invariants that hold whatever happens to it. Every call is
 * made again until it is answered, as a client does whose object crashed.
 */
export class Model {
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
  readonly #spin = new SpinGuard()
  #options: ModelOptions
  #settings: Settings
  #unchecked = true
  /** What was excused before the last alarm came is right when its pass has ended. */
  #excusesAtAlarm = 0
  /** Alarms out of turn that are still to come: each waits for the end of a pass that is open. */
  #unordered = 0
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
    this.#options = options
    this.#settings = settingsOf(options)
    this.trace = new Trace(() => clock.now(), options.keepsAll ?? true)
    this.sites = options.notesSites ? new Sites() : undefined
    this.outside = new OutsideWorld({
      now: () => clock.now(),
      elapsedMs: () => clock.elapsedMs,
      settings: () => this.#settings,
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
      act: () => this.#check(),
    })
    this.object = simulateObject(
      (ctx, objectClock, life) => {
        this.#bury()
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
    this.invariants = new Invariants(this.object, this.outside, this.#spin, () => this.#settings)
  }

  get now(): number {
    return this.object.world.clock.now()
  }

  get options(): ModelOptions {
    return this.#options
  }

  /** Calls the object until it answers: a request whose object crashed is sent again. */
  async call<Result>(
    what: string,
    request: (subject: Subject) => Result | PromiseLike<Result>,
  ): Promise<Result> {
    for (;;) {
      this.outside.note(what)
      this.invariants.excuses.extraordinary = true
      this.#spin.allow(2)
      const { hits } = this.faults
      const answer = this.object.call(answeredOnceDurable(request)).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      )
      const settled = await Promise.race([answer, this.#settled()])
      if (settled === undefined) throw new Error(`${what} waits for time to pass`)
      if ('result' in settled) {
        if (hits === this.faults.hits) this.invariants.excuses.alarm = false
        this.outside.note(`${what} answered ${settled.result}`)
        await this.step()
        this.invariants.excuses.extraordinary = true
        return settled.result
      }
      const isCrash = settled.error instanceof Error && settled.error.name === 'SimulatedCrash'
      if (!isCrash && hits === this.faults.hits && !this.#options.mayFail) throw settled.error
      this.outside.note(`${what} failed: ${settled.error}`)
      if (!isCrash) this.outside.failedAt = this.now
      await this.step()
    }
  }

  set(
    expression: string,
    version: number,
    jitterMs: number | { readonly maxMs: number } = 0,
  ): Promise<boolean> {
    const offset = typeof jitterMs === 'number' ? `${jitterMs}` : `0-${jitterMs.maxMs}`
    return this.call(`set ${expression} v${version} +${offset}`, ({ schedule }) =>
      schedule.set({ expression, version, jitterMs }),
    )
  }

  cancel(version?: number): Promise<boolean> {
    return this.call(`cancel ${version ?? ''}`, ({ schedule }) => schedule.cancel(version))
  }

  /** Sets the named alarm, or takes it back; nothing where there is none. */
  async ping(time: number | undefined): Promise<void> {
    if (!this.#settings.hasAlarms) return
    this.invariants.alarms.requested()
    await this.call(
      `ping ${at(time)}`,
      async ({ alarms }): Promise<unknown> =>
        time === undefined ? alarms?.cancel('ping') : alarms?.set('ping', time),
    )
    this.invariants.alarms.answered()
  }

  /** Calls `alarm()` as other code might, without waiting for the end of the pass: that has put nothing right yet. */
  async callAlarm(): Promise<void> {
    const { excuses } = this.invariants
    const wasExcused = excuses.alarm
    await this.call('alarm()', (subject) => void subject.alarm().catch(() => undefined))
    if (wasExcused) excuses.excuseAlarm()
  }

  async advance(ms: number): Promise<void> {
    await this.object.advance(ms)
    await this.step()
    this.outside.note(`${ms} ms have passed`)
  }

  async crash(): Promise<void> {
    this.outside.note('the object crashes')
    this.object.crash()
    await this.step()
  }

  /** From now on the object is made with these options. The instance of before is gone. */
  async deploy(change: Partial<SubjectOptions>): Promise<void> {
    this.outside.note('another version of the code is deployed')
    this.object.crash()
    this.#bury()
    this.#options = { ...this.#options, ...change }
    this.#settings = settingsOf(this.#options)
    await this.step()
  }

  /** Removes the tables, or goes to a schema: what was stored is nobody's debt any more. */
  async migrate(target: string | null): Promise<void> {
    await this.call(`migrate to ${target}`, ({ ctx }) => {
      DurabilitySchedule.migrate(ctx, target)
      this.invariants.excuseRows()
    })
  }

  /** Sets the object's clock, or the platform's with it. */
  async jump(ms: number, alarms: boolean): Promise<void> {
    this.object.world.clock.jump(ms, { alarms })
    this.invariants.excuses.excuseAlarm()
    this.outside.trouble('clock')
    this.outside.tally.clockSteps += 1
    this.#spin.allow(4)
    this.outside.note(`the clock is set by ${ms} ms${alarms ? ', and that of the alarms' : ''}`)
    await this.step()
  }

  /** Other code moves the alarm, or deletes it. */
  async overwriteAlarm(to: number | null): Promise<void> {
    this.object.overwriteAlarm(to)
    this.invariants.excuses.excuseAlarm()
    this.#spin.allow(1)
    this.outside.note(`other code sets the alarm to ${at(to)}`)
    await this.object.settle()
  }

  /** Alarms come late. */
  holdAlarms(ms: number): void {
    this.object.holdAlarms(ms)
    const { excuses } = this.invariants
    excuses.heldUntilMs = this.object.world.clock.elapsedMs + ms
    this.outside.note(`alarms are held back for ${ms} ms`)
  }

  /** The platform delivers an alarm out of turn. */
  async deliverAlarm(how: { readonly early?: boolean; readonly duplicate?: boolean }): Promise<void> {
    this.#spin.allow(2)
    this.#unordered += 1
    this.outside.note(`an alarm is delivered ${how.duplicate ? 'again' : 'early'}`)
    await this.object.deliverAlarm(how)
    await this.step()
  }

  /** Lets everything settle, and looks. */
  async step(): Promise<void> {
    await this.object.advance(0)
    this.#check()
  }

  /** Ends the schedule and lets the rest of its work finish; then nothing may be left. */
  async end(): Promise<void> {
    this.faults.clear()
    await this.cancel(Number.MAX_SAFE_INTEGER)
    await this.object.world.runToIdle(END_HORIZON_MS)
    await this.step()
    this.invariants.checkEnd()
    this.outside.tally.simulatedMs = this.object.world.clock.elapsedMs
  }

  /** What was violated, with the history that led there. */
  failure(about: string): string | undefined {
    const { violations } = this.outside
    if (violations.length === 0) return undefined
    return `${about}\n${violations.join('\n')}\n\nHistory:\n${this.trace.lines.join('\n')}`
  }

  /** Throws what was violated. */
  verify(about: string): void {
    const failure = this.failure(about)
    if (failure !== undefined) throw new Error(failure)
  }

  close(): void {
    this.object.close()
  }

  /** A helper failed, or `alarm()` rejected: right only where something was made to fail. */
  failed(what: string, isAlarm: boolean): void {
    this.outside.note(what)
    if (isAlarm) this.#backOff()
    this.outside.failed()
    this.invariants.excuses.extraordinary = true
    this.#spin.allow(2)
    if (this.faults.hits === 0 && !this.#options.mayFail) this.outside.violate(what)
  }

  /** The platform waits before it runs a failed alarm again, longer from one to the next. */
  #backOff(): void {
    this.#rejections += 1
    const { excuses } = this.invariants
    const longestMs = 2_000 * 2 ** this.#rejections
    excuses.heldUntilMs = Math.max(excuses.heldUntilMs, this.outside.elapsedMs + longestMs)
  }

  async #settled(): Promise<undefined> {
    // A request waits for no timer, so it is answered, or its object dead, once everything has settled.
    await this.object.settle()
    await this.object.settle()
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
        this.invariants.wrote(site, bindings)
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
    this.#spin.allow(2)
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
    const isRight = this.#excusesAtAlarm === excuses.count && this.outside.failedAt < this.now
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
    if (this.#unordered > 0) {
      this.#unordered -= 1
      excuses.extraordinary = true
    }
    const { minDelayMs, interruptedWithinMs, handoffMs } = this.#settings
    const { clock } = this.object.world
    // Behind the platform's clock the alarm of a hand-off comes at once, and the next pass holds again.
    const held = clock.platformNow() > clock.now() ? handoffMs : Number.POSITIVE_INFINITY
    if (this.#spin.alarmCame(clock.elapsedMs, Math.min(minDelayMs, interruptedWithinMs, held))) {
      this.outside.violate('alarms come over and over')
    }
  }

  #isUnburied(): boolean {
    return this.outside.dead && this.#buriedInstance !== this.outside.instances
  }

  /** Notes the death of an instance, before there is another. */
  #bury(): void {
    if (!this.#isUnburied()) return
    this.#buriedInstance = this.outside.instances
    this.deaths.push(this.object.progress)
    this.invariants.died()
    this.invariants.observe()
    this.outside.note(`instance ${this.outside.instances} is dead`)
    this.outside.trouble('crash')
    this.outside.tally.crashes += 1
    this.invariants.excuses.extraordinary = true
    this.#spin.allow(2)
  }

  #check(): void {
    this.#unchecked = false
    this.#bury()
    this.invariants.check()
    const failure = this.failure('A promise was broken')
    if (failure !== undefined) throw new Violated(failure)
  }
}

/** The platform's output gate: nobody hears an answer before the writes that it stands for are durable. */
function answeredOnceDurable<Result>(
  request: (subject: Subject) => Result | PromiseLike<Result>,
): (subject: Subject) => Promise<Result> {
  return async (subject) => {
    const result = await request(subject)
    await subject.ctx.storage.sync()
    return result
  }
}
