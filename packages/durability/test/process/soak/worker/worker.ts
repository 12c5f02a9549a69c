import { DurableObject } from 'cloudflare:workers'
import { DurabilitySchedule, type ScheduledRun } from '../../../../src/experimental/index.ts'
import { DurabilityAlarms, DurabilityScheduler, type NamedAlarmInfo } from '../../../../src/index.ts'
import type { Action, Report, Result } from '../log.ts'
import { ALARMS, heedsAbort, nextOccurrence, type ObjectName, type ObjectPlan, PLANS } from '../plan.ts'
import { Pulse } from './pulse.ts'

interface Env extends Readonly<Record<ObjectName, DurableObjectNamespace<Soaked>>> {
  /** Where the soak listens. */
  readonly RECEIVER: string
  readonly SEED: string
  /** Which process this is. */
  readonly EPOCH: string
}

/** A schedule, named alarms and a helper of one's own on one alarm. Whatever they do is told to the receiver. */
abstract class Soaked extends DurableObject<Env> {
  readonly #name: ObjectName
  readonly #instance = crypto.randomUUID()
  readonly #scheduler: DurabilityScheduler
  readonly #schedule: DurabilitySchedule
  readonly #alarms: DurabilityAlarms
  readonly #pulse: Pulse | undefined

  constructor(ctx: DurableObjectState, env: Env, name: ObjectName) {
    super(ctx, env)
    this.#name = name
    const plan = PLANS[name]
    this.#scheduler = new DurabilityScheduler({
      context: ctx,
      alarmConcurrency: plan.alarmConcurrency,
      alarmHandoffMs: plan.alarmHandoffMs,
      alarmMinDelayMs: plan.alarmMinDelayMs,
      liveTimers: plan.liveTimers,
      onAlarmRetry: ({ helper, error }) =>
        this.#tell({ kind: 'helperFailed', helper, message: String(error) }),
    })
    this.#schedule = this.#newSchedule(plan)
    this.#alarms = this.#newAlarms(plan)
    if (plan.pulseMs !== undefined)
      this.#pulse = new Pulse(ctx, this.#scheduler, plan.pulseMs, (count) =>
        this.#tell({ kind: 'pulse', count }),
      )
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  async act(action: Action): Promise<Result> {
    switch (action.do) {
      case 'set':
        return this.#schedule.set(action)
      case 'cancel':
        return this.#schedule.cancel(action.version)
      case 'setAlarm':
        await this.#alarms.set(action.name, action.at)
        return true
      case 'cancelAlarm':
        return this.#alarms.cancel(action.name)
      case 'pulse':
        await (action.on ? this.#pulse?.start() : this.#pulse?.stop())
        return null
      case 'status':
        return {
          ...this.#schedule.status(),
          rows: this.#countRuns(),
          alarms: ALARMS.filter((name) => this.#alarms.get(name) !== undefined),
          alarmAt: await this.ctx.storage.getAlarm(),
        }
    }
  }

  #newSchedule(plan: ObjectPlan): DurabilitySchedule {
    const { interruptedWithinMs, retryDelayMs, maxAttempts } = plan
    return new DurabilitySchedule({
      scheduler: this.#scheduler,
      nextOccurrence,
      run: (run) => this.#run(run),
      onOutcome: async (run, outcome) => {
        await this.#tell({ kind: 'outcome', run, outcome, startedAt: Date.now() })
        // By the next turn all is written that follows from this return, and what is sent waits until it is durable.
        setTimeout(() => {
          if (this.#countRuns(run.scheduledTime) === 0) void this.#tell({ kind: 'gone', run })
        }, 0)
      },
      maxConcurrentRuns: plan.maxConcurrentRuns,
      runTimeoutMs: plan.runTimeoutMs,
      ...(interruptedWithinMs === undefined ? {} : { interruptedWithinMs }),
      maxConcurrentDeliveries: plan.maxConcurrentDeliveries,
      outcomeTimeoutMs: plan.outcomeTimeoutMs,
      outcomeRetries: { maxAttempts, delay: (attempt) => attempt * retryDelayMs },
      onLifecycleEvent: (event) => this.#tell({ kind: 'runEvent', event }),
    })
  }

  #newAlarms({ alarmAttempts, alarmTimeoutMs }: ObjectPlan): DurabilityAlarms {
    const handler = ({ signal: _signal, ...alarm }: NamedAlarmInfo) =>
      this.#tell({ kind: 'alarm', alarm, startedAt: Date.now() })
    return new DurabilityAlarms({
      scheduler: this.#scheduler,
      handlers: Object.fromEntries(ALARMS.map((name) => [name, handler])),
      attemptTimeoutMs: alarmTimeoutMs,
      retries: { delay: (attempt) => attempt * 200 },
      methods: Object.fromEntries(
        ALARMS.map((name) => [name, { retries: { maxAttempts: alarmAttempts[name] } }]),
      ),
      onLifecycleEvent: (event) => this.#tell({ kind: 'alarmEvent', event }),
    })
  }

  async #run({ signal, ...run }: ScheduledRun): Promise<void> {
    const answered = this.#tell({ kind: 'run', run, startedAt: Date.now() })
    if (!heedsAbort(Number(this.env.SEED), this.#name, run.scheduledTime)) return answered
    const aborted = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    })
    try {
      await Promise.race([answered, aborted])
    } finally {
      if (signal.aborted) await this.#tell({ kind: 'aborted', run })
    }
  }

  /** Throws when the receiver answers with a failure. */
  async #tell(report: Report): Promise<void> {
    const { EPOCH, RECEIVER } = this.env
    const call = { object: this.#name, instance: this.#instance, epoch: Number(EPOCH), ...report }
    const response = await fetch(RECEIVER, { method: 'POST', body: JSON.stringify(call) })
    await response.text()
    if (!response.ok) throw new Error(`The receiver answered ${response.status}`)
  }

  #countRuns(scheduledTime?: number): number {
    const { sql } = this.ctx.storage
    const name = 'durability_schedule_runs'
    if (sql.exec('SELECT 1 FROM sqlite_master WHERE name = ?', name).toArray().length === 0) return 0
    const runs = sql.exec<{ scheduledTime: number }>(`SELECT scheduledTime FROM ${name}`).toArray()
    return runs.filter((run) => scheduledTime === undefined || run.scheduledTime === scheduledTime).length
  }
}

// One class each: an object that an alarm wakes does not know its name.
export class Narrow extends Soaked {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, 'narrow')
  }
}

export class Wide extends Soaked {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, 'wide')
  }
}

export class Sparse extends Soaked {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env, 'sparse')
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    const name = new URL(request.url).pathname.slice(1)
    // Readiness is asked here: it must not wake an object, which has to come back by itself.
    if (name !== 'narrow' && name !== 'wide' && name !== 'sparse') return new Response('ready')
    return Response.json(await env[name].getByName(name).act(await request.json<Action>()))
  },
} satisfies ExportedHandler<Env>
