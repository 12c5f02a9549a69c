import { Random } from '../../simulation/random.ts'
import type { AlarmScript, LivesProgram } from './lives.ts'
import { type Call, FromNow, type Program, type Step } from './program.ts'

const HOUR_MS = 3_600_000

/** A program on crashes, and on alarms that come by themselves; the same for the same seed. */
export function randomLivesProgram(seed: number): LivesProgram {
  const random = new Random(seed)
  const lives = random.pick([1, 2, 2])
  return {
    lives: [
      ...Array.from({ length: lives }, (_, life) =>
        Array.from({ length: random.integer(1, 2) }, (__, request) =>
          randomRequest(random, life === 0 && request === 0 ? [CREATE, { kind: 'sync' }] : []),
        ),
      ),
      [READ_ALL],
    ],
    alarms: randomAlarms(random),
  }
}

/** Of two invocations in a row at most one throws: the platform's pauses between retries grow. */
function randomAlarms(random: Random): AlarmScript[] {
  return Array.from({ length: 6 }, (_, index) => ({
    steps: Array.from({ length: random.integer(0, 4) }, () => randomStep(random, IN_ALARM)),
    end: random.pick(index % 2 === 0 ? ['return', 'throw', 'throw', 'hold'] : ['return', 'return', 'hold']),
  }))
}

function randomRequest(random: Random, before: Program): Program {
  const steps = [...before]
  let place = IN_REQUEST
  for (let left = random.integer(1, 5); left > 0; left -= 1) {
    const step = randomStep(random, place)
    steps.push(step)
    // The alarm may come at any time from the end of this turn on: the request is over by then.
    if (setsNearAlarm(step)) place = { ...place, canAwait: false }
  }
  return steps
}

interface Place {
  readonly depth: number
  readonly canAwait: boolean
  readonly inAlarm: boolean
}

const IN_REQUEST: Place = { depth: 0, canAwait: true, inAlarm: false }
const IN_ALARM: Place = { depth: 0, canAwait: true, inAlarm: true }

function randomStep(random: Random, place: Place): Step {
  const kind = random.next()
  const uncaught = place.depth > 0 && random.chance(0.3)
  const inside = { ...place, depth: place.depth + 1 }
  if (kind < 0.25) return { ...insert(random), uncaught }
  if (kind < 0.35) return { ...put(random), uncaught }
  if (kind < 0.43 && place.canAwait) return { kind: random.pick(['sync', 'turn']) }
  if (kind < 0.5 && place.depth < 2) {
    const throws = random.chance(0.3)
    return { kind: 'transactionSync', body: bodyOf(random, { ...inside, canAwait: false }), throws, uncaught }
  }
  if (kind < 0.56 && place.depth < 2 && place.canAwait) {
    const end = random.pick(['return', 'throw', 'rollback'] as const)
    const body = bodyOf(random, inside)
    // The runtime loses an alarm that `alarm()` has set when such a transaction sets another and is rolled back.
    if (place.inAlarm && body.some(changesAlarm)) {
      return {
        kind: 'transaction',
        body: body.map((each) => ({ ...each, uncaught: false })),
        end: 'return',
        uncaught,
      }
    }
    return { kind: 'transaction', body, end, uncaught }
  }
  if (kind < 0.59 && place.depth === 0) return { kind: 'abort' }
  if (kind < 0.61 && place.depth === 0) return alarmCall(random, place, 'deleteAll', [])
  return { ...randomAlarmCall(random, place), uncaught }
}

function bodyOf(random: Random, place: Place): Step[] {
  return Array.from({ length: random.integer(1, 3) }, () => randomStep(random, place))
}

function randomAlarmCall(random: Random, place: Place): Step {
  const method = random.pick<Call['method']>(['setAlarm', 'setAlarm', 'setAlarm', 'getAlarm', 'deleteAlarm'])
  if (method !== 'setAlarm') return alarmCall(random, place, method, [])
  const ms = random.pick([-5_000, 0, 0, 1, HOUR_MS, 2 * HOUR_MS])
  return alarmCall(random, place, method, [new FromNow(ms, random.pick(['number', 'Date']))])
}

function alarmCall(
  random: Random,
  { canAwait }: Place,
  method: Call['method'],
  args: readonly unknown[],
): Step {
  return { kind: 'call', on: 'storage', method, args, awaited: canAwait && random.chance(0.8) }
}

function setsNearAlarm(step: Step): boolean {
  if (step.kind === 'transactionSync' || step.kind === 'transaction') return step.body.some(setsNearAlarm)
  return step.kind === 'call' && step.args.some((arg) => arg instanceof FromNow && arg.ms < HOUR_MS)
}

function changesAlarm(step: Step): boolean {
  if (step.kind === 'transactionSync' || step.kind === 'transaction') return step.body.some(changesAlarm)
  return step.kind === 'call' && (step.method === 'setAlarm' || step.method === 'deleteAlarm')
}

function insert(random: Random): Step {
  const sql = random.pick(['INSERT INTO t VALUES (?)', 'INSERT OR REPLACE INTO t VALUES (?)'])
  return { kind: 'exec', sql, bindings: [random.integer(1, 9)], take: 'toArray' }
}

function put(random: Random): Step {
  const args = [random.pick(['a', 'b']), random.integer(1, 9)]
  return { kind: 'call', on: 'kv', method: 'put', args, awaited: false }
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
]
