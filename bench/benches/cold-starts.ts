import { rm } from 'node:fs/promises'
import { type Compared, comparedWithLoop, interleaved, type Took, timed } from '../host/interleaved.ts'
import type { Progress } from '../host/progress.ts'
import { type Summary, summaryOf } from '../host/statistics.ts'
import {
  bundleAlone,
  LIBRARY,
  LOOP,
  MINUTELY,
  START_AT,
  SUBJECTS,
  type Subject,
  TICK_MS,
} from '../host/subjects.ts'
import { newFolder, startWorker } from '../host/worker-process.ts'
import type { Settings } from './settings.ts'

export interface ColdStarts {
  /** A new instance of an object with a schedule, until its first run has ended. */
  readonly instance: Record<Subject, Compared>
  /** An object that was never used: its first `set`, tables and all, and its first run. */
  readonly object: Record<Subject, Compared>
  /** A new process whose only Worker has the one subject, until the first run of a stored schedule has ended. */
  readonly processMs: Record<Subject, Summary>
  /** Round by round, the library less the loop. */
  readonly processDifferenceMs: Summary
}

const OBJECTS = 20
const handlers = 'calling'

export async function coldStarts(code: string, settings: Settings, progress: Progress): Promise<ColdStarts> {
  const { instance, object } = await inOneProcess(code, settings, progress)
  const samples = await processes(settings, progress)
  const msOf = (subject: Subject) => samples[subject].map(({ wallUs }) => wallUs / 1_000)
  const [library, loop] = [msOf(LIBRARY), msOf(LOOP)]
  return {
    instance,
    object,
    processMs: { [LIBRARY]: summaryOf(library), [LOOP]: summaryOf(loop) },
    processDifferenceMs: summaryOf(library.map((ms, round) => ms - (loop[round] ?? Number.NaN))),
  }
}

async function inOneProcess(
  code: string,
  settings: Settings,
  progress: Progress,
): Promise<Pick<ColdStarts, 'instance' | 'object'>> {
  const worker = await startWorker({ code, classes: [...SUBJECTS, 'Target'] })
  const options = { rounds: settings.rounds, warmUp: 2, progress }
  const names = (prefix: string) => Array.from({ length: OBJECTS }, (_, index) => `${prefix}-${index}`)
  const setUp = { expression: MINUTELY, at: START_AT, handlers }
  try {
    const old = names('old')
    for (const subject of SUBJECTS) await worker.call(subject, old, 'setUp', setUp)
    const instances = await interleaved(
      SUBJECTS,
      { ...options, what: 'new instances' },
      async (subject, round) => {
        await worker.call(subject, old, 'end')
        const drive = { at: START_AT + round * TICK_MS, runs: 1, handlers }
        return timed(worker, OBJECTS, () => worker.call(subject, old, 'drive', drive))
      },
    )
    const objects = await interleaved(SUBJECTS, { ...options, what: 'new objects' }, (subject, round) =>
      timed(worker, OBJECTS, async () => {
        await worker.call(subject, names(`new-${round}`), 'setUp', setUp)
        await worker.call(subject, names(`new-${round}`), 'drive', { at: START_AT, runs: 1, handlers })
      }),
    )
    return { instance: comparedWithLoop(instances, LOOP), object: comparedWithLoop(objects, LOOP) }
  } finally {
    await worker.stop()
  }
}

async function processes(settings: Settings, progress: Progress): Promise<Record<Subject, Took[]>> {
  const folders = await Promise.all(SUBJECTS.map(() => newFolder()))
  const folderOf = (subject: Subject) => folders[SUBJECTS.indexOf(subject)] ?? ''
  const code = { [LIBRARY]: await bundleAlone(LIBRARY), [LOOP]: await bundleAlone(LOOP) }
  const start = (subject: Subject) =>
    startWorker({ code: code[subject], classes: [subject, 'Target'], folder: folderOf(subject) })
  try {
    for (const subject of SUBJECTS) {
      const worker = await start(subject)
      await worker.call(subject, 'stored', 'setUp', { expression: MINUTELY, at: START_AT, handlers })
      await worker.stop()
    }
    const options = { rounds: settings.processStarts, warmUp: 1, progress, what: 'new processes' }
    return await interleaved(SUBJECTS, options, async (subject, round) => {
      const startedAt = performance.now()
      const worker = await start(subject)
      await worker.call(subject, 'stored', 'drive', { at: START_AT + round * TICK_MS, runs: 1, handlers })
      const wallUs = (performance.now() - startedAt) * 1_000
      const cpuUs = worker.cpuMs() * 1_000
      await worker.stop()
      return { cpuUs, wallUs }
    })
  } finally {
    await Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true })))
  }
}
