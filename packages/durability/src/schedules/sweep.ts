import { report } from '../core/report.ts'
import { EXPIRED_BATCH, SWEEP_EVERY_MS } from './limits.ts'
import { decided } from './moves.ts'
import type { EngineParts } from './parts.ts'
import type { RunRow } from './store.ts'

/** Looks now and then for what nobody looks after: starts whose engine died, and runs that are old enough to go. */
export interface Sweeper {
  sweep(now: number): Promise<void>
}

export function sweeperOf(engine: EngineParts): Sweeper {
  const { store } = engine
  let sweptAt: number | undefined

  /** A start that was under way when its engine died, and that no schedule will repeat. */
  const settleOrphan = async (run: RunRow, now: number) => {
    const row = run.scheduleId === null || run.manual ? null : await store.getSchedule(run.scheduleId)
    // The schedule still stands at this window: firing it repeats the start.
    if (row !== null && !row.paused && row.nextWindow === run.scheduledTime) return
    const registered = engine.registered(run.workflow)
    if (registered === undefined || registered.kind === 'handler') return
    const { status, error } = (await registered.status?.(run.id)) ?? { status: 'unknown', error: null }
    if (status === 'unknown') {
      const reason = 'Its start was never answered'
      const patch = { status: 'errored', finishedAt: now, error: reason } as const
      const isOver = await engine.write(() => store.updateRun(run.id, patch, ['starting']))
      if (isOver && row !== null) {
        await engine.write(() =>
          store.saveDecision(decided(row, 'start_failed', now, { window: run.scheduledTime, reason })),
        )
      }
      return
    }
    const isOver = status !== 'running' && status !== 'queued'
    const patch = {
      status: isOver ? status : 'running',
      error,
      startedAt: now,
      finishedAt: isOver ? now : null,
    } as const
    await engine.write(() => store.updateRun(run.id, patch, ['starting']))
    if (row !== null && run.scheduledTime !== null) {
      const window = run.scheduledTime
      await engine.write(() => store.countFire(row.id, run.id, window))
    }
  }

  const settleOrphans = async (now: number) => {
    const starting = await store.listRuns({
      namespace: engine.namespace,
      status: ['starting'],
      order: 'queue',
      limit: EXPIRED_BATCH,
    })
    const oldest = now - engine.startTimeoutMs - engine.graceMs
    for (const run of starting) if (run.createdAt < oldest) await settleOrphan(run, now)
  }

  return {
    async sweep(now) {
      if (sweptAt !== undefined && Math.abs(now - sweptAt) < SWEEP_EVERY_MS) return
      sweptAt = now
      try {
        if (engine.startsOutside) await settleOrphans(now)
        await engine.write(() => store.removeExpiredRuns(now, EXPIRED_BATCH))
      } catch (error) {
        report('schedules.sweep_failed', error)
      }
    },
  }
}
