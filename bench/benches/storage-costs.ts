import type { Progress } from '../host/progress.ts'
import { MINUTELY, START_AT, TICK_MS } from '../host/subjects.ts'
import { startWorker, type WorkerProcess } from '../host/worker-process.ts'
import type { Cost } from '../worker/cost.ts'

const RUNS = 100

/** What one run asks of the storage. */
export interface StorageCosts {
  /** Started by its alarm at once, settled, delivered. */
  readonly ordinary: Cost
  /** Recorded beside so many waiting runs while every slot is taken; starts when its turn comes. */
  readonly behind: Readonly<Record<string, Cost>>
}

/** Counts are exact and the same every time, so that they are made once. */
export async function storageCosts<Name extends string>(
  code: string,
  names: readonly Name[],
  backlogs: readonly number[],
  progress: Progress,
): Promise<Record<Name, StorageCosts>> {
  const worker = await startWorker({ code, classes: [...names, 'Target'], isCounting: true })
  const costs: Partial<Record<Name, StorageCosts>> = {}
  try {
    for (const name of names) {
      const behind: Record<string, Cost> = {}
      for (const waiting of backlogs) {
        progress(`rows and alarms of ${name} beside ${waiting} waiting runs`)
        behind[waiting] = await costBehind(worker, name, waiting)
      }
      costs[name] = { ordinary: await ordinaryCost(worker, name), behind }
    }
  } finally {
    await worker.stop()
  }
  return costs as Record<Name, StorageCosts> // each has been put in
}

/** Beside other schedules in the same object, for those that can have several. */
export async function ordinaryCost(worker: WorkerProcess, subject: string, schedules = 1): Promise<Cost> {
  const object = `ordinary-${schedules}`
  const handlers = 'calling'
  await worker.call(subject, object, 'setUp', { expression: MINUTELY, at: START_AT, handlers, schedules })
  // The first run of an instance also looks at what another one left.
  await worker.call(subject, object, 'drive', { at: START_AT, runs: 1, handlers })
  return perRun(worker, subject, object, 'drive', { at: START_AT + TICK_MS, runs: RUNS, handlers })
}

async function costBehind(worker: WorkerProcess, subject: string, waiting: number): Promise<Cost> {
  const object = `behind-${waiting}`
  const at = START_AT + 100 * TICK_MS
  await worker.call(subject, object, 'setUp', { expression: MINUTELY, at: START_AT, handlers: 'calling' })
  await worker.call(subject, object, 'block', { at: START_AT, waiting, handlers: 'calling' })
  await worker.call(subject, object, 'driveBlocked', { at, runs: 1 })
  return perRun(worker, subject, object, 'driveBlocked', { at: at + TICK_MS, runs: RUNS })
}

async function perRun(
  worker: WorkerProcess,
  subject: string,
  object: string,
  method: string,
  argument: object,
): Promise<Cost> {
  await worker.call(subject, object, 'takeCost')
  await worker.call(subject, object, method, argument)
  const [total] = (await worker.call(subject, object, 'takeCost')) as Cost[]
  if (!total) throw new Error(`${subject} has no cost`)
  const { rowsRead, rowsWritten, alarms } = total
  return { rowsRead: rowsRead / RUNS, rowsWritten: rowsWritten / RUNS, alarms: alarms / RUNS }
}
