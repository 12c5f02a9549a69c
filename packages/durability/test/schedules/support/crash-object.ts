import { DurabilityScheduler } from '../../../src/index.ts'
import {
  DurabilityEngine,
  type DurabilityEngineOptions,
  durableObjectStore,
  type RunToStart,
} from '../../../src/schedules/index.node.ts'
import { type CrashPoint, type PlanCrash, simulateObject } from '../../../src/testing/index.ts'
import { type AuditOptions, audit } from './audit.ts'
import { Outside } from './outside.ts'

export interface ObjectScenario {
  readonly name: string
  readonly options?: Partial<DurabilityEngineOptions>
  /** ms that a handler takes, and whether it fails then. */
  readonly behaviour?: (run: RunToStart) => { readonly takesMs?: number; readonly throws?: boolean }
  /** Starts outside the object that fail first. */
  readonly failures?: number
  readonly play: (object: Played) => Promise<void>
  /** What must hold at the end of each schedule, and which of its windows have a run, whatever crashed. */
  readonly schedules: Readonly<
    Record<string, Pick<AuditOptions, 'windows' | 'live'> & { readonly fired?: readonly number[] }>
  >
  /** Statuses that the runs of handlers may end with besides `interrupted`. Default `complete`. */
  readonly ends?: readonly string[]
}

export interface Played {
  /** A client, which asks again when the object died. */
  ask(request: (engine: DurabilityEngine) => Promise<unknown>): Promise<void>
  advance(ms: number): Promise<void>
  holdAlarms(ms: number): void
}

/** Of one history. */
const MOST_CRASHES = 2

/** Plays a scenario in an object that crashes as planned, and once more so many writes or seams after that. */
export async function playInObject(
  scenario: ObjectScenario,
  crashing: PlanCrash,
  crash: CrashPoint | undefined,
  again = 0,
): Promise<string[]> {
  const outside = new Outside()
  outside.failures = scenario.failures ?? 0
  const called = new Map<string, number>()
  const object = crashing(
    simulateObject((ctx, clock, life) => {
      const scheduler = new DurabilityScheduler({ context: ctx, clock })
      const store = durableObjectStore(ctx.storage)
      const brief = life.guard(async (run: RunToStart) => {
        called.set(run.runId, (called.get(run.runId) ?? 0) + 1)
        const { takesMs = 0, throws = false } = scenario.behaviour?.(run) ?? {}
        await new Promise<void>((resolve) => clock.setTimer(resolve, takesMs))
        if (throws) throw new Error('no mail')
      })
      const through = async <T>(call: () => T): Promise<T> => {
        await life.seam('on the way out')
        if (life.dead) return new Promise<never>(() => undefined)
        const answer = call()
        await life.seam('on the way back')
        return answer
      }
      const engine = new DurabilityEngine({
        store,
        scheduler,
        persistedSchedules: true,
        ...scenario.options,
        workflows: { brief, ...outside.workflows(through) },
      })
      return { engine, store, alarm: (info: object) => scheduler.alarm(info) }
    }),
  )
  if (crash !== undefined && again > 0) {
    if ('seam' in crash) object.crashAtAwait(crash.seam + again)
    else object.crashAt({ write: crash.write + again, when: crash.when })
  }
  await scenario.play({
    ask: async (request) => {
      await object.callUntilAnswered(({ engine }) =>
        request(engine as unknown as DurabilityEngine).catch((error: { code?: unknown }) => {
          if (error.code !== 'schedule_already_exists') throw error
        }),
      )
    },
    advance: (ms) => object.advance(ms),
    holdAlarms: (ms) => object.holdAlarms(ms),
  })

  // What a crash cut off is found by the next alarm, or by whoever asks before it.
  for (let looks = 0; looks < MOST_CRASHES + 1; looks += 1) {
    await object.callUntilAnswered(({ engine }) => engine.schedules.tick())
    await object.advance('5 seconds')
  }
  await object.callUntilAnswered(({ engine }) => engine.listRuns({ limit: 1_000 }))
  const { store } = object.instance
  const now = object.world.clock.now()
  const problems: string[] = []
  for (const [id, { windows, live, fired = [] }] of Object.entries(scenario.schedules)) {
    problems.push(...(await audit(store, { id, now, ...(windows && { windows }), ...(live && { live }) })))
    for (const window of fired) {
      if ((await store.getRun(`sched:${id}:${window}`))?.counted !== true)
        problems.push(`${id} did not fire ${window}`)
    }
  }
  const crashes = crash === undefined ? 0 : again > 0 ? 2 : 1
  const mayBeCut = crashes * (scenario.options?.maxConcurrentRuns ?? 10)
  const { ends = ['complete'] } = scenario
  const runs = await store.listRuns({ order: 'newest', limit: 1_000 })
  const cut = runs.filter(({ status }) => status === 'interrupted')
  if (cut.length > mayBeCut) problems.push(`${cut.length} runs are interrupted`)
  for (const { id, kind, status } of runs) {
    const times = called.get(id) ?? 0
    if (kind !== 'handler' || status === 'interrupted') {
      if (times > 1) problems.push(`${id} was called ${times} times`)
    } else if (!ends.includes(status)) problems.push(`${id} is ${status}`)
    else if (times !== 1 && status !== 'cancelled') problems.push(`${id} was called ${times} times`)
    if (kind !== 'handler' && (outside.got.get(id) ?? 0) === 0 && status === 'complete')
      problems.push(`${id} is complete and never arrived`)
  }
  for (const runId of [...called.keys(), ...outside.got.keys()])
    if (!runs.some(({ id }) => id === runId)) problems.push(`${runId} was started and has no row`)
  const due = await store.nextDueAt(undefined)
  if (due !== undefined && (object.alarmAt === null || object.alarmAt > Math.max(due, now + 1)))
    problems.push(`the alarm is at ${object.alarmAt}, due is ${due}`)
  return problems
}
