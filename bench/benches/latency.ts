import type { Progress } from '../host/progress.ts'
import { quantile, type Summary, summaryOf } from '../host/statistics.ts'
import { bySubject, LIBRARY, LOOP, SUBJECTS, type Subject } from '../host/subjects.ts'
import { startWorker, type WorkerProcess } from '../host/worker-process.ts'
import type { Start } from '../worker/target.ts'
import type { Settings } from './settings.ts'

export interface Latency {
  /** ms from the time of the alarm to the call of the handler, or its arrival at the target. */
  readonly lateMs: Record<Subject, { readonly p50: number; readonly p99: number; readonly mean: number }>
  /** The library less the loop, of neighbouring fires. */
  readonly differenceMs: Summary
  readonly meanDifferenceMs: number
  readonly pairs: number
}

/** One after the other in turns: library, loop, loop, library; then again. */
const PERIOD_MS = 80
const OFFSETS: Record<Subject, readonly [number, number]> = { [LIBRARY]: [0, 60], [LOOP]: [20, 40] }

/** Real alarms, in real time. */
export async function latency(
  code: string,
  handlers: 'calling' | 'recording',
  settings: Settings,
  progress: Progress,
): Promise<Latency> {
  const worker = await startWorker({ code, classes: [...SUBJECTS, 'Target'] })
  try {
    for (const subject of SUBJECTS) {
      const expression = `${PERIOD_MS} ${OFFSETS[subject].join(' ')}`
      await worker.call(subject, 'late', 'setUp', { expression, handlers })
    }
    // What the first ones compile and load is in `cold-starts.ts`.
    await pass(PERIOD_MS * 20, 'first fires', progress)
    for (const subject of SUBJECTS) await worker.call(subject, 'late', 'takeStarts')
    await pass((settings.fires / 2) * PERIOD_MS, `fires with ${handlers} handlers`, progress)
    const late = { [LIBRARY]: await lateOf(worker, LIBRARY), [LOOP]: await lateOf(worker, LOOP) }
    return compared(late)
  } finally {
    await worker.stop()
  }
}

async function pass(ms: number, what: string, progress: Progress): Promise<void> {
  const until = performance.now() + ms
  for (let left = ms; left > 0; left = until - performance.now()) {
    progress(`${what}, ${Math.round(left / 1_000)} s to go`)
    await new Promise((resolve) => setTimeout(resolve, Math.min(left, 1_000)))
  }
}

/** Lateness in ms by scheduled time. */
async function lateOf(worker: WorkerProcess, subject: Subject): Promise<Map<number, number>> {
  const [starts = []] = (await worker.call(subject, 'late', 'takeStarts')) as Start[][]
  return new Map(starts.map(({ scheduledTime, startedAt }) => [scheduledTime, startedAt - scheduledTime]))
}

function compared(late: Record<Subject, Map<number, number>>): Latency {
  const differences = [...late[LIBRARY]].flatMap(([time, ms]) => {
    const other = late[LOOP].get(time + (time % PERIOD_MS === OFFSETS[LIBRARY][0] ? 20 : -20))
    return other === undefined ? [] : [ms - other]
  })
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  return {
    lateMs: bySubject((subject) => {
      const values = [...late[subject].values()]
      return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), mean: mean(values) }
    }),
    differenceMs: summaryOf(differences),
    meanDifferenceMs: mean(differences),
    pairs: differences.length,
  }
}
