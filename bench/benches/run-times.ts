import { type Compared, comparedWithLoop, interleaved, timed } from '../host/interleaved.ts'
import type { Progress } from '../host/progress.ts'
import { LOOP, MINUTELY, START_AT, TICK_MS } from '../host/subjects.ts'
import { startWorker } from '../host/worker-process.ts'
import type { HandlersName } from '../worker/handlers.ts'
import type { Settings } from './settings.ts'

export type RunTimes<Name extends string> = Readonly<Record<'calling' | 'empty', Record<Name, Compared>>>

/** Ordinary runs, one after the other, of one object each. */
export async function runTimes<Name extends string>(
  code: string,
  names: readonly (Name | typeof LOOP)[],
  settings: Settings,
  progress: Progress,
  store?: string,
): Promise<RunTimes<Name | typeof LOOP>> {
  const worker = await startWorker({ code, classes: [...names, 'Target'], ...(store && { store }) })
  const measure = async (handlers: HandlersName) => {
    const setUp = { expression: MINUTELY, at: START_AT, handlers }
    for (const name of names) await worker.call(name, handlers, 'setUp', setUp)
    const samples = await interleaved(
      names,
      { ...settings, progress, what: `runs with ${handlers} handlers` },
      (name, round) => {
        // Twice as far apart as there are ticks: the peers' times are not those of the others.
        const at = START_AT + round * settings.runs * 2 * TICK_MS
        const drive = { at, runs: settings.runs, handlers }
        return timed(worker, settings.runs, () => worker.call(name, handlers, 'drive', drive))
      },
    )
    return comparedWithLoop(samples, LOOP)
  }
  try {
    return { calling: await measure('calling'), empty: await measure('empty') }
  } finally {
    await worker.stop()
  }
}
