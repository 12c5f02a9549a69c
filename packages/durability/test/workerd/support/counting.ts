import { forwarding } from './forwarding.ts'

/** What an object's storage calls cost, in the platform's billing units. */
export interface Cost {
  rowsRead: number
  rowsWritten: number
  /** `setAlarm` calls. */
  alarms: number
  /** `deleteAlarm` calls. */
  alarmDeletes: number
}

/** A `ctx` that behaves like the given one and adds up what it is asked to do. */
export function counting(ctx: DurableObjectState, cost: Cost): DurableObjectState {
  const cursors: { rowsRead: number; rowsWritten: number }[] = []
  const settle = () => {
    for (const cursor of cursors.splice(0)) {
      cost.rowsRead += cursor.rowsRead
      cost.rowsWritten += cursor.rowsWritten
    }
  }
  const sql = forwarding(ctx.storage.sql, {
    exec: (query: string, ...bindings: unknown[]) => {
      settle()
      const cursor = ctx.storage.sql.exec(query, ...bindings)
      cursors.push(cursor)
      // A lazy cursor is counted when the next call is made, or when the turn is over.
      queueMicrotask(settle)
      return cursor
    },
  })
  const storage = forwarding(ctx.storage, {
    sql,
    setAlarm: (at: number) => {
      cost.alarms += 1
      return ctx.storage.setAlarm(at)
    },
    deleteAlarm: () => {
      cost.alarmDeletes += 1
      return ctx.storage.deleteAlarm()
    },
  })
  return forwarding(ctx, { storage })
}

export function noCost(): Cost {
  return { rowsRead: 0, rowsWritten: 0, alarms: 0, alarmDeletes: 0 }
}
