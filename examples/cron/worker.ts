import { DurableObject } from 'cloudflare:workers'
import { DurabilityScheduler } from 'durability'
import { InvalidCronError, nextCronTime, parseCron } from 'durability/cron'
import {
  DurabilitySchedule,
  type OutcomeRun,
  type RunOutcome,
  type StoredSchedule,
} from 'durability/experimental'

export interface Env {
  readonly CRONS: DurableObjectNamespace<Cron>
  readonly TARGETS: DurableObjectNamespace<Target>
}

/** A cron expression that calls a target service at each of its times, in UTC. */
export class Cron extends DurableObject<Env> {
  readonly #scheduler = new DurabilityScheduler({ context: this.ctx })
  readonly #schedule = new DurabilitySchedule({
    scheduler: this.#scheduler,
    nextOccurrence: (expression, after) => nextCronTime(expression, after),
    run: ({ scheduledTime, idempotencyKey, signal }) =>
      this.#target().fire({ scheduledTime, idempotencyKey }, { signal }),
    onOutcome: (run, outcome) => this.#target().report(run, outcome),
    maxConcurrentRuns: 20,
    runTimeoutMs: 15 * 60_000,
  })

  /** Resolves to whether the version was new. Objects that share an expression are spread over its first 30 seconds. */
  configure(expression: string, version: number): Promise<boolean> {
    return this.#schedule.set({ expression, version, jitterMs: { maxMs: 30_000 } })
  }

  /** Resolves to whether there was something to stop. A `configure` of this version that arrives late does nothing. */
  remove(version: number): Promise<boolean> {
    return this.#schedule.cancel(version)
  }

  read(): StoredSchedule | undefined {
    return this.#schedule.get()
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  #target() {
    return this.env.TARGETS.getByName('target')
  }
}

type Receipt = { idempotencyKey: string; scheduledTime: number; outcome: string | null }

/** The service that is called. Runs are made once and outcomes reported at least once; it counts each once by its key. */
export class Target extends DurableObject<Env> {
  readonly #sql = this.ctx.storage.sql

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#sql.exec(`CREATE TABLE IF NOT EXISTS receipts (
      idempotencyKey TEXT PRIMARY KEY, scheduledTime INTEGER, outcome TEXT) WITHOUT ROWID`)
  }

  async fire(run: Pick<OutcomeRun, 'scheduledTime' | 'idempotencyKey'>, { signal }: { signal: AbortSignal }) {
    if (!this.#record(run)) return
    // Here the work would be. It stops when the run times out.
    signal.throwIfAborted()
  }

  report(run: OutcomeRun, outcome: RunOutcome): void {
    // A run that was cut off may never have got here.
    this.#record(run)
    this.#sql.exec(
      'UPDATE receipts SET outcome = ? WHERE idempotencyKey = ? AND outcome IS NULL',
      outcome.status === 'complete' ? 'complete' : outcome.error.name,
      run.idempotencyKey,
    )
  }

  receipts(): Receipt[] {
    return this.#sql.exec<Receipt>('SELECT * FROM receipts ORDER BY scheduledTime').toArray()
  }

  /** False for a key that is known. */
  #record({ idempotencyKey, scheduledTime }: Pick<OutcomeRun, 'scheduledTime' | 'idempotencyKey'>): boolean {
    const insert = 'INSERT INTO receipts (idempotencyKey, scheduledTime) VALUES (?, ?) ON CONFLICT DO NOTHING'
    return this.#sql.exec(insert, idempotencyKey, scheduledTime).rowsWritten > 0
  }
}

export default {
  /** `POST /configure?name=&expression=&version=`, `POST /remove?name=&version=`; anything else shows the receipts. */
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    const cron = env.CRONS.getByName(searchParams.get('name') ?? 'default')
    const expression = searchParams.get('expression') ?? ''
    const version = Number(searchParams.get('version') ?? Number.NaN)
    if (request.method !== 'POST') return Response.json(await env.TARGETS.getByName('target').receipts())
    if (!Number.isSafeInteger(version) || version < 0)
      return new Response('version: an integer from 0', { status: 400 })
    if (pathname === '/remove') return Response.json({ removed: await cron.remove(version) })
    try {
      parseCron(expression)
    } catch (error) {
      if (error instanceof InvalidCronError)
        return new Response(`expression: ${error.message}`, { status: 400 })
      throw error
    }
    return Response.json({ applied: await cron.configure(expression, version), ...(await cron.read()) })
  },
} satisfies ExportedHandler<Env>
