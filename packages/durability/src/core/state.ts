/**
 * The narrow part of a Durable Object's `ctx` that this package uses. `DurableObjectState` has this shape; so has the
 * simulated state of the tests.
 */
export interface ObjectState {
  readonly id: { toString(): string }
  readonly storage: ObjectStorage
}

/** A value that SQLite stores. */
export type SqlValue = string | number | null | ArrayBuffer

/** A lazily read result: rows that are not asked for are not read, and not billed. */
export interface SqlCursor<Row extends Record<string, SqlValue>> extends Iterable<Row> {
  toArray(): Row[]
  readonly rowsRead: number
  readonly rowsWritten: number
}

/** The storage calls this package makes. All writes of one synchronous turn, alarms included, are one unit. */
export interface ObjectStorage {
  readonly sql: {
    exec<Row extends Record<string, SqlValue>>(query: string, ...bindings: SqlValue[]): SqlCursor<Row>
  }
  /** Runs `write` at once; what it wrote, alarms included, is undone when it throws. Calls nest. */
  transactionSync<T>(write: () => T): T
  getAlarm(): Promise<number | null>
  setAlarm(scheduledTime: number): Promise<void>
  deleteAlarm(): Promise<void>
  /** Resolves when everything written so far is durable. */
  sync(): Promise<void>
}

/** What the platform passes to `alarm()`. It does not tell whether an earlier invocation was cut off by a crash. */
export interface AlarmInfo {
  readonly isRetry?: boolean
  readonly retryCount?: number
  readonly scheduledTime?: number
}
