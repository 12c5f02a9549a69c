import type { DurabilityScheduler, SchedulerPort } from '../../../../src/index.ts'

type PulseRow = { readonly count: number; readonly nextAt: number }

/** A helper as a user writes one: it counts in a row of its own, and tells each count once. */
export class Pulse {
  readonly #ctx: DurableObjectState
  readonly #port: SchedulerPort

  constructor(
    ctx: DurableObjectState,
    scheduler: DurabilityScheduler,
    everyMs: number,
    beat: (count: number) => Promise<void>,
  ) {
    this.#ctx = ctx
    this.#port = scheduler.attach({
      name: 'pulse',
      nextAt: () => this.#row()?.nextAt,
      run: (now) => {
        const count = (this.#row()?.count ?? 0) + 1
        this.#port.transaction(() => this.#write({ count, nextAt: now + everyMs }))
        this.#port.hold(beat(count))
      },
    })
  }

  async start(): Promise<void> {
    if (this.#row() === undefined) this.#port.transaction(() => this.#write({ count: 0, nextAt: Date.now() }))
    await this.#port.reconcile()
  }

  async stop(): Promise<void> {
    this.#port.transaction(() => this.#ctx.storage.sql.exec('DROP TABLE IF EXISTS pulse'))
    await this.#port.reconcile()
  }

  #row(): PulseRow | undefined {
    const { sql } = this.#ctx.storage
    if (sql.exec("SELECT 1 FROM sqlite_master WHERE name = 'pulse'").toArray().length === 0) return undefined
    return sql.exec<PulseRow>('SELECT count, nextAt FROM pulse').toArray()[0]
  }

  #write({ count, nextAt }: PulseRow): void {
    const { sql } = this.#ctx.storage
    sql.exec('CREATE TABLE IF NOT EXISTS pulse (id INTEGER PRIMARY KEY, count INTEGER, nextAt INTEGER)')
    sql.exec('INSERT OR REPLACE INTO pulse (id, count, nextAt) VALUES (1, ?, ?)', count, nextAt)
  }
}
