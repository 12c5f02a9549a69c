import { checkType, shown } from '../core/checks.ts'
import { DurabilityError } from '../core/errors.ts'
import { runSql } from '../core/sql.ts'
import type { ObjectState } from '../core/state.ts'

/** The schema this version writes. It rises with every change of the tables. */
export const SCHEMA_VERSION = 1

/** The oldest schema version whose code can read these tables. It rises only with a change that is not additive. */
const OLDEST_READER = 1

const CREATE = `
CREATE TABLE IF NOT EXISTS durability_schedule (
  id INTEGER PRIMARY KEY,
  schemaVersion INTEGER,
  oldestReader INTEGER,
  version INTEGER,
  expression TEXT,
  cancelled INTEGER,
  jitterMs INTEGER,
  jitterMaxMs INTEGER,
  nextTime INTEGER,
  lastTime INTEGER,
  lastRunId INTEGER
);
CREATE TABLE IF NOT EXISTS durability_schedule_runs (
  id INTEGER PRIMARY KEY,
  scheduledTime INTEGER,
  dueAt INTEGER,
  version INTEGER,
  state INTEGER,
  errorName TEXT,
  errorMessage TEXT,
  attempts INTEGER,
  nextAttemptAt INTEGER,
  delivering INTEGER
);
INSERT INTO durability_schedule (id, schemaVersion, oldestReader, cancelled, jitterMs, lastRunId) VALUES (1, ${SCHEMA_VERSION}, ${OLDEST_READER}, 0, 0, 0)`

/** Creates both tables and the schedule's row. Call it inside the transaction that writes first. */
export function createSchema(ctx: ObjectState): void {
  ctx.storage.sql.exec(CREATE)
}

/** @throws DurabilityError when the stored schema says that this code may not read it. Nothing is changed. */
export function checkReadable(schemaVersion: number, oldestReader: number): void {
  if (oldestReader <= SCHEMA_VERSION) return
  throw new DurabilityError(
    'ScheduleSchemaError',
    'schedule_schema',
    `The stored schema v${schemaVersion} needs a newer version of durability than this one, which reads v${SCHEMA_VERSION}`,
  )
}

/** Goes to exactly the named schema, or with `null` to none: the tables and everything in them are removed. */
export function migrateSchema(ctx: ObjectState, target: string | null): void {
  if (target !== null) checkType('target', target, 'string')
  if (target !== null && target !== `v${SCHEMA_VERSION}`) {
    throw new RangeError(`target must be "v${SCHEMA_VERSION}" or null, got ${shown(target)}`)
  }
  ctx.storage.transactionSync(() => {
    if (target === null) {
      ctx.storage.sql.exec(
        'DROP TABLE IF EXISTS durability_schedule_runs; DROP TABLE IF EXISTS durability_schedule',
      )
      return
    }
    const [row] =
      runSql<{ schemaVersion: number }>(ctx, 'SELECT schemaVersion FROM durability_schedule')?.toArray() ?? []
    if (row === undefined) createSchema(ctx)
    else checkReadable(row.schemaVersion, row.schemaVersion)
  })
}
