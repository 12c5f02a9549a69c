import { type Compared, comparedWithLoop, growth, interleaved, timed } from '../host/interleaved.ts'
import type { Progress } from '../host/progress.ts'
import type { Summary } from '../host/statistics.ts'
import { bySubject, LOOP, MINUTELY, START_AT, SUBJECTS, type Subject } from '../host/subjects.ts'
import { startWorker } from '../host/worker-process.ts'
import type { Settings } from './settings.ts'

export interface Drained {
  readonly waiting: number
  readonly compared: Record<Subject, Compared>
  /** CPU per run; that of the smallest drain is 1. A drain that is linear stays there. */
  readonly cpuGrowth: Record<Subject, Summary>
}

/** So many runs wait and every slot is free: until all have been run and delivered. */
export async function drains(
  code: string,
  handlers: 'calling' | 'empty',
  settings: Settings,
  progress: Progress,
): Promise<Drained[]> {
  const worker = await startWorker({ code, classes: [...SUBJECTS, 'Target'] })
  const sizes = settings.drains
  const keys = sizes.flatMap((waiting) => SUBJECTS.map((subject) => `${subject} ${waiting}`))
  try {
    const samples = await interleaved(
      keys,
      { rounds: settings.drainRounds, warmUp: 1, progress, what: `drains with ${handlers} handlers` },
      async (key, round) => {
        const [subject = '', size] = key.split(' ')
        const waiting = Number(size)
        const object = `${key} ${round} ${handlers}`
        await worker.call(subject, object, 'setUp', { expression: MINUTELY, at: START_AT, handlers })
        await worker.call(subject, object, 'fill', { waiting, handlers })
        progress(`${subject} drains ${waiting} runs with ${handlers} handlers`)
        return timed(worker, waiting, () => worker.call(subject, object, 'drain'))
      },
    )
    return sizes.map((waiting) => ({
      waiting,
      compared: comparedWithLoop(
        bySubject((subject) => samples[`${subject} ${waiting}`] ?? []),
        LOOP,
      ),
      cpuGrowth: bySubject((subject) =>
        growth(samples[`${subject} ${waiting}`] ?? [], samples[`${subject} ${sizes[0]}`] ?? []),
      ),
    }))
  } finally {
    await worker.stop()
  }
}
