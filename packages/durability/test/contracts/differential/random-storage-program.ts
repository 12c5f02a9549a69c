import { Random } from '../../simulation/random.ts'
import { type Call, FromNow, type Program, type Step } from './program.ts'

const KEYS: readonly [string, ...string[]] = [
  'a',
  'b',
  'aa',
  'ab',
  '',
  'ä',
  '😀',
  '__proto__',
  'x'.repeat(2049),
]
const HOUR_MS = 3_600_000

/**
 * A program on values by key, alarms far ahead and asynchronous transactions, with a table beside them; the same for the
 * same seed.
 */
export function randomStorageProgram(seed: number): Program {
  const random = new Random(seed)
  const steps = Array.from({ length: random.integer(4, 12) }, () => randomStep(random, OUTSIDE))
  return [CREATE, ...steps, ...READ_ALL]
}

interface Place {
  readonly depth: number
  readonly inTransaction: boolean
  readonly canAwait: boolean
}

const OUTSIDE: Place = { depth: 0, inTransaction: false, canAwait: true }

function randomStep(random: Random, place: Place): Step {
  const kind = random.next()
  const uncaught = place.depth > 0 && random.chance(0.4)
  if (kind < 0.12) return { ...insert(random), uncaught }
  if (kind < 0.18 && place.canAwait) return { kind: random.pick(['sync', 'turn']), uncaught }
  if (kind < 0.26 && place.depth < 3) return { ...transactionSync(random, place), uncaught }
  if (kind < 0.38 && place.depth < 3 && place.canAwait) return { ...transaction(random, place), uncaught }
  if (kind < 0.4 && place.canAwait) return { ...call(random, place, 'deleteAll', []), uncaught }
  return { ...randomCall(random, place), uncaught }
}

function transactionSync(random: Random, place: Place): Step {
  const inside = { ...place, depth: place.depth + 1, canAwait: false }
  return { kind: 'transactionSync', body: bodyOf(random, inside), throws: random.chance(0.3) }
}

function transaction(random: Random, place: Place): Step {
  const inside = { depth: place.depth + 1, inTransaction: true, canAwait: true }
  const body = bodyOf(random, inside)
  return { kind: 'transaction', body, end: random.pick(['return', 'return', 'throw', 'rollback']) }
}

function bodyOf(random: Random, place: Place): Step[] {
  return Array.from({ length: random.integer(1, 4) }, () => randomStep(random, place))
}

function randomCall(random: Random, place: Place): Call {
  const method = random.pick<Call['method']>([
    'put',
    'put',
    'put',
    'get',
    'get',
    'delete',
    'list',
    'setAlarm',
    'getAlarm',
    'deleteAlarm',
  ])
  return call(random, place, method, argsOf(random, method))
}

function call(random: Random, place: Place, method: Call['method'], args: readonly unknown[]): Call {
  const isKeyed = method === 'get' || method === 'put' || method === 'delete' || method === 'list'
  const hasSeveral = typeof args[0] === 'object' && method !== 'list'
  const on: Call['on'][] = ['storage']
  if (isKeyed && !hasSeveral) on.push('kv')
  if (place.inTransaction && method !== 'deleteAll') on.push('txn', 'txn')
  return {
    kind: 'call',
    on: random.pick(on as [Call['on']]),
    method,
    args,
    awaited: place.canAwait && random.chance(0.8),
  }
}

function argsOf(random: Random, method: Call['method']): readonly unknown[] {
  switch (method) {
    case 'put':
      return random.chance(0.2)
        ? [{ a: randomValue(random), b: 2, [random.pick(KEYS)]: 3 }]
        : [random.pick(KEYS), randomValue(random)]
    case 'get':
    case 'delete':
      return random.chance(0.2) ? [['b', random.pick(KEYS), 'a', 'missing']] : [randomKey(random)]
    case 'list':
      return random.chance(0.3) ? [] : [randomRange(random)]
    case 'setAlarm':
      return [randomTime(random)]
    default:
      return []
  }
}

function randomKey(random: Random): unknown {
  return random.chance(0.1) ? random.pick([null, 5, true]) : random.pick(KEYS)
}

function randomValue(random: Random): unknown {
  return random.pick<() => unknown>([
    () => random.pick([null, 0, -0, 1.5, Number.NaN, 2 ** 60, 12n, true]),
    () => random.pick(['', 'text', '\ud800', 'x'.repeat(500)]),
    () => new Date(5),
    () => new Map<unknown, unknown>([['k', [1]]]),
    () => new Set([1, 'a']),
    () => ({ a: { b: [undefined, null] } }),
    () => new Uint8Array([1, 2]),
    () => new Uint8Array([7, 8]).buffer,
    () => random.pick<unknown>([undefined, () => 1, Symbol('s'), new RangeError('stored'), /x/g]),
    () => random.integer(1, 9),
    () => random.integer(1, 9),
  ])()
}

function randomRange(random: Random): DurableObjectListOptions {
  const range: DurableObjectListOptions = {}
  if (random.chance(0.4)) range.prefix = random.pick(['a', 'x', '', 'ä'])
  if (random.chance(0.3)) range.start = random.pick(KEYS)
  if (random.chance(0.1)) range.startAfter = random.pick(KEYS)
  if (random.chance(0.3)) range.end = random.pick(KEYS)
  if (random.chance(0.3)) range.limit = random.pick([1, 2, 2, 0, -1, 1.5])
  if (random.chance(0.3)) range.reverse = random.chance(0.7)
  return range
}

function randomTime(random: Random): unknown {
  if (random.chance(0.25)) {
    return random.pick([
      0,
      -1,
      Number.NaN,
      Number.POSITIVE_INFINITY,
      1e15,
      undefined,
      null,
      '5',
      new Date(Number.NaN),
      {},
    ])
  }
  return new FromNow(random.integer(1, 5) * HOUR_MS, random.pick(['number', 'number', 'Date']))
}

function insert(random: Random): Step {
  return {
    kind: 'exec',
    sql: random.pick([
      'INSERT INTO t VALUES (?)',
      'INSERT OR REPLACE INTO t VALUES (?)',
      'DELETE FROM t WHERE id = ?',
    ]),
    bindings: [random.integer(1, 6)],
    take: 'toArray',
  }
}

const CREATE: Step = {
  kind: 'exec',
  sql: 'CREATE TABLE t (id INTEGER PRIMARY KEY)',
  bindings: [],
  take: 'nothing',
}

const READ_ALL: Program = [
  { kind: 'exec', sql: 'SELECT id FROM t', bindings: [], take: 'raw' },
  { kind: 'call', on: 'kv', method: 'list', args: [], awaited: false },
  { kind: 'call', on: 'storage', method: 'getAlarm', args: [], awaited: true },
  {
    kind: 'exec',
    sql: "SELECT name FROM sqlite_schema WHERE name NOT LIKE '\\_cf%' ESCAPE '\\' ORDER BY name",
    bindings: [],
    take: 'raw',
  },
]
