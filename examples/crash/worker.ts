import { DurableObject } from 'cloudflare:workers'
import { DurabilityScheduler } from 'durability'
import { nextCronTime } from 'durability/cron'
import { DurabilitySchedule, type RunOutcome, type ScheduledRun } from 'durability/experimental'

export interface Env {
  readonly IMPORTS: DurableObjectNamespace<Import>
  readonly LEDGER: DurableObjectNamespace<Ledger>
}

/** ms that one import takes. */
const WORK_MS = 1_500

/** Imports something every few seconds. Each import takes long enough to be cut off in the middle. */
export class Import extends DurableObject<Env> {
  readonly #scheduler = new DurabilityScheduler({ context: this.ctx })
  readonly #schedule = new DurabilitySchedule({
    scheduler: this.#scheduler,
    nextOccurrence: (expression, after) => nextCronTime(expression, after),
    run: (run) => this.#import(run),
    onOutcome: ({ idempotencyKey }, outcome) => this.#ledger().report(idempotencyKey, outcome),
    // The restarted object looks after unfinished runs within a second, also when its next tick is hours away.
    interruptedWithinMs: 1_000,
  })

  start(expression: string): Promise<boolean> {
    return this.#schedule.set({ expression, version: 1 })
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  async #import({ idempotencyKey, signal }: ScheduledRun): Promise<void> {
    await this.#ledger().note(idempotencyKey, 'started')
    await scheduler.wait(WORK_MS, { signal })
    await this.#ledger().note(idempotencyKey, 'finished')
  }

  #ledger() {
    return this.env.LEDGER.getByName('ledger')
  }
}

type Entry = { key: string; what: string }

/** Remembers what each run did, outside the object that runs it. */
export class Ledger extends DurableObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    ctx.storage.sql.exec(
      'CREATE TABLE IF NOT EXISTS entries (id INTEGER PRIMARY KEY, key TEXT NOT NULL, what TEXT NOT NULL, UNIQUE (key, what))',
    )
  }

  /** A run that started twice would show: `started` is noted without looking whether it is there. */
  note(key: string, what: string): void {
    this.ctx.storage.sql.exec('INSERT INTO entries (key, what) VALUES (?, ?)', key, what)
  }

  /** Outcomes arrive at least once, and are always the same: noting one again changes nothing. */
  report(key: string, outcome: RunOutcome): void {
    const what = outcome.status === 'complete' ? 'complete' : `errored: ${outcome.error.name}`
    this.ctx.storage.sql.exec(
      'INSERT INTO entries (key, what) VALUES (?, ?) ON CONFLICT DO NOTHING',
      key,
      what,
    )
  }

  entries(): Entry[] {
    return this.ctx.storage.sql.exec<Entry>('SELECT key, what FROM entries ORDER BY id').toArray()
  }
}

export default {
  /** `POST /start` begins to import every 3 seconds; anything else shows the ledger. */
  async fetch(request, env): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (request.method === 'POST' && pathname === '/start') {
      return Response.json({ applied: await env.IMPORTS.getByName('demo').start('*/3 * * * * *') })
    }
    return Response.json(await env.LEDGER.getByName('ledger').entries())
  },
} satisfies ExportedHandler<Env>
