import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect, test } from 'vitest'
import { SCHEMA } from '../../src/schedules/sql/schema.ts'

const PACKAGE = join(import.meta.dirname, '../..')
const NAME = 'migrations/0001_durable_schedules.sql'

const HEADER = `-- The tables of durability/schedules in D1. Copy this file into your migrations_dir, or point migrations_dir at its folder,
-- and give the store autoSchema: false. Without it, d1Store creates the same tables on its first write.
`

/** What SQLite has after these statements. */
function schemaAfter(...statements: readonly string[]) {
  const database = new DatabaseSync(':memory:')
  for (const statement of statements) database.exec(statement)
  const made = database.prepare('SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name').all()
  database.close()
  return made
}

// After a change of the schema: npx vitest run --project node --update=all packages/durability/test/schedules/migration.test.ts
test('the migration is the text of the schema', async () => {
  const text = [HEADER, ...SCHEMA.map((statement) => `${statement};\n`)].join('\n')
  await expect(text).toMatchFileSnapshot(join(PACKAGE, NAME))
})

test('the migration makes exactly what the store makes on its first write, also after it', () => {
  const migration = readFileSync(join(PACKAGE, NAME), 'utf8')
  const made = schemaAfter(...SCHEMA)
  expect(made.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'durable_schedules',
      'durable_runs',
      'durable_decisions',
      'durable_schedules_due_idx',
    ]),
  )
  expect(schemaAfter(migration)).toEqual(made)
  expect(schemaAfter(...SCHEMA, migration)).toEqual(made)
  expect(schemaAfter(migration, ...SCHEMA)).toEqual(made)
})

test('the migration is packed', () => {
  const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: PACKAGE,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  // npm 12 answers by name, npm 11 by position.
  const [answer] = Object.values(JSON.parse(packed)) as { files: { path: string }[] }[]
  expect(answer?.files.map(({ path }) => path)).toContain(NAME)
})
