import type { ObjectState, SqlCursor, SqlValue } from '../../src/core/state.ts'
import type { Faults } from './faults.ts'

/** Told of each durable write as it is made, with where it is made. */
export interface WriteWatch {
  /** Durable writes so far, over all instances. */
  readonly writes: () => number
  /** `numbers`: the writes that this was, counted from 1 (creating tables is several). */
  onWrite(site: string, bindings: readonly SqlValue[], numbers: readonly [from: number, to: number]): void
  /** A call whose promise is a seam was made. */
  onCall(kind: 'sync' | 'getAlarm' | 'setAlarm' | 'deleteAlarm'): void
  onRefused(what: 'write' | 'alarm'): void
}

/** The state as the object gets it: it can refuse, and what is written is seen. */
export function watched(state: ObjectState, faults: Faults, watch: WriteWatch): ObjectState {
  const { storage } = state
  const writing = <Result>(site: string, bindings: readonly SqlValue[], write: () => Result): Result => {
    const before = watch.writes()
    const result = write()
    const after = watch.writes()
    if (after > before) watch.onWrite(site, bindings, [before + 1, after])
    return result
  }
  return {
    id: state.id,
    storage: {
      sql: {
        exec<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): SqlCursor<Row> {
          if (query.startsWith('SELECT')) return storage.sql.exec<Row>(query, ...bindings)
          refusing('write', watch, () => faults.onWrite())
          return writing(query, bindings, () => storage.sql.exec<Row>(query, ...bindings))
        },
      },
      transactionSync: (write) => storage.transactionSync(write),
      getAlarm() {
        watch.onCall('getAlarm')
        return storage.getAlarm()
      },
      setAlarm(at) {
        const refusal = refusing('alarm', watch, () => faults.onSetAlarm())
        if (refusal !== undefined) {
          watch.onRefused('alarm')
          return Promise.reject(refusal)
        }
        watch.onCall('setAlarm')
        return writing('setAlarm', [at], () => storage.setAlarm(at))
      },
      deleteAlarm() {
        watch.onCall('deleteAlarm')
        return writing('deleteAlarm', [], () => storage.deleteAlarm())
      },
      sync() {
        watch.onCall('sync')
        return storage.sync()
      },
    },
  }
}

function refusing<Result>(what: 'write' | 'alarm', watch: WriteWatch, refuse: () => Result): Result {
  try {
    return refuse()
  } catch (error) {
    watch.onRefused(what)
    throw error
  }
}
