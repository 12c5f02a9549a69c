import { DurableObject } from 'cloudflare:workers'
import type { OutcomeRun, RunOutcome } from 'durability/experimental'

/** What a schedule sends for each run. */
export interface Call {
  readonly scheduledTime: number
  readonly idempotencyKey: string
}

/** What the target knows of a run. */
export interface Receipt {
  readonly scheduledTime: number
  readonly status: string
  readonly error: string | null
}

/** ms that the pretended work takes. */
const WORK_MS = 300

/** Every fifth call is refused, so that there is a failure to see. */
const REFUSED_EVERY = 5

/** Receipts kept: a key may come again within minutes, not after this many runs. */
const MAX_RECEIPTS = 100

type ReceiptRow = { scheduledTime: number; status: string; error: string | null }

/** The service that the schedules call. It remembers idempotency keys, so that nothing counts twice. */
export class Target extends DurableObject {
  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    ctx.storage.sql.exec(`CREATE TABLE IF NOT EXISTS receipts (
      id INTEGER PRIMARY KEY, key TEXT UNIQUE, scheduledTime INTEGER, status TEXT, error TEXT)`)
  }

  /** The work of one run. */
  async fire(
    { scheduledTime, idempotencyKey }: Call,
    { signal }: { signal: AbortSignal },
  ): Promise<'done' | 'known' | 'busy'> {
    const id = this.#record(scheduledTime, idempotencyKey)
    if (id === undefined) return 'known'
    await scheduler.wait(WORK_MS, { signal })
    return id % REFUSED_EVERY === 0 ? 'busy' : 'done'
  }

  /** Outcomes arrive at least once; the first counts. Resolves to whether this was it. */
  report({ scheduledTime, idempotencyKey }: OutcomeRun, outcome: RunOutcome): boolean {
    // A run that was cut off before its call got here has no receipt yet.
    this.#record(scheduledTime, idempotencyKey)
    const error = outcome.status === 'errored' ? `${outcome.error.name}: ${outcome.error.message}` : null
    const { rowsWritten } = this.ctx.storage.sql.exec(
      "UPDATE receipts SET status = ?, error = ? WHERE key = ? AND status = 'called'",
      outcome.status,
      error,
      idempotencyKey,
    )
    return rowsWritten > 0
  }

  /** The latest runs, newest first. */
  recent(): Receipt[] {
    const { sql } = this.ctx.storage
    return sql
      .exec<ReceiptRow>('SELECT scheduledTime, status, error FROM receipts ORDER BY id DESC LIMIT 10')
      .toArray()
  }

  /** The number of a call that is new, `undefined` for one that is known. */
  #record(scheduledTime: number, idempotencyKey: string): number | undefined {
    const { sql } = this.ctx.storage
    const [row] = sql
      .exec<{ id: number }>(
        "INSERT INTO receipts (key, scheduledTime, status) VALUES (?, ?, 'called') ON CONFLICT DO NOTHING RETURNING id",
        idempotencyKey,
        scheduledTime,
      )
      .toArray()
    if (row !== undefined) sql.exec('DELETE FROM receipts WHERE id <= ?', row.id - MAX_RECEIPTS)
    return row?.id
  }
}
