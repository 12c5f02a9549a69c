import { loadavg } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../host/bundle.ts'
import { type Compared, comparedWithLoop, interleaved, timed } from '../host/interleaved.ts'
import type { Progress } from '../host/progress.ts'
import { START_AT, TICK_MS } from '../host/subjects.ts'
import { startWorker, type WorkerProcess } from '../host/worker-process.ts'
import type { Cost } from '../worker/cost.ts'
import type { Settings } from './settings.ts'

export const ENGINE = 'UserSchedulesObject'
export const SCHEDULE_LOOP = 'ScheduleLoopObject'

const SUBJECTS = [ENGINE, SCHEDULE_LOOP] as const
const HANDLERS = ['calling', 'empty'] as const
/** Schedules that are due in the same minute. */
const DUE = [1, 100] as const

/** Of one fire, among all that are stored. */
export interface Fires {
  readonly due: number
  readonly costs: Record<(typeof SUBJECTS)[number], Cost>
  readonly times: Record<(typeof HANDLERS)[number], Record<(typeof SUBJECTS)[number], Compared>>
}

export interface VerbCost {
  readonly what: string
  readonly rowsRead: number
  readonly rowsWritten: number
  /** µs of CPU, of the whole process. */
  readonly cpuUs: number
}

export interface UserSchedules {
  readonly stored: number
  readonly kept: number
  readonly load: readonly [number, number]
  readonly fires: readonly Fires[]
  readonly verbs: readonly VerbCost[]
}

/** User-created schedules in one object, beside a loop over the same tables. */
export async function userSchedules(settings: Settings, progress: Progress): Promise<UserSchedules> {
  const { stored, kept } = settings.schedules
  const [before = Number.NaN] = loadavg()
  const code = await bundle(join(import.meta.dirname, '../worker/schedules-worker.ts'))
  const costs = await fireCosts(code, settings, progress)
  const times = await fireTimes(code, settings, progress)
  const verbs = await verbCosts(code, settings, progress)
  const fires = DUE.map((due, index) => {
    const [cost, time] = [costs[index], times[index]]
    if (!cost || !time) throw new Error(`Nothing was measured with ${due} due`)
    return { due, costs: cost, times: time }
  })
  const [after = Number.NaN] = loadavg()
  return { stored, kept, load: [before, after], fires, verbs }
}

/** Counts are exact and the same every time, so that they are made once. */
async function fireCosts(code: string, settings: Settings, progress: Progress): Promise<Fires['costs'][]> {
  const worker = await startWorker({ code, classes: [...SUBJECTS, 'Target'], isCounting: true })
  const costOf = async (subject: string, due: number): Promise<Cost> => {
    progress(`rows and alarms of ${subject} with ${due} due`)
    const at = await setUp(worker, subject, settings, due, 'empty')
    await worker.call(subject, nameOf(due, 'empty'), 'takeCost')
    const fires = 5
    await worker.call(subject, nameOf(due, 'empty'), 'fire', { at, fires, due })
    const [total] = (await worker.call(subject, nameOf(due, 'empty'), 'takeCost')) as Cost[]
    if (!total) throw new Error(`${subject} has no cost`)
    const perFire = (count: number) => count / (fires * due)
    return {
      rowsRead: perFire(total.rowsRead),
      rowsWritten: perFire(total.rowsWritten),
      alarms: perFire(total.alarms),
    }
  }
  try {
    const costs: Fires['costs'][] = []
    for (const due of DUE)
      costs.push({ [ENGINE]: await costOf(ENGINE, due), [SCHEDULE_LOOP]: await costOf(SCHEDULE_LOOP, due) })
    return costs
  } finally {
    await worker.stop()
  }
}

async function fireTimes(code: string, settings: Settings, progress: Progress): Promise<Fires['times'][]> {
  const worker = await startWorker({ code, classes: [...SUBJECTS, 'Target'] })
  const timesOf = async (due: number, handlers: (typeof HANDLERS)[number]) => {
    let from = START_AT
    for (const subject of SUBJECTS) from = await setUp(worker, subject, settings, due, handlers)
    const fires = due === 1 ? settings.runs : 1
    const samples = await interleaved(
      SUBJECTS,
      {
        warmUp: settings.warmUp,
        rounds: Math.ceil(settings.rounds / 2),
        progress,
        what: `fires of user-created schedules, ${due} due, ${handlers} handlers`,
      },
      (subject, round) => {
        const at = from + round * fires * TICK_MS
        return timed(worker, fires * due, () =>
          worker.call(subject, nameOf(due, handlers), 'fire', { at, fires, due }),
        )
      },
    )
    return comparedWithLoop(samples, SCHEDULE_LOOP)
  }
  try {
    const times: Fires['times'][] = []
    for (const due of DUE)
      times.push({ calling: await timesOf(due, 'calling'), empty: await timesOf(due, 'empty') })
    return times
  } finally {
    await worker.stop()
  }
}

const VERBS = [
  { what: '`get`', name: 'get' },
  { what: '`upsert` with another input', name: 'upsert' },
  { what: '`create`', name: 'create' },
  { what: '`delete`', name: 'delete' },
  { what: '`pause`', name: 'pause' },
  { what: '`resume`', name: 'resume' },
  { what: '`list`, page 1 of 100 rows', name: 'list' },
  { what: '`list`, a page by cursor from the middle', name: 'next' },
] as const

async function verbCosts(code: string, settings: Settings, progress: Progress): Promise<VerbCost[]> {
  const { stored } = settings.schedules
  const times = settings.runs
  const measured = async (isCounting: boolean) => {
    const worker = await startWorker({ code, classes: [ENGINE, 'Target'], isCounting })
    const object = nameOf(1, 'empty')
    try {
      await setUp(worker, ENGINE, settings, 1, 'empty')
      await worker.call(ENGINE, object, 'seek', Math.floor(stored / 200) * 100)
      const answers: { readonly cost: Cost | undefined; readonly cpuUs: number }[] = []
      for (const { name } of VERBS) {
        progress(`${name} among ${stored} schedules`)
        if (isCounting) await worker.call(ENGINE, object, 'takeCost')
        const { cpuUs } = await timed(worker, times, () =>
          worker.call(ENGINE, object, 'verb', { name, times }),
        )
        const [cost] = isCounting ? ((await worker.call(ENGINE, object, 'takeCost')) as Cost[]) : []
        answers.push({ cost, cpuUs })
      }
      return answers
    } finally {
      await worker.stop()
    }
  }
  const [counted, taken] = [await measured(true), await measured(false)]
  return VERBS.map(({ what }, index) => ({
    what,
    rowsRead: (counted[index]?.cost?.rowsRead ?? Number.NaN) / times,
    rowsWritten: (counted[index]?.cost?.rowsWritten ?? Number.NaN) / times,
    cpuUs: taken[index]?.cpuUs ?? Number.NaN,
  }))
}

/** Resolves to when its history is full. */
async function setUp(
  worker: WorkerProcess,
  subject: string,
  { schedules: { stored, kept } }: Settings,
  due: number,
  handlers: (typeof HANDLERS)[number],
): Promise<number> {
  const object = nameOf(due, handlers)
  await worker.call(subject, object, 'setUp', { at: START_AT, due, stored, kept, handlers })
  return START_AT + (kept + 1) * TICK_MS
}

function nameOf(due: number, handlers: string): string {
  return `${due} due, ${handlers}`
}
