import { check, optionsOf, shown } from '../core/checks.ts'
import { type Clock, systemClock } from '../core/clock.ts'
import type { SchedulerPort } from '../core/helper.ts'
import { ALARM_WALL_LIMIT_MS } from '../core/limits.ts'
import { report } from '../core/report.ts'
import type { DurabilityScheduler } from '../core/scheduler.ts'
import { helperOf } from './attach.ts'
import { InvalidScheduleError, StoreNotCapableError } from './errors.ts'
import { inTurnOf } from './in-turn.ts'
import { KEPT_DECISIONS, KEPT_RUNS, MAX_NAME_LENGTH } from './limits.ts'
import { type ObjectRuns, objectRunsOf } from './object-runs.ts'
import type { EngineParts } from './parts.ts'
import { registeredOf, type WorkflowLike } from './registered-of.ts'
import {
  type Page,
  type RunDescription,
  type RunFilter,
  type Runs,
  runsOf,
  type StartOptions,
} from './runs.ts'
import type { ScheduleStore } from './store.ts'
import { sweeperOf } from './sweep.ts'
import { type Ticker, tickerOf } from './tick.ts'
import { type Schedules, verbsOf } from './verbs.ts'

export interface DurabilityEngineOptions<
  Workflows extends Record<string, WorkflowLike> = Record<string, WorkflowLike>,
> {
  /** `memoryStore()`, `durableObjectStore(ctx.storage)`, `d1Store(env.DB)`, or your own. */
  readonly store: ScheduleStore
  /** What schedules start, by name. */
  readonly workflows: Workflows
  /** Drives the engine by the object's alarm. Needs a store that is bound to the object. */
  readonly scheduler?: DurabilityScheduler
  /** Whether the scheduler's passes fire due schedules. `tick()` does not look at it. Default false. */
  readonly persistedSchedules?: boolean
  /** The part of the store this engine sees, changes and fires. Left out: it is an operator, for all of it. */
  readonly namespace?: string
  /** Handlers in flight at once; later runs wait in the store. From 1; default 10. */
  readonly maxConcurrentRuns?: number
  /** ms after which a handler's run is reported as timed out. Default 15 minutes. */
  readonly runTimeoutMs?: number
  /**
   * Schedules that one `tick()` fires at most. Default: all that are due. Over D1 set 60: a fire makes up to 16 queries,
   * and an invocation of a Worker may make 1,000.
   */
  readonly maxFiresPerTick?: number
  /** ms after which a start outside the object counts as failed. Default 30 seconds. */
  readonly startTimeoutMs?: number
  /** ms for which a failing start is tried again, and by which `catchup: 'skip'` may be late. Default 60 seconds. */
  readonly graceMs?: number
  /** ms. The shortest `every` that is taken. Default 1 second. */
  readonly minEveryMs?: number
  /** Whether a cron may have a field of seconds. Default true. */
  readonly seconds?: boolean
  /** Runs kept for each schedule; beyond them finished ones are removed, oldest first. From 1; default 50. */
  readonly keptRuns?: number
  /** Decisions kept for each schedule. From 1; default 50. */
  readonly keptDecisions?: number
  /** Answers the current instant, epoch ms. Default: the scheduler's clock, or the runtime's. */
  readonly clock?: () => number
}

/** `engine.schedules`: the verbs, and the tick. */
export interface EngineSchedules<Workflow> extends Schedules<Workflow> {
  /**
   * Fires every due schedule in the engine's namespace, whatever `persistedSchedules` says. Resolves to the ids of the
   * runs whose windows it moved on, when each start was answered or given up. Rejects only when the due query fails.
   */
  tick(now?: number): Promise<string[]>
}

/**
 * Schedules that users create, kept in a database beside the runs they start. Several engines may work on one store:
 * each window starts one run.
 *
 * @throws TypeError or RangeError at construction, naming the option and its value.
 */
export class DurabilityEngine<Workflows extends Record<string, WorkflowLike> = Record<string, WorkflowLike>> {
  readonly schedules: EngineSchedules<string | Workflows[keyof Workflows]>
  readonly #runs: Runs
  readonly #drain: () => Promise<void>

  constructor(options: DurabilityEngineOptions<Workflows>) {
    const { schedules, runs, drain } = engineOf(options)
    this.schedules = schedules
    this.#runs = runs
    this.#drain = drain
  }

  /**
   * Starts a run under an id of the caller's, once: an id that exists answers that run.
   *
   * Rejects with `WorkflowNotRegisteredError`, `InvalidInputError`, `ConcurrencyLimitError`, `EngineDrainingError`,
   * `InvalidScheduleError` for a bad argument, or with what a start outside the object failed with; then no run is left.
   * One that was not answered (`StartTimeoutError`) may be there: a Workflow is asked later, and meanwhile it is `queued`.
   */
  start(
    workflow: string | Workflows[keyof Workflows],
    input: unknown,
    runId: string,
    options?: StartOptions,
  ): Promise<RunDescription> {
    return this.#runs.start(workflow, input, runId, options)
  }

  /** `null` when it is unknown. A Workflow is asked for its status. */
  getRun(runId: string): Promise<RunDescription | null> {
    return this.#runs.getRun(runId)
  }

  /** Newest first. */
  listRuns(filter?: RunFilter): Promise<Page<RunDescription>> {
    return this.#runs.listRuns(filter)
  }

  /** Cancels a run that waits or runs; its signal is aborted. `false` when it is unknown or over. */
  cancelRun(runId: string): Promise<boolean> {
    return this.#runs.cancelRun(runId)
  }

  /** Stops firing and starting; resolves when what is in flight has settled. */
  drain(): Promise<void> {
    return this.#drain()
  }
}

const STORE_METHODS: readonly (keyof ScheduleStore)[] = [
  'saveSchedule',
  'getSchedule',
  'updateSchedule',
  'deleteSchedule',
  'listSchedules',
  'countSchedules',
  'nextDueAt',
  'saveRun',
  'getRun',
  'updateRun',
  'deleteRun',
  'listRuns',
  'saveDecision',
  'listDecisions',
  'trim',
  'removeExpiredRuns',
  'lastWindow',
  'countFire',
]

function engineOf(options: DurabilityEngineOptions) {
  const settings = optionsOf<Settings>(options, {
    store: ['object'],
    workflows: ['object'],
    scheduler: ['object', null],
    persistedSchedules: ['boolean', false],
    namespace: ['string', null, 1, MAX_NAME_LENGTH],
    maxConcurrentRuns: ['number', 10],
    runTimeoutMs: ['number', ALARM_WALL_LIMIT_MS],
    maxFiresPerTick: ['number', Number.POSITIVE_INFINITY],
    startTimeoutMs: ['number', 30_000],
    graceMs: ['number', 60_000],
    minEveryMs: ['number', 1_000],
    seconds: ['boolean', true],
    keptRuns: ['number', KEPT_RUNS],
    keptDecisions: ['number', KEPT_DECISIONS],
    clock: ['function', null],
  })
  const { store, scheduler, namespace } = settings
  if (namespace === '') throw new RangeError('options.namespace must have 1 to 200 characters, got ""')
  const registered = registeredOf(settings.workflows, store)
  const names = new Map<unknown, string>(
    Object.entries(settings.workflows).map(([name, given]) => [given, name]),
  )
  if (scheduler !== null && store.boundTo === undefined) {
    throw new TypeError(
      `options.scheduler needs a store that is bound to its object, got ${shown(store.name)}`,
    )
  }
  let port: SchedulerPort | undefined
  let isDraining = false
  const held = new Set<Promise<unknown>>()
  const soonest = inTurnOf<number | undefined>(store.boundTo)
  /** The scheduler's, from when it is attached on. */
  const clock: Clock = {
    now: () => (port?.clock ?? systemClock).now(),
    setTimer: (fire, delayMs) => (port?.clock ?? systemClock).setTimer(fire, delayMs),
  }

  const parts: EngineParts = {
    ...settings,
    namespace: namespace ?? undefined,
    clock,
    now: settings.clock ?? (() => clock.now()),
    startsOutside: [...registered.values()].some(({ kind }) => kind !== 'handler'),
    registered: (name) => registered.get(name),
    nameOf(workflow) {
      const name = typeof workflow === 'string' ? workflow : names.get(workflow)
      if (name === undefined) {
        throw new InvalidScheduleError('workflow', 'is neither a name nor one of options.workflows')
      }
      return name
    },
    soonest,
    write(write) {
      soonest.forget()
      try {
        return port === undefined ? write() : port.transaction(write)
      } catch (error) {
        // What was read before it was undone.
        soonest.forget()
        throw error
      }
    },
    hold(work) {
      const settled = work.catch((error: unknown) => report('schedules.failed', error))
      // Over a store that is no object's, a request that was cut off leaves what never settles.
      if (store.boundTo !== undefined) {
        held.add(settled)
        settled.finally(() => held.delete(settled))
      }
      port?.hold(settled)
    },
    get objectRuns() {
      return objectRuns
    },
    async durable() {
      await Promise.all([store.sync?.(), port?.alarmTaken()])
    },
    draining: () => isDraining,
  }
  const objectRuns: ObjectRuns | undefined =
    store.boundTo === undefined ? undefined : objectRunsOf(parts, store.boundTo)
  const ticker: Ticker = tickerOf(parts)
  const runs = runsOf(parts)
  const sweeper = sweeperOf(parts)
  if (scheduler !== null) {
    check('options.scheduler.attach', scheduler.attach, 'function')
    port = scheduler.attach(
      helperOf({
        namespace: parts.namespace,
        fires: settings.persistedSchedules,
        ticker: () => ticker,
        objectRuns: () => objectRuns,
        draining: () => isDraining,
        sweep: (now) => sweeper.sweep(now),
        port: () => port,
      }),
    )
  }

  const verbs = verbsOf(parts, runs)
  const schedules: EngineSchedules<unknown> = {
    ...verbs,
    async tick(now = parts.now()) {
      check('now', now, 'number', 0, 8.64e15)
      if (isDraining) return []
      await objectRuns?.look()
      const runIds = await ticker.tick(now)
      await objectRuns?.look()
      await sweeper.sweep(now)
      return runIds
    },
  }
  return {
    schedules: reconciled(capable(schedules, store), () => port),
    runs: reconciled(runs, () => port),
    async drain() {
      isDraining = true
      await ticker.settled()
      await objectRuns?.settled()
      while (held.size > 0) await Promise.all(held)
    },
  }
}

interface Settings {
  readonly store: ScheduleStore
  readonly workflows: Record<string, WorkflowLike>
  readonly scheduler: DurabilityScheduler | null
  readonly persistedSchedules: boolean
  readonly namespace: string | null
  readonly maxConcurrentRuns: number
  readonly runTimeoutMs: number
  readonly maxFiresPerTick: number
  readonly startTimeoutMs: number
  readonly graceMs: number
  readonly minEveryMs: number
  readonly seconds: boolean
  readonly keptRuns: number
  readonly keptDecisions: number
  readonly clock: (() => number) | null
}

type Calls = Record<string, (...args: never[]) => Promise<unknown>>

/** A store that lacks something says so at the first call, whatever the call needs. */
function capable<Verbs extends object>(verbs: Verbs, store: ScheduleStore): Verbs {
  return wrapped(verbs, (call) => async (...args) => {
    const missing = STORE_METHODS.find((name) => typeof store[name] !== 'function')
    if (missing !== undefined) {
      throw new StoreNotCapableError(store.name, `has no method ${missing}: engine.schedules needs it`)
    }
    return call(...args)
  })
}

/** Calls that change nothing leave the alarm where it is. */
const READS: readonly string[] = ['get', 'list', 'count', 'preview', 'history', 'getRun', 'listRuns']

/** After each call that writes the physical alarm stands right, wherever it stood before. */
function reconciled<Verbs extends object>(verbs: Verbs, port: () => SchedulerPort | undefined): Verbs {
  return wrapped(verbs, (call, name) => async (...args) => {
    const result = await call(...args)
    if (!READS.includes(name)) await port()?.reconcile()
    return result
  })
}

function wrapped<Verbs extends object>(
  verbs: Verbs,
  wrap: (call: Calls[string], name: string) => Calls[string],
): Verbs {
  const entries = Object.entries(verbs as Calls).map(([name, call]) => [name, wrap(call, name)])
  // The same names, each with the same arguments and answer.
  return Object.fromEntries(entries) as Verbs
}
