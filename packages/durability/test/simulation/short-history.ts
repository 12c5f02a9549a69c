import { MINUTE_MS } from './expressions.ts'
import { Model, type ModelOptions } from './model.ts'
import { type Played, playOut, type Wanted } from './play.ts'
import { Random, seedOf } from './random.ts'
import type { Behaviour } from './subject.ts'

const STEPS = 25
const DELAYS_MS: readonly [number, ...number[]] = [0, 500, 5_000, 40_000, 200_000]

/** A short history of everything that can happen, the same for the same seed. */
export async function playShort(seed: number, wanted: Wanted = {}): Promise<Played> {
  const random = new Random(seed)
  const model = new Model({ ...randomOptions(seed, random), ...wanted })
  const script = async () => {
    let version = 0
    for (let step = 0; step < STEPS; step += 1) version = await randomStep(model, random, version)
  }
  return playOut(model, new Random(seed), script, `Seed ${seed} of the short histories`)
}
function randomOptions(seed: number, random: Random): ModelOptions {
  const delayMs = random.pick(DELAYS_MS)
  const isWild = random.chance(0.3)
  return {
    ties: random.pick(['timers first', 'alarms first']),
    alarmCalls: random.pick(['same turn', 'later turn']),
    hasAlarms: random.chance(0.4),
    scheduler: {
      alarmHandoffMs: random.pick([14 * MINUTE_MS, 14 * MINUTE_MS, 20_000, 3_000]),
      alarmMinDelayMs: random.pick([15_000, 1_000]),
      liveTimers: random.chance(0.3),
      alarmConcurrency: random.pick([1, 10]),
    },
    schedule: {
      maxConcurrentRuns: random.pick([1, 2, 10]),
      maxConcurrentDeliveries: random.pick([1, 2, 10]),
      runTimeoutMs: random.pick([15 * MINUTE_MS, 10_000, 1_000]),
      outcomeTimeoutMs: random.pick([60_000, 2_000]),
      outcomeRetries: { maxAttempts: random.pick([1, 2, 5]), delay: () => delayMs },
      ...(random.chance(0.3) ? { interruptedWithinMs: random.pick([500, 5_000, 30_000]) } : {}),
    },
    run: ({ scheduledTime }) => randomBehaviour(new Random(seedOf(seed, 1, scheduledTime / 1_000)), isWild),
    ...(random.chance(0.15)
      ? { receive: false }
      : {
          receive: ({ scheduledTime }, delivery) =>
            randomBehaviour(
              new Random(seedOf(seed, 2, scheduledTime / 1_000, delivery)),
              isWild && delivery < 4,
            ),
        }),
    alarm: (attempt) => randomBehaviour(new Random(seedOf(seed, 3, attempt)), false),
  }
}

function randomBehaviour(random: Random, isWild: boolean): Behaviour {
  return {
    takesMs: random.pick([0, 0, 100, 3_000, 25_000, 90_000]),
    ends: random.chance(0.6)
      ? 'return'
      : random.pick(['throw', 'return', isWild ? 'crash' : 'throw', 'hang']),
    // Such a handler must end by itself: one that hangs as well would keep its slot for ever.
    ...(random.chance(0.2) ? { ignoresAbort: true, ends: 'return' as const } : {}),
  }
}

/** Answers the version that was last set. */
async function randomStep(model: Model, random: Random, version: number): Promise<number> {
  const { object } = model
  const { progress } = object
  const steps: readonly [() => unknown, ...(() => unknown)[]] = [
    () => model.advance(random.integer(1, 90_000)),
    () => model.advance(random.pick([60_000, 10_000, 1, 600_000])),
    () => model.advance(random.integer(1, 20_000)),
    () => object.crashAtAwait(progress.seams + random.integer(1, 30)),
    () =>
      object.crashAt({
        write: progress.writes + random.integer(1, 12),
        when: random.pick(['before', 'after']),
      }),
    () => model.crash(),
    () => model.set(randomExpression(model, random), version, randomOffset(random)),
    () => model.cancel(random.pick([undefined, version, Math.max(version - 1, 0)])),
    () => model.overwriteAlarm(random.pick([null, model.now + 7_000, model.now + 3_600_000])),
    () => model.jump(random.integer(-120_000, 120_000), random.chance(0.5)),
    () => model.holdAlarms(random.integer(1, 200_000)),
    () => model.faults.failWrites(random.integer(0, 5), random.integer(1, 3)),
    () => model.faults.failAlarms('rejects', random.integer(0, 3), random.integer(1, 2)),
    () => model.deliverAlarm({ duplicate: random.chance(0.5), early: true }),
    () => model.ping(model.now + random.integer(-5_000, 60_000)),
    () => model.ping(undefined),
    () => model.callAlarm(),
  ]
  if (version > 0 && !random.chance(0.15)) {
    await random.pick(steps)()
    return version
  }
  await model.set(randomExpression(model, random), version + 1, randomOffset(random))
  return version + 1
}

function randomExpression(model: Model, random: Random): string {
  return random.pick([
    'every:60000',
    'every:10000',
    'every:3600000',
    'from:30000',
    'never',
    `until:20000:${Math.ceil(model.now / 60_000) * 60_000 + 120_000}`,
  ])
}

function randomOffset(random: Random): number {
  return random.pick([0, 0, 3_000, 45_000])
}
