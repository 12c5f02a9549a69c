import { DurabilityEngine, durableObjectStore } from 'durability/schedules'
import { SchedulesObject } from './schedules-object.ts'
import { TICK_MS } from './times.ts'

type Due = { readonly id: string; readonly window: number; readonly input: string }

/**
 * What one writes by hand over the same tables: the due ones by the index; for each its run inserted and its row moved on,
 * in one transaction with the alarm; the handler called, and its run marked. No policies, no time limits, no decisions,
 * no bound on what is kept; two of it would start a window twice, and what a crash leaves nobody looks at.
 */
export class ScheduleLoopObject extends SchedulesObject {
  /** Only to have the same rows: nothing of it is called again. */
  protected override engine(): DurabilityEngine {
    const store = durableObjectStore(this.ctx.storage)
    const workflows = { brief: () => undefined }
    const engine = new DurabilityEngine({ store, workflows, clock: () => this.clock.now() })
    return engine as unknown as DurabilityEngine // the names of its workflows are of no matter here
  }

  override async alarm(): Promise<void> {
    const now = this.clock.now()
    const due = this.ctx.storage.transactionSync(() => this.#advance(now))
    await Promise.all(due.map((one) => this.#finish(one)))
  }

  #advance(now: number): Due[] {
    const { sql } = this.ctx.storage
    const due = sql
      .exec<Due>(
        `SELECT id, next_window AS window, definition AS input FROM durable_schedules
          WHERE paused = 0 AND next_fire_at <= ? ORDER BY next_fire_at LIMIT 100`,
        now,
      )
      .toArray()
    for (const { id, window, input } of due) {
      sql.exec(
        `INSERT INTO durable_runs (schedule_id, scheduled_time, name, id, workflow, kind, input, namespace, tags,
            search_attributes, priority, status, counted, created_at, started_at, phase, order_rank, order_at)
          VALUES (?, ?, '', ?, 'brief', 'handler', ?, 'default', '[]', 'null', 0, 'running', 1, ?, ?, 0, 0, ?)`,
        id,
        window,
        `sched:${id}:${window}`,
        input,
        now,
        now,
        window,
      )
      sql.exec(
        `UPDATE durable_schedules SET next_window = ?, next_fire_at = ?, last_fire_at = ?, fires = fires + 1
          WHERE id = ?`,
        window + TICK_MS,
        window + TICK_MS,
        window,
        id,
      )
    }
    const { next } = sql
      .exec<{ next: number }>(
        'SELECT next_fire_at AS next FROM durable_schedules WHERE paused = 0 ORDER BY next_fire_at LIMIT 1',
      )
      .one()
    void this.ctx.storage.setAlarm(next)
    return due
  }

  async #finish({ id, window }: Due): Promise<void> {
    let status = 'complete'
    try {
      await this.run(window)
    } catch {
      status = 'errored'
    }
    this.ctx.storage.sql.exec(
      `UPDATE durable_runs SET status = ?, finished_at = ?, phase = 2, order_rank = 0, order_at = created_at
        WHERE schedule_id = ? AND scheduled_time = ? AND name = ''`,
      status,
      this.clock.now(),
      id,
      window,
    )
  }
}
