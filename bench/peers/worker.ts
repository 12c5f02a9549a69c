import { DurableObject } from 'cloudflare:workers'
import { Alarms } from '@cloudflare/actors/alarms'
import { Agent } from 'agents'
import { Lifecycle } from 'agents/lifecycle'
import { Scheduler } from 'agents/schedules'
import { type Drive, driveAlarms, type Env, type SetUp, targetOf } from '../worker/bench-object.ts'
import { type Cost, countIn, takeFrom } from '../worker/cost.ts'
import { callingHandlers, emptyHandlers, type Handlers, type HandlersName } from '../worker/handlers.ts'
import { movableDate } from './movable-date.ts'

export { default } from '../worker/entry.ts'
export { LibraryObject } from '../worker/library-object.ts'
export { LoopObject } from '../worker/loop-object.ts'
export { Target } from '../worker/target.ts'

/** How many schedules an object has; what one costs grows with them. */
interface PeerSetUp extends SetUp {
  readonly schedules?: number
}

/** What a peer's schedule calls does what a handler and an `onOutcome` do: one call each. */
class Work {
  #handlers: Handlers = emptyHandlers
  readonly #byName: Readonly<Partial<Record<HandlersName, Handlers>>>

  constructor(ctx: DurableObjectState, env: Env) {
    this.#byName = { calling: callingHandlers(targetOf(ctx, env)), empty: emptyHandlers }
  }

  use(name: HandlersName): void {
    this.#handlers = this.#byName[name] ?? emptyHandlers
  }

  async run(): Promise<void> {
    const now = Date.now()
    await this.#handlers.run(now)
    await this.#handlers.note(now, { status: 'complete' })
  }
}

const MINUTELY_S = 55

export class AgentsSchedulerObject extends DurableObject<Env> {
  readonly #cost: Cost | undefined = this.env.COUNT ? countIn(this.ctx.storage) : undefined
  readonly #work = new Work(this.ctx, this.env)
  readonly #scheduler = new Scheduler({ callbacks: { tick: () => this.#work.run(), other: () => {} } })
  readonly #lifecycle = new Lifecycle(this).use(this.#scheduler)

  override alarm(): Promise<void> {
    return this.#lifecycle.alarm()
  }

  async setUp({ at = Date.now(), handlers, schedules = 1 }: PeerSetUp): Promise<void> {
    movableDate.moveTo(at)
    this.#work.use(handlers)
    await this.#scheduler.every(MINUTELY_S, 'tick')
    for (let other = 1; other < schedules; other += 1) await this.#scheduler.every(2_000_000 + other, 'other')
  }

  drive({ at, runs, handlers }: Drive): Promise<void> {
    this.#work.use(handlers)
    return driveAlarms(this.ctx, movableDate, () => this.alarm(), at, runs)
  }

  takeCost(): Cost {
    return takeFrom(this.#cost)
  }
}

export class AgentObject extends Agent<Env> {
  readonly #cost: Cost | undefined = this.env.COUNT ? countIn(this.ctx.storage) : undefined
  readonly #work = new Work(this.ctx, this.env)

  tick(): Promise<void> {
    return this.#work.run()
  }

  other(): void {}

  async setUp({ at = Date.now(), handlers, schedules = 1 }: PeerSetUp): Promise<void> {
    movableDate.moveTo(at)
    this.#work.use(handlers)
    await this.scheduleEvery(MINUTELY_S, 'tick')
    for (let other = 1; other < schedules; other += 1) await this.scheduleEvery(2_000_000 + other, 'other')
  }

  drive({ at, runs, handlers }: Drive): Promise<void> {
    this.#work.use(handlers)
    return driveAlarms(this.ctx, movableDate, () => this.alarm(), at, runs)
  }

  takeCost(): Cost {
    return takeFrom(this.#cost)
  }
}

export class ActorsAlarmsObject extends DurableObject<Env> {
  readonly #cost: Cost | undefined = this.env.COUNT ? countIn(this.ctx.storage) : undefined
  readonly #work = new Work(this.ctx, this.env)
  readonly #alarms = new Alarms(this.ctx, this)

  override alarm(): Promise<void> {
    return this.#alarms.alarm()
  }

  /** Asked for by `Alarms`. */
  setName(): void {}

  tick(): Promise<void> {
    return this.#work.run()
  }

  other(): void {}

  async setUp({ at = Date.now(), handlers, schedules = 1 }: PeerSetUp): Promise<void> {
    movableDate.moveTo(at)
    this.#work.use(handlers)
    await this.#alarms.schedule('* * * * *', 'tick')
    for (let other = 1; other < schedules; other += 1)
      await this.#alarms.schedule(new Date(at + 1e10), 'other')
  }

  drive({ at, runs, handlers }: Drive): Promise<void> {
    this.#work.use(handlers)
    return driveAlarms(this.ctx, movableDate, () => this.alarm(), at, runs)
  }

  takeCost(): Cost {
    return takeFrom(this.#cost)
  }
}
