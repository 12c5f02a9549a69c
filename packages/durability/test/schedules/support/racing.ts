import {
  DurabilityEngine,
  dispatch,
  type ScheduleStore,
  type WorkflowLike,
} from '../../../src/schedules/index.node.ts'
import { START_AT } from './setup.ts'

/** xorshift32: the same numbers for the same seed. */
export function randomOf(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  return () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
}

export interface Race {
  readonly seed: number
  readonly store: ScheduleStore
  readonly schedules: number
  readonly engines: number
  /** `dispatch`: a receiver outside, which counts calls by run id; `handler`: in the object. */
  readonly kind: 'dispatch' | 'handler'
  /** ms after the start at which all engines tick. Default: across two edges, late, and after an outage. */
  readonly at?: readonly number[]
  /** What the engines run side by side in: all at once, or as turns of one object. */
  readonly between?: () => Promise<void>
}

const EVERY_MS = 10_000
const MAX_SKEW_MS = 2_000

export interface RaceResult {
  /** Run ids that were started, with how often. */
  readonly started: ReadonlyMap<string, number>
  readonly problems: readonly string[]
}

/** Across two edges, late, and after an outage. */
const ALL = [8_500, 10_000, 10_500, 12_000, 18_000, 20_000, 31_000, 45_000]
/** One window: half of the clocks have passed it, then all have. */
export const EDGE: readonly number[] = [9_000, 10_000, 13_500]

/**
 * Engines whose clocks differ by up to 2 s either way tick the same due schedules across the edge of two windows. Every
 * window that has a run is started under one id, is counted once, and has one entry in the history.
 */
export async function race({
  seed,
  store,
  schedules,
  engines,
  kind,
  between,
  at = ALL,
}: Race): Promise<RaceResult> {
  const random = randomOf(seed)
  const started = new Map<string, number>()
  let now = START_AT
  const note = (runId: string) => started.set(runId, (started.get(runId) ?? 0) + 1)
  const work: WorkflowLike =
    kind === 'handler'
      ? { handler: ({ runId }) => void note(runId) }
      : dispatch(async ({ runId }) => {
          await between?.()
          note(runId)
        })
  const workers = Array.from({ length: engines }, () => {
    const skew = Math.round((random() * 2 - 1) * MAX_SKEW_MS)
    return new DurabilityEngine({
      store,
      workflows: { work },
      clock: () => now + skew,
      maxConcurrentRuns: 1_000,
    })
  })
  const [first] = workers
  if (first === undefined) throw new Error('No engine')
  for (let n = 0; n < schedules; n += 1) {
    await first.schedules.create({
      id: `s${n}`,
      workflow: 'work',
      every: EVERY_MS,
      jitter: n % 2 === 0 ? 0 : 3_000,
    })
  }
  for (const ms of at) {
    now = START_AT + ms
    await Promise.all(workers.map((worker) => worker.schedules.tick()))
  }
  for (const worker of workers) await worker.drain()
  return { started, problems: await problemsOf(store, schedules, started, kind) }
}

async function problemsOf(
  store: ScheduleStore,
  schedules: number,
  started: ReadonlyMap<string, number>,
  kind: Race['kind'],
): Promise<string[]> {
  const problems: string[] = []
  if (kind === 'handler') {
    for (const [runId, times] of started) if (times !== 1) problems.push(`${runId} was called ${times} times`)
  }
  for (let n = 0; n < schedules; n += 1) {
    const id = `s${n}`
    const row = await store.getSchedule(id)
    const runs = await store.listRuns({ scheduleId: id, order: 'newest', limit: 100 })
    const decisions = await store.listDecisions(id, 100)
    const mine = [...started.keys()].filter((runId) => runId.startsWith(`sched:${id}:`))
    if (row?.fires !== mine.length)
      problems.push(`${id} has fires ${row?.fires}, ${mine.length} runs were started`)
    if (runs.length !== mine.length)
      problems.push(`${id} has ${runs.length} runs, ${mine.length} were started`)
    if (runs.some(({ counted }) => !counted)) problems.push(`${id} has a run that is not counted`)
    for (const { from, to, scheduledTime } of decisions) {
      const told = runs.filter((run) => {
        const window = run.scheduledTime ?? 0
        return from !== null && to !== null ? window >= from && window <= to : window === scheduledTime
      })
      if (told.length > 0) problems.push(`${id} says of a window both that it fired and that it did not`)
    }
    const last = Math.max(...runs.map((run) => run.scheduledTime ?? 0))
    if (row?.lastFireAt !== last) problems.push(`${id} last fired ${row?.lastFireAt}, right is ${last}`)
  }
  return problems
}
