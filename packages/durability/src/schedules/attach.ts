import type { SchedulerHelper, SchedulerPort } from '../core/helper.ts'
import type { ObjectRuns } from './object-runs.ts'
import type { Ticker } from './tick.ts'

/**
 * ms within which a run that a crash cut off is looked for, should no schedule be due sooner. A brief of 9:00 is then
 * known as interrupted by 10:00, and an object with something due every hour pays no alarm for it.
 */
const INTERRUPTED_WITHIN_MS = 60 * 60_000

/** ms within which runs that wait for a slot go on after a crash: they were not begun, and somebody waits for them. */
const QUEUED_WITHIN_MS = 60_000

/**
 * ms after which the alarm is due again that found a drained engine: an idle instance is gone by then, and the next one,
 * which the alarm makes, fires what was left.
 */
const LEFT_FOR_MS = 60_000

export interface AttachedEngine {
  readonly namespace: string | undefined
  /** Whether passes fire due schedules. */
  readonly fires: boolean
  readonly ticker: () => Ticker
  readonly objectRuns: () => ObjectRuns | undefined
  readonly draining: () => boolean
  readonly sweep: (now: number) => Promise<void>
  readonly port: () => SchedulerPort | undefined
}

/** What the scheduler asks of an engine: the object's alarm is its soonest schedule, and nothing polls. */
export function helperOf(engine: AttachedEngine): SchedulerHelper {
  /** More is due than one pass fires: the next one goes on, after others had a turn. */
  let goesOnAt: number | undefined
  /** A pass of this engine is at work: what is due is its business until it ends. */
  let firing = false

  const nextDueAt = (now: number) => (engine.fires ? engine.ticker().nextDueAt(now) : undefined)

  /** A drained engine starts nothing, and leaves the alarm to the object's next instance. */
  const leftAt = (now: number) => {
    const dueAt = engine.objectRuns()?.hasDue() === true ? now : nextDueAt(now)
    return dueAt !== undefined && dueAt <= now ? now + LEFT_FOR_MS : dueAt
  }

  const fire = async (now: number) => {
    const runs = engine.objectRuns()
    await runs?.look()
    if (!engine.fires || engine.draining()) return
    if (await engine.ticker().pass(now)) goesOnAt = now + 1
    await runs?.look()
  }

  /** When the pass is over: Workflows are asked, and one that is silent must not hold up what comes due. */
  const sweep = async (now: number) => {
    if (engine.fires && !engine.draining()) await engine.sweep(now)
  }

  return {
    name: engine.namespace === undefined ? 'schedules' : `schedules:${engine.namespace}`,
    timed: true,

    nextAt(now) {
      if (engine.draining()) return leftAt(now)
      if (firing) {
        // The write that fires the last one that is due arms the alarm for the next, in the same unit.
        const dueAt = engine.ticker().hasMore() ? undefined : nextDueAt(now)
        return dueAt !== undefined && dueAt > now ? dueAt : undefined
      }
      if (engine.objectRuns()?.hasDue() === true) return now
      const dueAt = nextDueAt(now)
      if (dueAt === undefined || goesOnAt === undefined) return dueAt
      return Math.max(dueAt, goesOnAt)
    },

    run(now) {
      goesOnAt = undefined
      firing = true
      const port = engine.port()
      const done = () => {
        firing = false
        port?.transaction(() => undefined)
      }
      const fired = fire(now).finally(done)
      port?.hold(fired.then(() => sweep(now)))
    },

    fallbackWithinMs(now) {
      // A pass that has more to fire is made again after a crash, and looks.
      const runs = engine.objectRuns()
      if (runs?.busy() !== true || (firing && engine.ticker().hasMore())) return undefined
      const withinMs = runs.queued() ? QUEUED_WITHIN_MS : INTERRUPTED_WITHIN_MS
      const dueAt = nextDueAt(now)
      return dueAt !== undefined && dueAt - now <= withinMs ? undefined : withinMs
    },
  }
}
