import { join } from 'node:path'
import { bundle } from '../host/bundle.ts'
import type { Progress } from '../host/progress.ts'
import { startWorker } from '../host/worker-process.ts'
import type { Cost } from '../worker/cost.ts'

export interface RareCost {
  readonly what: string
  readonly cost: Cost
  /** Invocations of `alarm()`. */
  readonly requests: number
}

/** What is not part of an ordinary run. */
export async function rareCosts(progress: Progress): Promise<RareCost[]> {
  progress('rows and alarms of retries and named alarms')
  const code = await bundle(join(import.meta.dirname, '../worker/rare-worker.ts'))
  const worker = await startWorker({ code, classes: ['RareObject', 'Target'] })
  const cost = async (what: string, requests: number, method: string, argument: unknown) => {
    const [answer] = (await worker.call('RareObject', what, method, argument)) as Cost[]
    if (!answer) throw new Error(`${what} has no cost`)
    return { what, requests, cost: answer }
  }
  try {
    return [
      await cost('an ordinary run of a daily schedule', 1, 'run', 0),
      await cost('… whose first delivery fails and is made again after a minute', 2, 'run', 1),
      await cost('a named alarm, alone', 1, 'named', { failures: 0, besideSchedule: false }),
      await cost('a named alarm, beside a daily schedule', 1, 'named', { failures: 0, besideSchedule: true }),
      await cost('… whose first attempt fails, made again after a minute', 2, 'named', {
        failures: 1,
        besideSchedule: true,
      }),
    ]
  } finally {
    await worker.stop()
  }
}
