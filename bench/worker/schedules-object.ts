import { DurableObject } from 'cloudflare:workers'
import { DurabilityScheduler } from 'durability'
import { DurabilityEngine, durableObjectStore } from 'durability/schedules'
import { BenchClock } from './bench-clock.ts'
import { driveAlarms, type Env, targetOf } from './bench-object.ts'
import { type Cost, countIn, takeFrom } from './cost.ts'
import { TICK_MS } from './times.ts'

/** Far away: those that are stored beside the due ones are not due while anything is measured. */
const DAY_MS = 86_400_000

export interface StoredSchedules {
  readonly at: number
  /** Due every minute, all in the same one. */
  readonly due: number
  /** In all. */
  readonly stored: number
  /** Runs and decisions that are kept of each. */
  readonly kept: number
  readonly handlers: 'calling' | 'empty'
}

/** One object full of schedules; what fires those that are due is what subjects differ in. */
export abstract class SchedulesObject extends DurableObject<Env> {
  protected readonly clock: BenchClock = new BenchClock()
  readonly #cost: Cost | undefined = this.env.COUNT ? countIn(this.ctx.storage) : undefined
  readonly #target = targetOf(this.ctx, this.env)
  #handlers: StoredSchedules['handlers'] = 'empty'
  protected fired = 0

  abstract override alarm(): Promise<void>

  protected abstract engine(kept: number): DurabilityEngine

  /** What a schedule starts. */
  protected async run(scheduledTime: number): Promise<void> {
    if (this.#handlers === 'calling') await this.#target.run(scheduledTime)
    this.fired += 1
  }

  /** Rows as the library writes them, those of the resting ones copied, and as full a history as there will be. */
  async setUp({ at, due, stored, kept, handlers }: StoredSchedules): Promise<void> {
    this.clock.moveTo(at)
    this.#handlers = handlers
    const { schedules } = this.engine(kept)
    for (let n = 0; n < due; n += 1)
      await schedules.create({ id: `due ${n}`, workflow: 'brief', every: TICK_MS, tags: ['due'] })
    await schedules.create({ id: 'rest', workflow: 'brief', every: 400 * DAY_MS })
    this.#copyResting(stored - due - 1)
    await this.fire({ at, fires: kept + 1, due })
  }

  #copyResting(count: number): void {
    const { sql } = this.ctx.storage
    const columns = sql.exec('SELECT * FROM durable_schedules LIMIT 0').columnNames
    const copied = columns.map((name) => (name === 'id' ? "'rest ' || copy" : name))
    sql.exec(
      `WITH RECURSIVE copies(copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < ?)
        INSERT INTO durable_schedules SELECT ${copied.join()} FROM copies, durable_schedules WHERE id = 'rest'`,
      count,
    )
  }

  /** So many minutes pass, each with its alarm. */
  async fire({ at, fires, due }: { readonly at: number; readonly fires: number; readonly due: number }) {
    const before = this.fired
    await driveAlarms(this.ctx, this.clock, () => this.alarm(), at, fires)
    if (this.fired - before !== fires * due) throw new Error(`${this.fired - before} fires of ${fires * due}`)
  }

  takeCost(): Cost {
    return takeFrom(this.#cost)
  }
}

/** The library, used as its guide says. */
export class UserSchedulesObject extends SchedulesObject {
  readonly #scheduler = new DurabilityScheduler({ context: this.ctx, clock: this.clock })
  #engine: DurabilityEngine | undefined

  protected override engine(kept: number): DurabilityEngine {
    this.#engine ??= new DurabilityEngine({
      store: durableObjectStore(this.ctx.storage),
      scheduler: this.#scheduler,
      persistedSchedules: true,
      workflows: { brief: ({ scheduledTime }) => this.run(scheduledTime ?? 0) },
      keptRuns: kept,
      keptDecisions: kept,
    }) as unknown as DurabilityEngine // the names of its workflows are of no matter here
    return this.#engine
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  /** Calls a verb so many times. `offset`: of the page that a cursor then leads on from. */
  async verb({ name, times }: { readonly name: string; readonly times: number }): Promise<void> {
    const { schedules } = this.engine(0)
    for (let time = 0; time < times; time += 1) {
      if (name === 'get') await schedules.get('rest 7')
      else if (name === 'pause') await schedules.pause(`rest ${10 + time}`)
      else if (name === 'resume') await schedules.resume(`rest ${10 + time}`)
      else if (name === 'upsert')
        await schedules.upsert({ id: 'rest 7', workflow: 'brief', every: 400 * DAY_MS, input: time })
      else if (name === 'list') await schedules.list({ limit: 100 })
      else if (name === 'next') await schedules.list({ limit: 100, cursor: this.#cursor })
      else if (name === 'create')
        await schedules.create({ id: `new ${time}`, workflow: 'brief', every: 400 * DAY_MS })
      else if (name === 'delete') await schedules.delete(`new ${time}`)
      else throw new Error(`There is no verb ${name}`)
    }
  }

  #cursor = ''

  /** Where the page after so many rows begins. */
  async seek(offset: number): Promise<void> {
    const { cursor } = await this.engine(0).schedules.list({ limit: 100, offset: offset - 100 })
    this.#cursor = cursor ?? ''
  }
}
