import { MINUTE_MS } from './expressions.ts'
import type { ModelOptions } from './model.ts'
import { Random, seedOf } from './random.ts'
import type { Behaviour } from './subject.ts'

type Choices<T> = readonly [T, ...T[]]

/** A kind of long history. */
export interface Profile {
  readonly name: string
  readonly steps: number
  /** Ticks, of one a second, between two steps. */
  readonly ticks: readonly [least: number, most: number]
  /** Probability that a step is trouble rather than a passing of time. */
  readonly trouble: number
  /** Probability that a run, or a delivery, does something else than returning soon. */
  readonly oddRuns: number
  readonly oddDeliveries: number
  /** Steps of trouble also leave clocks apart, refuse writes and alarms, and make expressions fail. */
  readonly isWild: boolean
  readonly runsMs: Choices<number>
  readonly concurrency: Choices<number>
}

export const PROFILES: Choices<Profile> = [
  {
    name: 'calm',
    steps: 60,
    ticks: [20, 60],
    trouble: 0.4,
    oddRuns: 0.03,
    oddDeliveries: 0.06,
    isWild: false,
    runsMs: [0, 0, 50, 600],
    concurrency: [1, 3, 10],
  },
  {
    name: 'wild',
    steps: 160,
    ticks: [1, 8],
    trouble: 0.65,
    oddRuns: 0.3,
    oddDeliveries: 0.3,
    isWild: true,
    runsMs: [0, 100, 700, 2_500],
    concurrency: [1, 2, 10],
  },
  {
    name: 'overlapping',
    steps: 60,
    ticks: [10, 40],
    trouble: 0.4,
    oddRuns: 0.1,
    oddDeliveries: 0.1,
    isWild: false,
    runsMs: [400, 900, 1_500, 5_000],
    concurrency: [2, 4, 10],
  },
  {
    name: 'failing deliveries',
    steps: 80,
    ticks: [5, 30],
    trouble: 0.3,
    oddRuns: 0.05,
    oddDeliveries: 0.4,
    isWild: true,
    runsMs: [0, 0, 300],
    concurrency: [1, 10],
  },
]

/** The profile of a seed: every fourth has the same. */
export function profileOf(seed: number): Profile {
  return PROFILES[seed % PROFILES.length] ?? PROFILES[0]
}

/** How the object of a seed is set up, and what its handlers and receivers do. */
export function optionsOf(seed: number): ModelOptions {
  const profile = profileOf(seed)
  const random = new Random(seedOf(seed, 0))
  const delayMs = random.pick([0, 50, 700, 4_000, 20_000])
  const maxAttempts = random.pick([1, 2, 5])
  return {
    ties: random.pick(['timers first', 'alarms first']),
    alarmCalls: random.pick(['same turn', 'same turn', 'later turn']),
    hasAlarms: random.chance(0.3),
    scheduler: {
      alarmHandoffMs: random.pick([14 * MINUTE_MS, 14 * MINUTE_MS, 20_000, 3_000]),
      alarmMinDelayMs: random.pick([15_000, 3_000, 1_000]),
      liveTimers: random.chance(0.3),
      alarmConcurrency: random.pick([1, 10]),
    },
    schedule: {
      maxConcurrentRuns: random.pick(profile.concurrency),
      maxConcurrentDeliveries: random.pick([1, 2, 10]),
      runTimeoutMs: random.pick([15 * MINUTE_MS, 4_000, 800]),
      outcomeTimeoutMs: random.pick([60_000, 2_000, 300]),
      // The default delays are random; so they are here, from the history's own random numbers.
      outcomeRetries: random.chance(0.2) ? { maxAttempts } : { maxAttempts, delay: () => delayMs },
      ...(random.chance(0.25) ? { interruptedWithinMs: random.pick([300, 2_000, 30_000]) } : {}),
    },
    run: ({ scheduledTime }) => {
      const own = new Random(seedOf(seed, 1, scheduledTime))
      return own.chance(profile.oddRuns) ? oddity(own, true) : { takesMs: own.pick(profile.runsMs) }
    },
    ...(random.chance(0.12)
      ? { receive: false }
      : {
          receive: ({ scheduledTime }, delivery) => {
            const own = new Random(seedOf(seed, 2, scheduledTime, delivery))
            if (own.chance(profile.oddDeliveries)) return oddity(own, delivery < 4)
            return { takesMs: own.pick([0, 0, 0, 20, 200]) }
          },
        }),
    alarms: {
      attemptTimeoutMs: random.pick([15 * MINUTE_MS, 2_000]),
      retries: { maxAttempts: 3, delay: () => 500 },
    },
    alarm: (attempt) => {
      const own = new Random(seedOf(seed, 3, attempt))
      return own.chance(0.3) ? oddity(own, false) : {}
    },
  }
}

function oddity(random: Random, canCrash: boolean): Behaviour {
  // Such a handler must end by itself: one that hangs as well would keep its slot for ever.
  if (random.chance(0.2)) return { takesMs: random.pick([1_000, 6_000, 30_000]), ignoresAbort: true }
  return {
    takesMs: random.pick([0, 100, 900, 6_000]),
    ends: random.pick(['return', 'throw', 'throw', 'hang', canCrash ? 'crash' : 'throw']),
  }
}
