const TABLES = ['durable_schedules', 'durable_schedule_tags', 'durable_runs', 'durable_decisions']

/** A database as it was before anybody used it. */
export async function dropTables(database: D1Database): Promise<void> {
  await database.batch(TABLES.map((table) => database.prepare(`DROP TABLE IF EXISTS ${table}`)))
}
