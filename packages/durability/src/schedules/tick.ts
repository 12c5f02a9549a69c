import { report } from '../core/report.ts'
import { timerIfAny } from '../core/timers.ts'
import { fireDue } from './fire.ts'
import {
  BATCHES_PER_PASS,
  DUE_BATCH,
  LONGEST_FIRE,
  OUTSIDE_STARTS,
  RECORDING_MS,
  START_PLACE_MS,
} from './limits.ts'
import type { EngineParts } from './parts.ts'
import { settledWithin } from './start-within.ts'
import { atOnce, type ScheduleKey, type ScheduleRow } from './store.ts'

/** Fires what is due, and knows what it is at. One for each engine. */
export interface Ticker {
  /** Fires every due schedule. Resolves to the run ids when each start was answered or given up. */
  tick(now: number): Promise<string[]>
  /**
   * Fires at most ten batches. Resolves when every start was answered, or has had its second; what goes on then is held.
   * Answers whether more is due.
   */
  pass(now: number): Promise<boolean>
  /** When the soonest schedule is due that is not being fired; `undefined` for never. For bound stores only. */
  nextDueAt(now: number): number | undefined
  /** Whether the pass at work has more to fire than the schedule that it is writing. */
  hasMore(): boolean
  settled(): Promise<void>
}

/** A start that has not been answered. */
interface UnderWay {
  readonly answered: Promise<string[]>
  /** Epoch ms of the runtime's clock. */
  readonly since: number
}

/** How far a pass has come. */
interface Progress {
  /** Of the batch at hand, and one more when others may follow. */
  unfired: number
  /** Fires of handlers that are under way. */
  handlers: number
}

export function tickerOf(engine: EngineParts): Ticker {
  const { store, clock, namespace } = engine
  /** Schedules whose start is under way: no other tick of this engine takes them up. */
  const inFlight = new Map<string, UnderWay>()
  const longestMs = engine.startTimeoutMs * LONGEST_FIRE

  /** What takes longer than a start may is given up: the request that made it was cut off, and with it all it waits for. */
  const dropLost = () => {
    for (const [id, { since }] of inFlight) {
      // A clock that was set back does not make it wait for as long as the step.
      if (Math.abs(clock.now() - since) >= longestMs) inFlight.delete(id)
    }
  }

  /** The pass at work, or the last one. */
  let passed: Progress = { unfired: 0, handlers: 0 }

  const isOutside = (row: ScheduleRow) => {
    const registered = engine.registered(row.workflow)
    return registered !== undefined && registered.kind !== 'handler'
  }

  /** It waits for nothing but the store, and one that is bound answers at once: no user's function, no last run outside. */
  const isAtOnce = ({ workflow, firstAttemptAt, lastRunId, definition }: ScheduleRow) => {
    const { overlap, pauseAfterFailures } = definition
    const looksBack = lastRunId !== null && (overlap === 'skip' || pauseAfterFailures !== null)
    const isPlain = store.boundTo !== undefined && engine.registered(workflow)?.validate === undefined
    return isPlain && !looksBack && firstAttemptAt === null
  }

  const fireOne = (row: ScheduleRow, now: number, late: Promise<unknown>): Promise<string[]> => {
    const firing = fireDue(engine, row, { now, late })
      .catch((error: unknown) => {
        // It stays due.
        report('schedules.fire_failed', error, { schedule: row.id })
        return []
      })
      .finally(() => {
        if (inFlight.get(row.id) === underWay) inFlight.delete(row.id)
      })
    const underWay: UnderWay = { answered: firing, since: clock.now() }
    inFlight.set(row.id, underWay)
    return firing
  }

  /** Starts what is due in the order of the list; every start has its place in time. */
  const fireAll = async (
    now: number,
    { batches, fires }: { readonly batches: number; readonly fires: number },
    late: Promise<unknown>,
    progress: Progress = { unfired: 0, handlers: 0 },
  ) => {
    dropLost()
    const places = new Set<Promise<unknown>>()
    const started: Promise<string[]>[] = []
    let isLate = false
    late.then(() => {
      isLate = true
    })
    let after: ScheduleKey | undefined
    let left = fires
    for (let batch = 0; batch < batches && left > 0; batch += 1) {
      const limit = Math.min(DUE_BATCH, left)
      const due = await store.listSchedules({ namespace, dueBy: now, after, limit })
      // A full batch may be followed by another.
      progress.unfired = due.length + Number(due.length === limit)
      for (const row of due) {
        progress.unfired -= 1
        if (engine.draining() || isLate) return { started, more: false }
        if (inFlight.has(row.id)) continue
        left -= 1
        if (!isOutside(row)) {
          progress.handlers += 1
          const firing = fireOne(row, now, late).finally(() => {
            progress.handlers -= 1
          })
          started.push(firing)
          // One by one, where nothing has to be waited for: each write then knows that more is to come.
          if (isAtOnce(row)) await firing
          continue
        }
        while (places.size >= OUTSIDE_STARTS) await Promise.race([...places, late])
        if (isLate) return { started, more: true }
        const firing = fireOne(row, now, late)
        started.push(firing)
        const place = settledWithin(clock, START_PLACE_MS, firing).then(() => void places.delete(place))
        places.add(place)
      }
      const last = due.at(-1)
      if (last === undefined || due.length < limit) return { started, more: false }
      after = { paused: false, nextFireAt: last.nextFireAt, id: last.id }
    }
    return { started, more: true }
  }

  /** A tick is over after `startTimeoutMs`: a little earlier what has no answer is given up, so that this is written in it. */
  const tick = async (now: number): Promise<string[]> => {
    const late = Promise.withResolvers<void>()
    const over = Promise.withResolvers<void>()
    const { startTimeoutMs, maxFiresPerTick } = engine
    const timers = [
      timerIfAny(clock, startTimeoutMs - Math.min(RECORDING_MS, startTimeoutMs / 10), late.resolve),
      timerIfAny(clock, startTimeoutMs, over.resolve),
    ]
    const fired: string[][] = []
    try {
      const limits = { batches: Number.POSITIVE_INFINITY, fires: maxFiresPerTick }
      const { started } = await fireAll(now, limits, late.promise)
      const all = Promise.all(
        started.map(async (firing, index) => {
          fired[index] = await firing
        }),
      )
      await Promise.race([all, over.promise])
      if (inFlight.size > 0) engine.hold(all)
    } finally {
      for (const timer of timers) timer?.cancel()
    }
    return fired.flat()
  }

  return {
    tick,

    async pass(now) {
      const { promise: late, resolve } = Promise.withResolvers<void>()
      const limits = { batches: BATCHES_PER_PASS, fires: Number.POSITIVE_INFINITY }
      passed = { unfired: Number.POSITIVE_INFINITY, handlers: 0 }
      const { started, more } = await fireAll(now, limits, late, passed)
      passed.unfired = Number(more)
      const answered = Promise.all(started)
      const timer = timerIfAny(clock, engine.startTimeoutMs, resolve)
      const all = answered.finally(() => timer?.cancel())
      if (inFlight.size > 0) {
        engine.hold(all)
        await settledWithin(clock, START_PLACE_MS, answered)
      } else await all
      return more
    },

    nextDueAt(now) {
      const soonest = engine.soonest.get(() => atOnce(store.nextDueAt(namespace)))
      dropLost()
      // One in flight that is not due any more has been moved on.
      if (inFlight.size === 0 || soonest === undefined || soonest > now) return soonest
      const due = atOnce(store.listSchedules({ namespace, dueBy: Infinity, limit: inFlight.size + 1 }))
      return due.find(({ id }) => !inFlight.has(id))?.nextFireAt ?? undefined
    },

    hasMore: () => passed.unfired > 0 || passed.handlers > 1,

    async settled() {
      for (; inFlight.size > 0; dropLost()) {
        const all = [...inFlight.values()].map(({ answered }) => answered)
        await settledWithin(clock, longestMs, Promise.all(all))
      }
    },
  }
}
