import type { Bundle } from './setup.ts'

/** Makes it as if `count` more ticks had been recorded and waited for a slot, and had been seen by the instance. */
export function addWaitingRuns(object: Bundle, count: number): Promise<void> {
  return object.inside(({ ctx, schedule }) => {
    ctx.storage.transactionSync(() => {
      const { sql } = ctx.storage
      const { last } = sql.exec<{ last: number }>('SELECT lastRunId AS last FROM durability_schedule').one()
      for (let id = last + 1; id <= last + count; id += 1) {
        sql.exec(
          'INSERT INTO durability_schedule_runs (id, scheduledTime, dueAt, version, state) VALUES (?, ?, ?, 1, 0)',
          id,
          id,
          id,
        )
      }
      sql.exec('UPDATE durability_schedule SET lastRunId = ?', last + count)
    })
    schedule.status()
  })
}
