import { DurableObject } from 'cloudflare:workers'
import { BenchClock } from './bench-clock.ts'
import { type Cost, countIn, takeFrom } from './cost.ts'
import {
  callingHandlers,
  emptyHandlers,
  Gate,
  type Handlers,
  type HandlersName,
  recordingHandlers,
} from './handlers.ts'
import type { Start, Target } from './target.ts'
import { TICK_MS } from './times.ts'

export interface Env {
  readonly TARGETS: DurableObjectNamespace<Target>
  /** Set: rows and alarms are counted. */
  readonly COUNT?: string
}

/** How many handlers may be in flight: the library's default. */
export const SLOTS = 10

export interface SetUp {
  readonly expression: string
  /** Where the object's clock stands; left out, it is the wall clock. */
  readonly at?: number
  readonly handlers: HandlersName
}

/** So many runs, a tick each, from a time on that is itself no new tick. */
export interface Drive {
  readonly at: number
  readonly runs: number
  readonly handlers: HandlersName
}

export interface Backlog {
  readonly waiting: number
  readonly handlers: HandlersName
}

/** Each object has a target of its own. */
export function targetOf({ id }: DurableObjectState, { TARGETS }: Env): DurableObjectStub<Target> {
  return TARGETS.get(TARGETS.idFromName(id.toString()))
}

/** Alarms as they come due, one after the other. */
export async function driveAlarms(
  { storage }: DurableObjectState,
  clock: Pick<BenchClock, 'moveTo'>,
  alarm: () => Promise<void>,
  at: number,
  runs: number,
): Promise<void> {
  for (let run = 1; run <= runs; run += 1) {
    clock.moveTo(at + run * TICK_MS)
    await alarm()
    // The platform, too, waits for this before it takes an alarm for handled.
    await storage.sync()
  }
}

/**
 * An object with one recurring schedule, and all that the bench does with it. A subject says how a schedule is set and
 * what an alarm does; what is measured is the same code for all of them.
 */
export abstract class BenchObject extends DurableObject<Env> {
  protected readonly clock: BenchClock = new BenchClock()
  protected handlers: Handlers
  readonly #handlersByName: Readonly<Record<HandlersName, Handlers>>
  readonly #starts: Start[] = []
  readonly #target: DurableObjectStub<Target>
  readonly #cost: Cost | undefined
  #gate = new Gate()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    if (env.COUNT) this.#cost = countIn(ctx.storage)
    this.#target = targetOf(ctx, env)
    this.#handlersByName = {
      calling: callingHandlers(this.#target),
      empty: emptyHandlers,
      recording: recordingHandlers(this.#starts),
    }
    this.handlers = this.#handlersByName.calling
  }

  abstract override alarm(): Promise<void>

  /** Sets the schedule, for the first time. */
  protected abstract schedule(expression: string): unknown

  /** Brings on the tick that has come due while runs are in flight. */
  protected abstract tickBeside(): void

  /** Makes it as if so many more ticks had found no free slot. */
  protected abstract addWaiting(count: number): void

  /** Runs that have not ended. */
  abstract unfinished(): number

  async setUp({ expression, at, handlers }: SetUp): Promise<void> {
    if (at !== undefined) this.clock.moveTo(at)
    this.handlers = this.#handlersByName[handlers]
    await this.schedule(expression)
    await this.ctx.storage.sync()
  }

  /** Ordinary runs: each has ended durably before the next. */
  drive({ at, runs, handlers }: Drive): Promise<void> {
    this.handlers = this.#handlersByName[handlers]
    return driveAlarms(this.ctx, this.clock, () => this.alarm(), at, runs)
  }

  /** Fills the slots with runs that do not end, and puts others behind them. */
  async block({ at, handlers, waiting }: Backlog & { readonly at: number }): Promise<void> {
    this.handlers = this.#gate.around(this.#handlersByName[handlers])
    for (let run = 1; run <= SLOTS; run += 1) {
      const started = this.#gate.nextStart()
      this.clock.moveTo(at + run * TICK_MS)
      this.tickBeside()
      await started
    }
    this.addWaiting(waiting)
    await this.ctx.storage.sync()
  }

  /** Of a blocked object, each time: a tick is recorded and waits, a run ends, the first that waits is started. */
  async driveBlocked({ at, runs }: Pick<Drive, 'at' | 'runs'>): Promise<void> {
    for (let run = 1; run <= runs; run += 1) {
      const ended = Promise.all([this.#gate.nextStart(), this.#gate.nextNote()])
      this.clock.moveTo(at + run * TICK_MS)
      this.tickBeside()
      this.#gate.letOneThrough()
      await ended
      await this.ctx.storage.sync()
    }
  }

  /** As after an outage of what the handlers need: runs wait, and every slot is free. */
  async fill({ waiting, handlers }: Backlog): Promise<void> {
    this.handlers = this.#handlersByName[handlers]
    this.addWaiting(waiting)
    await this.ctx.storage.sync()
  }

  /** Runs all that waits. */
  async drain(): Promise<void> {
    await this.alarm()
    await this.ctx.storage.sync()
    const left = this.unfinished()
    if (left > 0) throw new Error(`${left} runs are left`)
  }

  /** What was asked of the storage since this was last called. */
  takeCost(): Cost {
    return takeFrom(this.#cost)
  }

  /** When handlers were called since this was last called: here, or at the target. */
  async takeStarts(): Promise<Start[]> {
    return [...this.#starts.splice(0), ...(await this.#target.takeStarts())]
  }

  /** The next call is answered by a new instance. */
  end(): void {
    this.ctx.abort()
  }
}
