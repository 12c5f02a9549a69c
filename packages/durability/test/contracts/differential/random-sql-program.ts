import { Random } from '../../simulation/random.ts'
import type { Exec, Program, Step, Take } from './program.ts'
import { billedQuery, type Query, randomQuery, TABLES } from './random-sql.ts'

const TAKES: readonly [Take, ...Take[]] = [
  'toArray',
  'toArray',
  'toArray',
  'one',
  'next',
  'break',
  'raw',
  'raw next',
  'raw break',
  'nothing',
  'columnNames',
  'rowsWritten',
]
const SLOTS = 3

/** A program on one object's SQL storage, the same for the same seed. */
export function randomSqlProgram(seed: number): Program {
  const random = new Random(seed)
  return [
    ...START,
    ...Array.from({ length: random.integer(4, 12) }, () => randomAnyStep(random)),
    ...READ_ALL,
  ]
}

function randomAnyStep(random: Random): Step {
  if (random.chance(0.08)) return { kind: random.pick(['sync', 'turn']) }
  return randomStep(random, 0)
}

function randomStep(random: Random, depth: number): Step {
  if (random.chance(0.15)) {
    return { kind: 'resume', slot: random.integer(1, SLOTS), take: random.pick(TAKES) }
  }
  if (depth < 3 && random.chance(0.15)) {
    const body = Array.from({ length: random.integer(1, 4) }, () => randomStep(random, depth + 1))
    return { kind: 'transactionSync', body, throws: random.chance(0.3), ...mayEscape(random, depth) }
  }
  if (random.chance(0.1)) return { ...exec(billedQuery(random), 'rowsRead'), ...mayEscape(random, depth) }
  const query = randomQuery(random)
  const take = random.pick(TAKES)
  // What these cost is nobody's contract.
  const isFree = /\b(ALTER|DROP)\b/.test(query.sql)
  const step = exec(query, isFree && take === 'rowsWritten' ? 'nothing' : take)
  const keeps = random.chance(0.3) && !isFree ? { slot: random.integer(1, SLOTS) } : {}
  return { ...step, ...keeps, ...mayEscape(random, depth) }
}

/** Outside of a transaction there is nobody to catch it. */
function mayEscape(random: Random, depth: number): { readonly uncaught?: boolean } {
  return depth > 0 && random.chance(0.4) ? { uncaught: true } : {}
}

function exec({ sql, bindings }: Query, take: Take): Exec {
  return { kind: 'exec', sql, bindings, take }
}

/** So that a program need not begin with creating what it needs; and SQLite's counters are set. */
const START: Program = ['t', 'u', 's', 'c', 'p'].map((table) =>
  exec({ sql: TABLES[table] ?? '', bindings: [] }, 'nothing'),
)

const READ_ALL: Program = [
  'SELECT name, length(sql) FROM sqlite_schema ORDER BY name',
  ...['t', 'u', 's', 'c', 'p'].map((table) => `SELECT * FROM ${table} ORDER BY 1, 2`),
].map((sql) => exec({ sql, bindings: [] }, 'raw'))
