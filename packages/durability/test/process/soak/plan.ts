import { Random, seedOf } from '../../simulation/random.ts'

export const OBJECTS = ['narrow', 'wide', 'sparse'] as const
export type ObjectName = (typeof OBJECTS)[number]

export const ALARMS = ['renew', 'purge'] as const
export type AlarmName = (typeof ALARMS)[number]

/** What one of the objects is like. All durations are ms. */
export interface ObjectPlan {
  readonly maxConcurrentRuns: number
  readonly runTimeoutMs: number
  readonly interruptedWithinMs?: number
  readonly maxConcurrentDeliveries: number
  readonly outcomeTimeoutMs: number
  /** Deliveries of one outcome. */
  readonly maxAttempts: number
  /** Times the attempt. Above `alarmMinDelayMs` a retry is left to the alarm. */
  readonly retryDelayMs: number
  readonly alarmMinDelayMs: number
  readonly alarmHandoffMs: number
  readonly alarmConcurrency: number
  readonly liveTimers: boolean
  readonly alarmTimeoutMs: number
  readonly alarmAttempts: Readonly<Record<AlarmName, number>>
  /** How often its own helper runs; left out, it has none. */
  readonly pulseMs?: number
  /** What its definitions are drawn from. */
  readonly intervalsMs: readonly [number, ...number[]]
  readonly maxJitterMs: number
  /** The longest a run takes that is in time. */
  readonly runMs: number
}

export const PLANS: Readonly<Record<ObjectName, ObjectPlan>> = {
  /** Few slots and one delivery at a time: runs wait, slots get stuck, and passes hand over. */
  narrow: {
    maxConcurrentRuns: 2,
    runTimeoutMs: 1_500,
    maxConcurrentDeliveries: 1,
    outcomeTimeoutMs: 1_500,
    maxAttempts: 3,
    retryDelayMs: 100,
    alarmMinDelayMs: 1_000,
    alarmHandoffMs: 2_000,
    alarmConcurrency: 1,
    liveTimers: false,
    alarmTimeoutMs: 1_500,
    alarmAttempts: { renew: 3, purge: 2 },
    intervalsMs: [400, 600, 900],
    maxJitterMs: 500,
    runMs: 500,
  },
  /** Many overlapping runs, far retries, and a helper of the user's own. */
  wide: {
    maxConcurrentRuns: 8,
    runTimeoutMs: 1_800,
    maxConcurrentDeliveries: 4,
    outcomeTimeoutMs: 1_500,
    maxAttempts: 4,
    retryDelayMs: 1_100,
    alarmMinDelayMs: 1_000,
    alarmHandoffMs: 5_000,
    alarmConcurrency: 10,
    liveTimers: true,
    alarmTimeoutMs: 1_500,
    alarmAttempts: { renew: 3, purge: 5 },
    pulseMs: 700,
    intervalsMs: [250, 350, 500],
    maxJitterMs: 300,
    runMs: 800,
  },
  /** Ticks that are far apart, and long runs: what a crash left must be found without the next tick. */
  sparse: {
    maxConcurrentRuns: 1,
    runTimeoutMs: 3_000,
    interruptedWithinMs: 500,
    maxConcurrentDeliveries: 10,
    outcomeTimeoutMs: 1_500,
    maxAttempts: 5,
    retryDelayMs: 300,
    alarmMinDelayMs: 2_000,
    alarmHandoffMs: 800_000,
    alarmConcurrency: 2,
    liveTimers: false,
    alarmTimeoutMs: 1_500,
    alarmAttempts: { renew: 4, purge: 2 },
    intervalsMs: [1_000, 1_500, 2_500],
    maxJitterMs: 800,
    runMs: 2_000,
  },
}

/** Expressions are `<interval>+<phase>`, both ms. */
export function nextOccurrence(expression: string, after: number): number {
  const [interval = 0, phase = 0] = expression.split('+').map(Number)
  return (Math.floor((after - phase) / interval) + 1) * interval + phase
}

/** What the receiver does with a call: after so many ms it answers with this status. */
export interface Answer {
  readonly afterMs: number
  readonly status: 200 | 500
}

const indexOf = (object: ObjectName) => OBJECTS.indexOf(object)

/** Whether a handler ends when its signal is aborted; others go on until they are answered. */
export function heedsAbort(seed: number, object: ObjectName, scheduledTime: number): boolean {
  return new Random(seedOf(seed, 1, indexOf(object), scheduledTime)).chance(0.5)
}

/** The fate of a handler: most return or throw in time, some at once, some are too late. */
export function runAnswer(seed: number, object: ObjectName, scheduledTime: number): Answer {
  const { runMs, runTimeoutMs } = PLANS[object]
  const random = new Random(seedOf(seed, 2, indexOf(object), scheduledTime))
  const status = random.chance(0.2) ? 500 : 200
  const kind = random.next()
  if (kind < 0.15) return { afterMs: 0, status }
  if (kind < 0.9) return { afterMs: random.integer(5, runMs), status }
  return { afterMs: Math.round(runTimeoutMs * (1.2 + random.next())), status }
}

/** The fate of delivery number `attempt`: some outcomes fail a few times, some hang first, some are never taken. */
export function deliveryAnswer(
  seed: number,
  object: ObjectName,
  scheduledTime: number,
  attempt: number,
): Answer {
  const { maxAttempts, outcomeTimeoutMs } = PLANS[object]
  const random = new Random(seedOf(seed, 3, indexOf(object), scheduledTime))
  return fate(random, attempt, maxAttempts, outcomeTimeoutMs)
}

/** The fate of an attempt of a named alarm. */
export function alarmAnswer(
  seed: number,
  object: ObjectName,
  name: AlarmName,
  at: number,
  attempt: number,
): Answer {
  const { alarmAttempts, alarmTimeoutMs } = PLANS[object]
  const random = new Random(seedOf(seed, 4, indexOf(object), ALARMS.indexOf(name), at))
  return fate(random, attempt, alarmAttempts[name], alarmTimeoutMs)
}

/** A user's own helper fails now and then. */
export function pulseAnswer(seed: number, object: ObjectName, count: number): Answer {
  const random = new Random(seedOf(seed, 5, indexOf(object), count))
  return { afterMs: random.integer(0, 100), status: random.chance(0.1) ? 500 : 200 }
}

function fate(random: Random, attempt: number, maxAttempts: number, timeoutMs: number): Answer {
  const kind = random.next()
  const failures = random.integer(1, Math.max(maxAttempts - 1, 1))
  const afterMs = random.chance(0.2)
    ? random.integer(100, Math.round(timeoutMs * 0.3))
    : random.integer(0, 60)
  if (kind < 0.08) return { afterMs, status: 500 }
  if (kind < 0.3 && attempt <= failures) return { afterMs, status: 500 }
  if (kind > 0.9 && attempt === 1) return { afterMs: timeoutMs * 2, status: 200 }
  return { afterMs, status: 200 }
}
