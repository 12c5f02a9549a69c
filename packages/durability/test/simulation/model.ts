import { DurabilitySchedule } from '../../src/experimental/schedule.ts'
import { settingsOf } from './settings.ts'
import type { Subject, SubjectOptions } from './subject.ts'
import { at } from './trace.ts'
import { WatchedObject } from './watched-object.ts'

export type { ModelOptions } from './watched-object.ts'

/** How long a history may go on after its last step: longer than any retry of the scenarios. */
const END_HORIZON_MS = 60 * 60_000

/**
 * What can be done to an object, step by step; each step tells what it excuses. Every call is made again until it is
 * answered, as a client does whose object crashed.
 */
export class Model extends WatchedObject {
  /**
   * Calls the object until it answers: a request whose object crashed is sent again. One that `repairs` has put the
   * alarm right by then.
   */
  async call<Result>(
    what: string,
    request: (subject: Subject) => Result | PromiseLike<Result>,
    repairs = true,
  ): Promise<Result> {
    for (;;) {
      this.outside.note(what)
      this.invariants.excuses.extraordinary = true
      this.spin.allow(2)
      const { hits } = this.faults
      const answer = this.object.call(answeredOnceDurable(request)).then(
        (result) => ({ result }),
        (error: unknown) => ({ error }),
      )
      const settled = await Promise.race([answer, this.#settled()])
      if (settled === undefined) throw new Error(`${what} waits for time to pass`)
      if ('result' in settled) {
        if (repairs) this.outside.hasActed = true
        if (repairs && hits === this.faults.hits) this.invariants.excuses.alarm = false
        this.outside.note(`${what} answered ${settled.result}`)
        await this.step()
        this.invariants.excuses.extraordinary = true
        return settled.result
      }
      const isCrash = settled.error instanceof Error && settled.error.name === 'SimulatedCrash'
      if (!isCrash && hits === this.faults.hits && !this.current.mayFail) throw settled.error
      this.outside.note(`${what} failed: ${settled.error}`)
      if (!isCrash) this.outside.failed()
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

  /** Asks the object about itself. */
  async look(): Promise<void> {
    await this.call(
      'status',
      ({ schedule }) => {
        const status = schedule.status()
        for (const what of this.invariants.statusViolations(status, schedule.get()))
          this.outside.violate(what)
        return status.state
      },
      false,
    )
  }

  /** Sets the named alarm, or takes it back; nothing where there is none. */
  async ping(time: number | undefined): Promise<void> {
    if (!this.settings.hasAlarms) return
    this.invariants.alarms.requested()
    await this.call(
      `ping ${at(time)}`,
      async ({ alarms }): Promise<unknown> =>
        time === undefined ? alarms?.cancel('ping') : alarms?.set('ping', time),
    )
    this.invariants.alarms.answered()
  }

  /** Calls `alarm()` as other code might, without waiting for the end of the pass: that has put nothing right yet. */
  callAlarm(): Promise<void> {
    const ended = () => {
      // Handed off, as by the platform's own: it costs alarms that an ordinary run does not.
      if (this.outside.runs.size > 0) this.invariants.excuses.extraordinary = true
    }
    return this.call('alarm()', (subject) => void subject.alarm().then(ended, ended), false)
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
    this.bury()
    this.current = { ...this.current, ...change }
    this.settings = settingsOf(this.current)
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
    this.spin.allow(4)
    this.outside.note(`the clock is set by ${ms} ms${alarms ? ', and that of the alarms' : ''}`)
    await this.step()
  }

  /** Other code moves the alarm, or deletes it. */
  async overwriteAlarm(to: number | null): Promise<void> {
    this.object.overwriteAlarm(to)
    this.invariants.excuses.excuseAlarm()
    this.spin.allow(1)
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
    this.spin.allow(2)
    this.unordered += 1
    this.outside.note(`an alarm is delivered ${how.duplicate ? 'again' : 'early'}`)
    await this.object.deliverAlarm(how)
    await this.step()
  }

  /** Lets everything settle, and looks. */
  async step(): Promise<void> {
    await this.object.advance(0)
    this.check()
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

  /** Throws what was violated. */
  verify(about: string): void {
    const failure = this.failure(about)
    if (failure !== undefined) throw new Error(failure)
  }

  close(): void {
    this.object.close()
  }

  async #settled(): Promise<undefined> {
    // A request waits for no timer, so it is answered, or its object dead, once everything has settled.
    await this.object.settle()
    await this.object.settle()
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
