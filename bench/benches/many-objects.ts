import { type Compared, comparedWithLoop, interleaved, timed } from '../host/interleaved.ts'
import type { Progress } from '../host/progress.ts'
import { LOOP, MINUTELY, START_AT, SUBJECTS, type Subject, TICK_MS } from '../host/subjects.ts'
import { startWorker } from '../host/worker-process.ts'
import type { Settings } from './settings.ts'

export interface ManyObjects {
  readonly objects: number
  readonly compared: Record<Subject, Compared>
}

/** Objects of one process, each with its schedule, all at once. */
export async function manyObjects(
  code: string,
  settings: Settings,
  progress: Progress,
): Promise<ManyObjects[]> {
  const worker = await startWorker({ code, classes: [...SUBJECTS, 'Target'] })
  const handlers = 'calling'
  try {
    const results: ManyObjects[] = []
    for (const objects of settings.objects) {
      const names = Array.from({ length: objects }, (_, index) => `${objects}-${index}`)
      const runs = Math.max(1, Math.round((settings.runs * 5) / objects))
      for (const subject of SUBJECTS)
        await worker.call(subject, names, 'setUp', { expression: MINUTELY, at: START_AT, handlers })
      const samples = await interleaved(
        SUBJECTS,
        { rounds: Math.ceil(settings.rounds / 5), warmUp: 2, progress, what: `${objects} objects` },
        (subject, round) => {
          const drive = { at: START_AT + round * runs * TICK_MS, runs, handlers }
          return timed(worker, runs * objects, () => worker.call(subject, names, 'drive', drive))
        },
      )
      results.push({ objects, compared: comparedWithLoop(samples, LOOP) })
    }
    return results
  } finally {
    await worker.stop()
  }
}
