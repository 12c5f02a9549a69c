/** What an object's storage was asked for, in the platform's billing units. */
export interface Cost {
  rowsRead: number
  rowsWritten: number
  alarms: number
}

/** Counts in place, so that it does not matter who calls the storage. Slow: not in an object whose time is measured. */
export function countIn(storage: DurableObjectStorage): Cost {
  const cost: Cost = { rowsRead: 0, rowsWritten: 0, alarms: 0 }
  const { sql } = storage
  const exec = sql.exec.bind(sql)
  const setAlarm = storage.setAlarm.bind(storage)
  const open = new Set<SqlStorageCursor<Record<string, SqlStorageValue>>>()
  const settle = () => {
    for (const { rowsRead, rowsWritten } of open) {
      cost.rowsRead += rowsRead
      cost.rowsWritten += rowsWritten
    }
    open.clear()
  }
  const counted = (query: string, ...bindings: unknown[]) => {
    settle()
    const cursor = exec(query, ...bindings)
    open.add(cursor)
    // A cursor is read after it was made: it is counted at the next call, or when the turn is over.
    queueMicrotask(settle)
    return cursor
  }
  Object.assign(sql, { exec: counted })
  Object.assign(storage, {
    setAlarm(time: number | Date) {
      cost.alarms += 1
      return setAlarm(time)
    },
  })
  return cost
}

/** What has been counted since this was last called. */
export function takeFrom(cost: Cost | undefined): Cost {
  if (!cost) throw new Error('This worker does not count')
  const taken = { ...cost }
  Object.assign(cost, { rowsRead: 0, rowsWritten: 0, alarms: 0 })
  return taken
}
