import { DurabilityScheduler } from 'durability'
import { DurabilitySchedule } from 'durability/experimental'
import { BenchObject } from './bench-object.ts'
import { nextOccurrence } from './times.ts'

/** The library, used as its README says. */
export class LibraryObject extends BenchObject {
  readonly #scheduler: DurabilityScheduler = new DurabilityScheduler({ context: this.ctx, clock: this.clock })
  readonly #schedule: DurabilitySchedule = new DurabilitySchedule({
    scheduler: this.#scheduler,
    nextOccurrence,
    run: ({ scheduledTime }) => this.handlers.run(scheduledTime),
    onOutcome: ({ scheduledTime }, outcome) => this.handlers.note(scheduledTime, outcome),
  })
  #isOpen = false

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  protected override schedule(expression: string): Promise<boolean> {
    return this.#schedule.set({ expression, version: 1 })
  }

  /** A held pass fires its ticks by timers, and moving the clock has fired them; only the first opens it. */
  protected override tickBeside(): void {
    if (this.#isOpen) return
    this.#isOpen = true
    this.ctx.waitUntil(this.alarm())
  }

  protected override addWaiting(count: number): void {
    const { sql } = this.ctx.storage
    const { last } = sql.exec<{ last: number }>('SELECT lastRunId AS last FROM durability_schedule').one()
    this.ctx.storage.transactionSync(() => {
      for (let id = last + 1; id <= last + count; id += 1) {
        sql.exec(
          `INSERT INTO durability_schedule_runs
             (id, scheduledTime, dueAt, version, state, outcome, attempts, nextAttemptAt, delivering)
           VALUES (?, ?, ?, 1, 0, 'null', 0, 0, 0)`,
          id,
          id,
          id,
        )
      }
      sql.exec('UPDATE durability_schedule SET lastRunId = ?', last + count)
    })
  }

  override unfinished(): number {
    const { running, undelivered, waiting } = this.#schedule.status()
    return running + undelivered + waiting
  }
}
