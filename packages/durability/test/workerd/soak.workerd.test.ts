import { describe, expect, it, vi } from 'vitest'
import { seeded } from './support/random.ts'
import { type Bundle, crash, setup } from './support/setup.ts'
import { realTime, shiftClock, until } from './support/time.ts'

describe('a schedule under the platform’s own alarms', () => {
  it.each([
    { seed: 1, meddles: false },
    { seed: 2, meddles: true },
  ])(
    'crashed, changed and failed at random (seed $seed) keeps its invariants',
    async ({ seed, meddles }) => {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const random = seeded(seed)
      let inFlight = 0
      let most = 0
      const object = setup({
        scheduler: { alarmMinDelayMs: 1_000, alarmHandoffMs: 250, liveTimers: seed % 2 === 0 },
        alarms: { handlers: { renew: () => realTime(40) } },
        schedule: {
          maxConcurrentRuns: 3,
          runTimeoutMs: 120,
          run: async () => {
            inFlight += 1
            most = Math.max(most, inFlight)
            try {
              await realTime(random() * 150)
              if (random() < 0.2) throw new Error('The handler failed')
            } finally {
              inFlight -= 1
            }
          },
          onOutcome: async () => {
            await realTime(random() * 30)
            if (random() < 0.3) throw new Error('The receiver is down')
          },
          outcomeRetries: { maxAttempts: 3, delay: () => random() * 100 },
        },
      })
      let version = 0
      for (let round = 0; round < 25; round += 1) {
        await realTime(random() * 200)
        const act = random()
        version += 1
        if (meddles) await meddle(object, random)
        const expression = `every ${[40, 70, 110][Math.floor(random() * 3)]}`
        if (act < 0.35) await object.set({ expression, version, jitterMs: Math.floor(random() * 90) })
        else if (act < 0.45) await object.cancel(random() < 0.5 ? version : undefined)
        else if (act < 0.6) await object.inside(({ alarms }) => alarms.set('renew', Date.now() + 30))
        else if (act < 0.75) await object.pass()
        else {
          await crash()
          // What a dead instance had in flight is gone with it.
          inFlight = 0
          most = 0
        }
        await expectArmed(object)
        expect(most).toBeLessThanOrEqual(3)
      }
      shiftClock(0)
      await object.set({ expression: 'every 40', version: version + 1 })
      await until('it still ticks', tickedSince(object), 8_000)
      await object.cancel()
      await until('all is over', async () => (await object.rows()).length === 0, 15_000)
      await until('no alarm is left', async () => (await object.alarmAt()) === null, 5_000)

      const times = object.seen.runTimes
      expect(times).toEqual([...new Set(times)].sort((one, other) => one - other))
      // A clock that goes back while a due run waits for its slot shows it early.
      if (!meddles) expect(object.seen.runs.every(({ startedAt, dueAt }) => startedAt >= dueAt)).toBe(true)
      expectOutcomes(object)
    },
    30_000,
  )
})

/** Steps the wall clock, and deletes or moves the alarm behind the library's back; then resends what is stored. */
async function meddle(object: Bundle, random: () => number): Promise<void> {
  if (random() < 0.4) shiftClock((random() - 0.5) * 1_600)
  if (random() < 0.8) return
  await object.inside(({ ctx }) =>
    random() < 0.5 ? ctx.storage.deleteAlarm() : ctx.storage.setAlarm(Date.now() + 50_000),
  )
  await object.set({ expression: 'at 1', version: 0 })
}

/**
 * Invariant 6: whatever is live, waiting or undelivered has an alarm, or an open pass. Looked at until it is seen: the
 * platform shows no alarm from the moment it fires one, which is before the object hears of it.
 */
function expectArmed(object: Bundle): Promise<void> {
  return until(
    'what is live, waiting or undelivered has an alarm',
    async () => {
      const { armed, needed } = await object.inside(async ({ ctx, schedule }) => {
        const { state, waiting, running, undelivered } = schedule.status()
        return {
          needed: state === 'live' || waiting + running + undelivered > 0,
          armed: await ctx.storage.getAlarm(),
        }
      })
      return !needed || armed !== null || object.seen.passes.some(({ state }) => state === 'open')
    },
    500,
  )
}

function tickedSince(object: Bundle): () => boolean {
  const { length } = object.seen.runs
  return () => object.seen.runs.length > length + 2
}

/** Invariant 5: each recorded run has one outcome, told at least once and unchanged, or given up and told so. */
function expectOutcomes({ seen }: Bundle): void {
  const recorded = new Set(
    seen.events.filter(({ type }) => type === 'due').map((event) => event.scheduledTime),
  )
  const told = new Map<number, Set<string>>()
  for (const { run, outcome } of seen.deliveries) {
    const outcomes = told.get(run.scheduledTime) ?? new Set()
    told.set(run.scheduledTime, outcomes.add(JSON.stringify(outcome)))
  }
  const dead = new Set(
    seen.events.filter(({ type }) => type === 'dead_lettered').map((event) => event.scheduledTime),
  )
  for (const time of recorded) expect(told.has(time) || dead.has(time), `${time} is told`).toBe(true)
  for (const [time, outcomes] of told) expect(outcomes.size, `${time} has one outcome`).toBe(1)
  for (const time of seen.runTimes) expect(recorded.has(time), `${time} was recorded`).toBe(true)
}
