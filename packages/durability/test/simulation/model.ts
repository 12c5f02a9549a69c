import type { ObjectState } from '../../src/core/state.ts'
import {
  type SimulatedObject,
  type SimulatedSeam,
  SimulatedWorld,
  simulateObject,
} from '../../src/testing/index.ts'
import { START_AT } from './expressions.ts'
import { Invariants } from './invariants.ts'
import { at, OutsideWorld } from './outside-world.ts'
import { Subject, type SubjectOptions } from './subject.ts'

export interface ModelOptions extends SubjectOptions {
  /** What goes first of timers and alarms at one instant. */
  readonly ties?: 'timers first' | 'alarms first'
  /** Whether an awaited alarm call ends the turn. */
  readonly alarmCalls?: 'same turn' | 'later turn'
  /** Helpers fail and alarms are refused on purpose. */
  readonly hasFaults?: boolean
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

/**
 * One object with a schedule, the world around it, and the invariants that hold whatever happens to it. Every call is
 * made again until it is answered, as a client does whose object crashed.
 */
export class Model {
  readonly object: SimulatedObject<Subject>
  readonly outside: OutsideWorld
  readonly invariants: Invariants
  readonly seams: SimulatedSeam[] = []
  refusals = 0
  #unchecked = true
  /** What was excused before the last alarm came is right when its pass has ended. */
  #excusesAtAlarm = 0
  #checkedLife = 0
  readonly #hasFaults: boolean
  readonly #hasAlarms: boolean

  constructor(options: ModelOptions = {}) {
    const world = new SimulatedWorld({
      startAt: START_AT,
      ties: options.ties ?? 'timers first',
      maxSteps: 20_000,
    })
    this.#hasFaults = options.hasFaults ?? false
    this.#hasAlarms = options.hasAlarms ?? false
    this.outside = new OutsideWorld({
      now: () => world.clock.now(),
      maxConcurrentRuns: options.schedule?.maxConcurrentRuns ?? 10,
      rowOf: (scheduledTime) => this.invariants.rowOf(scheduledTime),
    })
    const outside = this.outside
    // Looks at the object wherever everything has settled, also where it has just died.
    const model = this
    world.add({
      get nextMs() {
        return model.#needsCheck() ? world.clock.elapsedMs : undefined
      },
      act: () => this.#check(),
    })
    const watched = {
      ...options,
      context: (state: ObjectState) => this.#watch(options.context?.(state) ?? state),
    }
    this.object = simulateObject(
      (ctx, clock, life) => new Subject(ctx, clock, life, { outside, options: watched }),
      {
        world,
        alarmCalls: options.alarmCalls ?? 'same turn',
        onSeam: (seam) => this.#onSeam(seam),
      },
    )
    this.invariants = new Invariants(this.object, outside, {
      minDelayMs: options.scheduler?.alarmMinDelayMs ?? 15_000,
      maxAttempts: options.schedule?.outcomeRetries?.maxAttempts ?? 10,
      hasReceiver: options.receive !== false,
      hasAlarms: this.#hasAlarms,
      hasFaults: this.#hasFaults,
    })
  }

  get now(): number {
    return this.object.world.clock.now()
  }

  /** Calls the object until it answers: a request whose object crashed is sent again. */
  async call<Result>(
    what: string,
    request: (subject: Subject) => Result | PromiseLike<Result>,
  ): Promise<Result> {
    for (;;) {
      this.outside.note(what)
      const { refusals } = this
      const answer = this.object.call(answeredOnceDurable(request)).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      )
      const settled = await Promise.race([answer, this.#settled()])
      if (settled === undefined) {
        throw new Error(`${what} waits for time to pass`)
      }
      if ('result' in settled) {
        if (refusals === this.refusals) this.invariants.excusesAlarm = false
        await this.step()
        return settled.result
      }
      const isCrash = settled.error instanceof Error && settled.error.name === 'SimulatedCrash'
      if (!isCrash && !this.#hasFaults) throw settled.error
      this.outside.note(`${what} failed: ${settled.error}`)
      if (!isCrash) this.outside.refusedAt = this.now
      await this.step()
    }
  }

  set(expression: string, version: number, jitterMs = 0): Promise<boolean> {
    return this.call(`set ${expression} v${version} +${jitterMs}`, ({ schedule }) =>
      schedule.set({ expression, version, jitterMs }),
    )
  }

  cancel(version?: number): Promise<boolean> {
    return this.call(`cancel ${version ?? ''}`, ({ schedule }) => schedule.cancel(version))
  }

  /** Sets the named alarm, or takes it back; nothing where there is none. */
  async ping(time: number | undefined): Promise<void> {
    if (!this.#hasAlarms) return
    await this.call(
      `ping ${at(time)}`,
      async ({ alarms }): Promise<unknown> =>
        time === undefined ? alarms?.cancel('ping') : alarms?.set('ping', time),
    )
  }

  /** Calls `alarm()` as other code might, without waiting for the end of the pass: that has put nothing right yet. */
  async callAlarm(): Promise<void> {
    const { excusesAlarm } = this.invariants
    await this.call('alarm()', (subject) => void subject.alarm().catch(() => undefined))
    if (excusesAlarm) this.invariants.excuseAlarm()
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

  /** Sets the object's clock, or the platform's with it. */
  async jump(ms: number, alarms: boolean): Promise<void> {
    this.object.world.clock.jump(ms, { alarms })
    this.invariants.excuseAlarm()
    this.outside.note(`the clock is set by ${ms} ms`)
    await this.step()
  }

  /** Other code moves the alarm, or deletes it. */
  async overwriteAlarm(to: number | null): Promise<void> {
    this.object.overwriteAlarm(to)
    this.invariants.excuseAlarm()
    this.outside.note(`other code sets the alarm to ${at(to)}`)
    await this.object.settle()
  }

  /** Lets everything settle, and looks. */
  async step(): Promise<void> {
    await this.object.advance(0)
    this.#check()
  }

  /** Ends the schedule and lets the rest of its work finish; then nothing may be left. */
  async end(): Promise<void> {
    await this.cancel(Number.MAX_SAFE_INTEGER)
    await this.object.world.runToIdle(END_HORIZON_MS)
    await this.step()
    this.invariants.checkEnd()
  }

  /** Throws what was violated, with the history that led there. */
  verify(about: string): void {
    const { violations, history, failures } = this.outside
    if (!this.#hasFaults && failures > 0) violations.push('a helper or the alarm failed')
    if (violations.length === 0) return
    throw new Error(`${about}\n${violations.join('\n')}\n\nHistory:\n${history.join('\n')}`)
  }

  close(): void {
    this.object.close()
  }

  async #settled(): Promise<undefined> {
    // A request waits for no timer, so it is answered, or its object dead, once everything has settled.
    await this.object.settle()
    await this.object.settle()
  }

  /** Rows whose alarm was refused stay without it until it is tried again. */
  #watch(state: ObjectState): ObjectState {
    const { storage } = state
    return {
      id: state.id,
      storage: {
        sql: storage.sql,
        transactionSync: (write) => storage.transactionSync(write),
        getAlarm: () => storage.getAlarm(),
        setAlarm: (at) => {
          const answer = storage.setAlarm(at)
          answer.catch(() => {
            this.outside.note('an alarm is refused')
            this.refusals += 1
            this.invariants.excuseAlarm()
          })
          return answer
        },
        deleteAlarm: () => storage.deleteAlarm(),
        sync: () => storage.sync(),
      },
    }
  }

  #onSeam(seam: SimulatedSeam): void {
    this.seams.push(seam)
    this.#unchecked = true
    if (seam.kind === 'alarm') {
      this.outside.note('alarm')
      this.#excusesAtAlarm = this.invariants.excuses
    }
    // A pass that failed put nothing right; the platform may run it again, or not.
    const isRight = this.#excusesAtAlarm === this.invariants.excuses && this.outside.refusedAt < this.now
    if (seam.kind === 'alarm done' && isRight) this.invariants.excusesAlarm = false
    if (COMMITTED.has(seam.kind)) this.invariants.observe()
  }

  #needsCheck(): boolean {
    if (this.#unchecked) return true
    return this.outside.dead && this.#checkedLife !== this.outside.instances
  }

  #check(): void {
    this.#unchecked = false
    if (this.outside.dead && this.#checkedLife !== this.outside.instances) {
      this.#checkedLife = this.outside.instances
      this.outside.note(`instance ${this.outside.instances} is dead`)
    }
    this.invariants.observe()
    this.invariants.checkAlarm()
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
