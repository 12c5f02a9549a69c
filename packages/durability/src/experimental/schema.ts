import { check, shown } from '../core/checks.ts'
import { DurabilityError } from '../core/errors.ts'
import { select } from '../core/sql.ts'
import type { ObjectState } from '../core/state.ts'
import type { DefinitionRow } from './definition.ts'

/** The schema this version writes. It rises with every change of the tables. */
const SCHEMA_VERSION = 1

export const SCHEDULE = 'durability_schedule'
export const RUNS = 'durability_schedule_runs'

/** What the schedule's row says before anything was stored. */
export const NO_DEFINITION: DefinitionRow = {
  schemaVersion: SCHEMA_VERSION,
  // The oldest schema version whose code can read these tables. It rises only with a change that is not additive.
  oldestReader: 1,
  version: null,
  expression: null,
  jitterMs: 0,
  jitter: null,
  nextTime: null,
  lastTime: null,
  lastRunId: 0,
}

/** Creates both tables. Call it inside the transaction that writes first. */
export function createSchema(ctx: ObjectState): void {
  const create = 'CREATE TABLE IF NOT EXISTS'
  ctx.storage.sql.exec(
    `${create} ${SCHEDULE} (id INTEGER PRIMARY KEY, ${Object.keys(NO_DEFINITION)});
${create} ${RUNS} (id INTEGER PRIMARY KEY, scheduledTime, dueAt, version, state, outcome, attempts, nextAttemptAt, delivering)`,
  )
}

/**
 * The schedule's row. @throws DurabilityError when the schema that `reader` names is too new for this code. Nothing is
 * changed.
 */
export function readDefinition(
  ctx: ObjectState,
  reader: 'oldestReader' | 'schemaVersion' = 'oldestReader',
): DefinitionRow {
  const [row = NO_DEFINITION] = select<DefinitionRow>(ctx, SCHEDULE)
  if (row[reader] > SCHEMA_VERSION)
    throw new DurabilityError(
      'ScheduleSchemaError',
      'schedule_schema',
      `The stored schema v${row.schemaVersion} needs a newer version of durability`,
    )
  return row
}

/** Goes to exactly the named schema, or with `null` to none: the tables and everything in them are removed. */
export function migrateSchema(ctx: ObjectState, target: string | null): void {
  if (target === null) {
    ctx.storage.sql.exec(`DROP TABLE IF EXISTS ${RUNS}; DROP TABLE IF EXISTS ${SCHEDULE}`)
    return
  }
  check('target', target, 'string')
  if (target !== `v${SCHEMA_VERSION}`)
    throw new RangeError(`target must be "v${SCHEMA_VERSION}" or null, got ${shown(target)}`)
  readDefinition(ctx, 'schemaVersion')
  createSchema(ctx)
}
