import { heapBytes } from '../host/inspector.ts'
import type { Progress } from '../host/progress.ts'
import { bySubject, MINUTELY, START_AT, SUBJECTS, type Subject, TICK_MS } from '../host/subjects.ts'
import { startWorker } from '../host/worker-process.ts'
import type { Settings } from './settings.ts'

/** Bytes, in a process of its own for each. */
export interface Memory {
  /** Of V8's heap after a garbage collection. */
  readonly heapBytes: number
  /** Of the whole process: with SQLite's cache, and with what V8 has not given back. */
  readonly residentBytes: number
}

export interface MemoryWithBacklog {
  readonly waiting: number
  readonly memory: Record<Subject, Memory>
}

export async function memory(
  code: string,
  settings: Settings,
  progress: Progress,
): Promise<MemoryWithBacklog[]> {
  const results: MemoryWithBacklog[] = []
  for (const waiting of [0, Math.max(...settings.backlogs)]) {
    const memories: Partial<Record<Subject, Memory>> = {}
    for (const subject of SUBJECTS) {
      progress(`memory of ${subject} with ${waiting} waiting runs`)
      memories[subject] = await measure(code, subject, waiting)
    }
    results.push({
      waiting,
      memory: bySubject((subject) => memories[subject] ?? { heapBytes: 0, residentBytes: 0 }),
    })
  }
  return results
}

async function measure(code: string, subject: Subject, waiting: number): Promise<Memory> {
  const worker = await startWorker({ code, classes: [...SUBJECTS, 'Target'], isInspected: true })
  const handlers = 'empty'
  try {
    await worker.call(subject, 'full', 'setUp', { expression: MINUTELY, at: START_AT, handlers })
    await worker.call(subject, 'full', 'block', { at: START_AT, waiting, handlers })
    await worker.call(subject, 'full', 'driveBlocked', { at: START_AT + 100 * TICK_MS, runs: 100 })
    const wake = () => worker.call(subject, 'full', 'unfinished')
    return { heapBytes: await heapBytes(worker.inspectorUrl, wake), residentBytes: worker.residentBytes() }
  } finally {
    await worker.stop()
  }
}
