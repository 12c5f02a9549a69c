import {
  abortAllDurableObjects,
  evictDurableObject,
  reset,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, vi } from 'vitest'
import {
  DurabilitySchedule,
  type DurabilityScheduleOptions,
  type ScheduleDefinition,
  type ScheduleStatus,
  type StoredSchedule,
} from '../../../src/experimental/index.ts'
import {
  type AlarmInfo,
  DurabilityAlarms,
  type DurabilityAlarmsOptions,
  DurabilityScheduler,
  type DurabilitySchedulerOptions,
  type SchedulerHelper,
} from '../../../src/index.ts'
import { type Cost, counting, noCost } from './counting.ts'
import { nextOccurrence } from './expressions.ts'
import { Recording } from './recording.ts'
import { type Subject, subjects, type TestObject } from './worker.ts'

declare global {
  namespace Cloudflare {
    interface Env {
      OBJECTS: DurableObjectNamespace<TestObject>
    }
  }
}

export interface SetupOptions {
  readonly scheduler?: Omit<DurabilitySchedulerOptions, 'context'>
  /** `withoutOutcomes` leaves `onOutcome` out; otherwise there is one, that acknowledges. */
  readonly schedule?: Partial<Omit<DurabilityScheduleOptions, 'scheduler'>>
  readonly withoutOutcomes?: boolean
  readonly alarms?: Omit<DurabilityAlarmsOptions<string>, 'scheduler'>
  /** Users' own helpers, made anew for each instance. */
  readonly helpers?: readonly ((ctx: DurableObjectState) => SchedulerHelper)[]
  /** The rest of the object's constructor. */
  readonly onConstructed?: (parts: Parts) => void
  /** What the library is given in place of the object's own `ctx`. */
  readonly context?: (ctx: DurableObjectState) => DurableObjectState
}

/** What one instance of the object is made of. */
export interface Parts {
  readonly ctx: DurableObjectState
  readonly scheduler: DurabilityScheduler
  readonly schedule: DurabilitySchedule
  readonly alarms: DurabilityAlarms<string>
}

export type RunRow = {
  readonly id: number
  readonly scheduledTime: number
  readonly dueAt: number
  readonly version: number
  readonly state: number
  readonly attempts: number
  readonly nextAttemptAt: number | null
  readonly delivering: number
}

/** One object, from outside. */
export interface Bundle {
  /** What it was seen doing, over all its instances. */
  readonly seen: Recording
  readonly cost: Cost
  /** What `work` makes the library read, write and arm. */
  costOf(work: () => Promise<unknown>): Promise<Cost>
  inside<T>(work: (parts: Parts) => T | Promise<T>): Promise<T>
  set(definition: ScheduleDefinition): Promise<boolean>
  /** Sets a schedule with a single tick, `inMs` from now; resolves to its time. */
  setOnce(inMs: number): Promise<number>
  cancel(version?: number): Promise<boolean>
  get(): Promise<StoredSchedule | undefined>
  status(): Promise<ScheduleStatus>
  /** Epoch ms of the physical alarm. */
  alarmAt(): Promise<number | null>
  rows(): Promise<RunRow[]>
  /** Calls `alarm()` as the platform would, and waits for it. */
  pass(info?: AlarmInfo): Promise<void>
  /** Runs the physical alarm now and waits for it; answers whether there was one. */
  fireAlarm(): Promise<boolean>
  /** As the platform does: runs the physical alarm if its time has come, and waits for it. */
  fireIfDue(): Promise<void>
  /** Lets the platform drop the instance from memory, as it does with one that is idle. */
  evict(): Promise<void>
  /** Runs the physical alarm now and does not wait for it: the pass is to be held, or to be cut off by a crash. */
  startAlarm(): void
}

const partsOf = new WeakMap<Subject, Parts>()
let objects = 0

afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  // A passing test may leave a live schedule: its object must not go on beside the next one's.
  await abortAllDurableObjects()
  await reset()
  subjects.clear()
})

/** A fresh object with a scheduler, a schedule and named alarms. */
export function setup(options: SetupOptions = {}): Bundle {
  objects += 1
  const name = `object ${objects}`
  const seen = new Recording()
  const cost = noCost()

  subjects.set(name, (ctx) => {
    seen.instances += 1
    const made = makeParts(options, ctx, seen, cost)
    const subject = { alarm: (info?: AlarmInfo) => seen.pass(info, () => made.scheduler.alarm(info)) }
    partsOf.set(subject, made)
    return subject
  })

  // Made anew for each call: a stub from before a crash is broken.
  const stub = () => env.OBJECTS.getByName(name)
  const inside = <T>(work: (parts: Parts) => T | Promise<T>): Promise<T> =>
    runInDurableObject<TestObject, T>(stub(), ({ subject }) => {
      const parts = partsOf.get(subject)
      if (parts === undefined) throw new Error('The object was made by another set-up')
      return work(parts)
    })

  return {
    seen,
    cost,
    async costOf(work) {
      const before = { ...cost }
      await work()
      return {
        rowsRead: cost.rowsRead - before.rowsRead,
        rowsWritten: cost.rowsWritten - before.rowsWritten,
        alarms: cost.alarms - before.alarms,
        alarmDeletes: cost.alarmDeletes - before.alarmDeletes,
      }
    },
    inside,
    set: (definition) => inside(({ schedule }) => schedule.set(definition)),
    setOnce: (inMs) =>
      inside(async ({ schedule }) => {
        const at = Date.now() + inMs
        await schedule.set({ expression: `at ${at}`, version: 1 })
        return at
      }),
    cancel: (version) => inside(({ schedule }) => schedule.cancel(version)),
    get: () => inside(({ schedule }) => schedule.get()),
    status: () => inside(({ schedule }) => schedule.status()),
    alarmAt: () => inside(({ ctx }) => ctx.storage.getAlarm()),
    rows: () => inside(({ ctx }) => runRows(ctx)),
    pass: (info) => runInDurableObject<TestObject, void>(stub(), (object) => object.alarm(info)),
    fireAlarm: () => runDurableObjectAlarm(stub()),
    async fireIfDue() {
      const alarmAt = await this.alarmAt()
      if (alarmAt !== null && alarmAt <= Date.now()) await this.fireAlarm()
    },
    evict: () => evictDurableObject(stub()),
    startAlarm: () => {
      // Rejects when the object is made to crash under it; whatever else goes wrong shows in what the test waits for.
      runDurableObjectAlarm(stub()).catch(() => {})
    },
  }
}

/** Ends every instance at once, as a crash, a reset or a deploy does. */
export function crash(): Promise<void> {
  return abortAllDurableObjects()
}

function makeParts(options: SetupOptions, ctx: DurableObjectState, seen: Recording, cost: Cost): Parts {
  const context = counting(options.context?.(ctx) ?? ctx, cost)
  const scheduler = new DurabilityScheduler({
    ...options.scheduler,
    context,
    onAlarmRetry: (retry) => {
      seen.retries.push(retry)
      return options.scheduler?.onAlarmRetry?.(retry)
    },
  })
  const { onOutcome: _, ...settings } = options.schedule ?? {}
  const schedule = new DurabilitySchedule({
    nextOccurrence,
    ...settings,
    ...seen.handlers(options.schedule ?? {}, options.withoutOutcomes !== true),
    scheduler,
  })
  const alarms = new DurabilityAlarms({ handlers: {}, ...options.alarms, scheduler })
  for (const make of options.helpers ?? []) scheduler.attach(make(ctx))
  const parts = { ctx, scheduler, schedule, alarms }
  options.onConstructed?.(parts)
  return parts
}

function runRows(ctx: DurableObjectState): RunRow[] {
  return ctx.storage.sql.exec<RunRow>('SELECT * FROM durability_schedule_runs ORDER BY id').toArray()
}
