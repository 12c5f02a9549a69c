import type { SchedulerHelper } from '../../../src/index.ts'

/** A user's own helper: recurring work beside the schedule, its cursor in the object's storage. */
export interface Ticker {
  /** Given to `setup`. */
  readonly helper: (ctx: DurableObjectState) => SchedulerHelper
  /** When it was due and when it was run, over all instances. */
  readonly ticks: { readonly dueAt: number; readonly ranAt: number }[]
}

export function ticker(
  everyMs: number,
  work: () => void | Promise<void> = () => {},
  name = 'ticker',
): Ticker {
  const ticks: { dueAt: number; ranAt: number }[] = []
  return {
    ticks,
    helper: (ctx) => {
      const cursor = (): number => {
        const stored = ctx.storage.kv.get<number>(name)
        if (stored !== undefined) return stored
        ctx.storage.kv.put(name, Date.now() + everyMs)
        return Date.now() + everyMs
      }
      return {
        name,
        nextAt: () => cursor(),
        run: (now) => {
          ticks.push({ dueAt: cursor(), ranAt: now })
          ctx.storage.kv.put(name, Math.max(cursor() + everyMs, now + 1))
          return work()
        },
      }
    },
  }
}

/** A helper that is due at once and for ever, and does what it is told. */
export function stubbornHelper(name: string, parts: Partial<SchedulerHelper>): () => SchedulerHelper {
  return () => ({ name, nextAt: () => 0, run: () => {}, ...parts })
}
