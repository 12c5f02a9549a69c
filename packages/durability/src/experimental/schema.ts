import { shown } from '../core/checks.ts'
import type { ObjectState } from '../core/state.ts'
import { ScheduleSchemaError } from './errors.ts'

/** The schema this version writes. It rises with every change of the tables. */
export const SCHEMA_VERSION = 1

/** The oldest schema version whose code can read these tables. It rises only with a change that is not additive. */
export const OLDEST_READER = 1

/** The names `migrate` takes, oldest first. */
export const SCHEMA_NAMES: readonly string[] = ['v1']

const CREATE = `
  CREATE TABLE durability_schedule (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    schema_version INTEGER NOT NULL,
    oldest_reader INTEGER NOT NULL,
    version INTEGER,
    expression TEXT,
    cancelled INTEGER NOT NULL DEFAULT 0,
    jitter_ms INTEGER NOT NULL DEFAULT 0,
    jitter_max_ms INTEGER,
    next_time INTEGER,
    last_time INTEGER,
    last_run_id INTEGER NOT NULL DEFAULT 0
  );
  CREATE TABLE durability_schedule_runs (
    id INTEGER PRIMARY KEY,
    scheduled_time INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    version INTEGER NOT NULL,
    state INTEGER NOT NULL,
    error_name TEXT,
    error_message TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    next_attempt_at INTEGER,
    delivering INTEGER NOT NULL DEFAULT 0
  );
`
const DROP = 'DROP TABLE IF EXISTS durability_schedule_runs; DROP TABLE IF EXISTS durability_schedule;'

/** Creates both tables. Call it inside the transaction that writes their first row. */
export function createSchema(ctx: ObjectState): void {
  ctx.storage.sql.exec(CREATE)
}

/** Runs a query on tables that may not exist: before the first use, or after `deleteAll()`. Then `undefined`. */
export function unlessMissing<T>(query: () => T): T | undefined {
  try {
    return query()
  } catch (error) {
    if (isMissingTable(error)) return undefined
    throw error
  }
}

function isMissingTable(error: unknown): boolean {
  return error instanceof Error && /no such table: durability_schedule/.test(error.message)
}

/** @throws ScheduleSchemaError when the stored schema says that this code may not read it. */
export function checkReadable(schemaVersion: number, oldestReader: number): void {
  if (oldestReader <= SCHEMA_VERSION) return
  throw new ScheduleSchemaError(
    `The stored schedule has schema v${schemaVersion}, which needs at least v${oldestReader}; this version of durability ` +
      `reads v${SCHEMA_VERSION}. Deploy the newer version again, or migrate back with it first. Nothing was changed.`,
  )
}

/** Goes to exactly the named schema, or with `null` to none: the tables and everything in them are removed. */
export function migrateSchema(ctx: ObjectState, target: string | null): void {
  if (target !== null && typeof target !== 'string') {
    throw new TypeError(`target must be a schema name or null, got ${shown(target)}`)
  }
  if (target !== null && !SCHEMA_NAMES.includes(target)) {
    throw new RangeError(`target must be one of ${SCHEMA_NAMES.join(', ')} or null, got ${shown(target)}`)
  }
  ctx.storage.transactionSync(() => {
    if (target === null) {
      ctx.storage.sql.exec(DROP)
      return
    }
    const stored = storedVersion(ctx)
    if (stored === undefined) {
      createSchema(ctx)
      ctx.storage.sql.exec(
        'INSERT INTO durability_schedule (id, schema_version, oldest_reader) VALUES (1, ?, ?)',
        SCHEMA_VERSION,
        OLDEST_READER,
      )
    } else if (stored !== SCHEMA_VERSION) {
      throw new ScheduleSchemaError(
        `This version of durability cannot migrate schema v${stored} to ${target}. Nothing was changed.`,
      )
    }
  })
}

function storedVersion(ctx: ObjectState): number | undefined {
  const rows = unlessMissing(() =>
    ctx.storage.sql
      .exec<{ schema_version: number }>('SELECT schema_version FROM durability_schedule')
      .toArray(),
  )
  return rows?.[0]?.schema_version
}
