import { type Compared, comparedWithLoop, growth, interleaved, timed } from '../host/interleaved.ts'
import type { Progress } from '../host/progress.ts'
import type { Summary } from '../host/statistics.ts'
import { bySubject, LOOP, MINUTELY, START_AT, SUBJECTS, type Subject, TICK_MS } from '../host/subjects.ts'
import { startWorker } from '../host/worker-process.ts'
import type { Settings } from './settings.ts'

export interface BesideBacklog {
  readonly waiting: number
  readonly compared: Record<Subject, Compared>
  /** The same subject's CPU beside the smallest backlog is 1. */
  readonly cpuGrowth: Record<Subject, Summary>
}

/** A tick is recorded, a run ends, the next one starts: while so many others wait. */
export async function backlogTimes(
  code: string,
  settings: Settings,
  progress: Progress,
): Promise<BesideBacklog[]> {
  const { backlogs, runs } = settings
  const worker = await startWorker({ code, classes: [...SUBJECTS, 'Target'] })
  const handlers = 'calling'
  const keys = backlogs.flatMap((waiting) => SUBJECTS.map((subject) => `${subject} ${waiting}`))
  try {
    for (const key of keys) {
      const [subject = '', waiting] = key.split(' ')
      await worker.call(subject, key, 'setUp', { expression: MINUTELY, at: START_AT, handlers })
      await worker.call(subject, key, 'block', { at: START_AT, waiting: Number(waiting), handlers })
    }
    const samples = await interleaved(
      keys,
      { ...settings, rounds: Math.ceil(settings.rounds / 2), progress, what: 'runs beside waiting ones' },
      (key, round) => {
        const [subject = ''] = key.split(' ')
        const at = START_AT + (100 + round * runs) * TICK_MS
        return timed(worker, runs, () => worker.call(subject, key, 'driveBlocked', { at, runs }))
      },
    )
    return backlogs.map((waiting) => ({
      waiting,
      compared: comparedWithLoop(
        bySubject((subject) => samples[`${subject} ${waiting}`] ?? []),
        LOOP,
      ),
      cpuGrowth: bySubject((subject) =>
        growth(samples[`${subject} ${waiting}`] ?? [], samples[`${subject} ${backlogs[0]}`] ?? []),
      ),
    }))
  } finally {
    await worker.stop()
  }
}
