import { DurableObject } from 'cloudflare:workers'
import { DurabilityScheduler } from '../core/scheduler.ts'
import type { AlarmInfo } from '../core/state.ts'
import { durableObjectStore } from './durable-object-store.ts'
import { DurabilityEngine, type DurabilityEngineOptions } from './engine.ts'
import type { WorkflowLike } from './registered-of.ts'
import {
  type Answer,
  type ObjectVerb,
  type Placement,
  plainError,
  portable,
  RUN_VERBS,
  SCHEDULE_VERBS,
  ShardCountError,
} from './remote.ts'

/** What a subclass may say about its engine; the rest is the object's. */
export type ScheduleObjectOptions = Omit<
  DurabilityEngineOptions,
  'store' | 'scheduler' | 'workflows' | 'persistedSchedules'
>

/**
 * A Durable Object that holds user-created schedules and runs them: extend it, say what it can start, and bind it. One
 * object alone, such as a tenant's, is called by `remoteSchedules(stub)`; a set of them by `shardedSchedules`.
 */
export abstract class DurabilityScheduleObject<Env = Cloudflare.Env> extends DurableObject<Env> {
  protected readonly scheduler: DurabilityScheduler
  protected readonly engine: DurabilityEngine
  #shards: number | undefined

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.scheduler = new DurabilityScheduler({ context: ctx })
    this.engine = new DurabilityEngine({
      ...this.engineOptions(),
      store: durableObjectStore(ctx.storage),
      scheduler: this.scheduler,
      workflows: this.workflows(),
      persistedSchedules: true,
    })
  }

  /** What schedules may start, by name. Called once, in the constructor: fields of the subclass are not set yet. */
  protected abstract workflows(): Record<string, WorkflowLike>

  /** Options of the engine. Called once, in the constructor. */
  protected engineOptions(): ScheduleObjectOptions {
    return {}
  }

  override alarm(info?: AlarmInfo): Promise<void> {
    return this.scheduler.alarm(info)
  }

  /** One call of the engine; errors are answered, not thrown, so that nothing of them is lost on the way. */
  async call(verb: ObjectVerb, args: readonly unknown[], placement?: Placement): Promise<Answer> {
    try {
      if (placement !== undefined) this.#checkPlacement(placement)
      return { value: portable(await this.#called(verb, args)) }
    } catch (error) {
      return { error: plainError(error) }
    }
  }

  #called(verb: ObjectVerb, args: readonly unknown[]): Promise<unknown> {
    const { engine } = this
    const { schedules } = engine
    // The engine checks what it is given, as everywhere.
    const given = args as never[]
    const known = SCHEDULE_VERBS.find((name) => name === verb)
    if (known !== undefined) return (schedules[known] as (...rest: never[]) => Promise<unknown>)(...given)
    const runVerb = RUN_VERBS.find((name) => name === verb)
    if (runVerb === undefined) throw new TypeError(`There is no call "${String(verb)}"`)
    return (engine[runVerb] as (...rest: never[]) => Promise<unknown>).call(engine, ...given)
  }

  /** The first call fixes how many objects the set has. */
  #checkPlacement({ shard, shards }: Placement): void {
    this.#shards ??= this.#storedShards(shard, shards)
    if (this.#shards !== shards) throw new ShardCountError(this.#shards, shards)
  }

  #storedShards(shard: number, shards: number): number {
    const { sql } = this.ctx.storage
    sql.exec(
      'CREATE TABLE IF NOT EXISTS durable_placement (id INTEGER PRIMARY KEY, shard INTEGER, shards INTEGER)',
    )
    const [stored] = sql.exec<{ shards: number }>('SELECT shards FROM durable_placement').toArray()
    if (stored === undefined) sql.exec('INSERT INTO durable_placement VALUES (1, ?, ?)', shard, shards)
    return stored?.shards ?? shards
  }
}
