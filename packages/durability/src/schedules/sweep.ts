import { report } from '../core/report.ts'
import { EXPIRED_BATCH, EXPIRED_EVERY_MS, SWEEP_EVERY_MS } from './limits.ts'
import { decided, moveOn } from './moves.ts'
import type { EngineParts } from './parts.ts'
import type { OutsideStatus, Registered } from './registered.ts'
import { endedAt } from './run-rows.ts'
import { statusWithin } from './start-within.ts'
import type { RunRow, ScheduleRow } from './store.ts'

/** Looks now and then for what nobody looks after: starts whose engine died, and runs that are old enough to go. */
export interface Sweeper {
  sweep(now: number): Promise<void>
}

export function sweeperOf(engine: EngineParts): Sweeper {
  const { store } = engine
  let sweptAt: number | undefined
  /** When runs that are old enough to go are looked for again. */
  let expiredAt = 0

  /** A start that was under way when its engine died, and that no schedule will repeat. */
  const settleOrphan = async (run: RunRow, now: number) => {
    const row = run.scheduleId === null || run.manual ? null : await store.getSchedule(run.scheduleId)
    // The schedule still stands at this window: firing it repeats the start.
    if (row !== null && !row.paused && row.nextWindow === run.scheduledTime) return
    const registered = engine.registered(run.workflow)
    if (registered === undefined) return
    const isFired = run.counted || row?.lastRunId === run.id
    const { status, error } = await statusOf(run, registered, isFired)
    if (status === 'unknown' && !isFired) {
      if (run.scheduleId === null || run.manual) {
        // As after a start that failed: no run is left, and the same start may be made again.
        await engine.write(() => store.deleteRun(run.id))
        return
      }
      const reason = 'Its start was never answered'
      if (row !== null && !(await giveUp(row, run, now, reason))) return
      const patch = { status: 'errored', ...endedAt(run, now), error: reason } as const
      await engine.write(() => store.updateRun(run.id, patch, ['starting']))
      return
    }
    if (row !== null && run.scheduledTime !== null) {
      const window = run.scheduledTime
      await engine.write(() => store.countFire(row.id, run.id, window))
    }
    const isOver = status !== 'running' && status !== 'queued'
    const patch = {
      status: isOver ? status : 'running',
      error,
      startedAt: now,
      ...(isOver && endedAt(run, now)),
    } as const
    await engine.write(() => store.updateRun(run.id, patch, ['starting']))
  }

  const statusOf = async (run: RunRow, registered: Registered, isFired: boolean): Promise<OutsideStatus> => {
    if (isFired && run.kind === 'dispatch') return { status: 'complete', error: null }
    return (await statusWithin(engine, registered, run.id)) ?? { status: 'unknown', error: null }
  }

  /** One entry of the history, whichever engine writes it; `false` when another one is at the schedule. */
  const giveUp = async (row: ScheduleRow, run: RunRow, now: number, reason: string): Promise<boolean> => {
    const window = run.scheduledTime
    const decisions = await store.listDecisions(row.id, engine.keptDecisions)
    if (decisions.some((one) => one.scheduledTime === window)) return true
    const decision = decided(row, 'start_failed', now, { window, reason })
    return (await moveOn(engine, row, { patch: {}, decisions: [decision] })) === 'moved'
  }

  const settleOrphans = async (now: number) => {
    const starting = await store.listRuns({
      namespace: engine.namespace,
      status: ['starting'],
      order: 'queue',
      limit: EXPIRED_BATCH,
    })
    const oldest = now - engine.startTimeoutMs - engine.graceMs
    const orphans = starting.filter(({ createdAt }) => createdAt < oldest)
    // All at once: one whose Workflow fails or is silent holds up no other, in this look or in later ones.
    await Promise.all(
      orphans.map((run) =>
        settleOrphan(run, now).catch((error: unknown) =>
          report('schedules.sweep_failed', error, { run: run.id }),
        ),
      ),
    )
  }

  return {
    async sweep(now) {
      if (sweptAt !== undefined && Math.abs(now - sweptAt) < SWEEP_EVERY_MS) return
      sweptAt = now
      try {
        if (engine.startsOutside) await settleOrphans(now)
        if (now < expiredAt && expiredAt - now <= EXPIRED_EVERY_MS) return
        // No alarm is set for them, so none has to be put right.
        const removed = await store.removeExpiredRuns(now, EXPIRED_BATCH)
        expiredAt = removed < EXPIRED_BATCH ? now + EXPIRED_EVERY_MS : now
      } catch (error) {
        report('schedules.sweep_failed', error)
      }
    },
  }
}
