import { reset, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { DurabilityScheduler } from '../../../src/index.ts'
import {
  DurabilityEngine,
  durableObjectStore,
  type ScheduleDefinition,
} from '../../../src/schedules/index.ts'
import { type Cost, counting, noCost } from '../../workerd/support/counting.ts'
import { type FrozenClock, freezeClock } from '../../workerd/support/time.ts'
import { subjects, type TestObject } from '../../workerd/support/worker.ts'
import { DAY_MS, MINUTE_MS } from './setup.ts'

/** One real object with an engine that its alarm drives; the wall clock stands still until it is moved. */
export interface CostObject {
  readonly clock: FrozenClock
  /** Run ids in the order in which handlers were called. */
  readonly called: string[]
  inside<T>(work: (parts: CostParts) => T | Promise<T>): Promise<T>
  /** What `work` makes the engine, its store and the scheduler read, write and arm. */
  costOf(work: (engine: DurabilityEngine) => unknown): Promise<Cost>
  /** What the physical alarm costs, until all that it fired has ended. */
  costOfAlarm(): Promise<Cost>
}

interface CostParts {
  readonly ctx: DurableObjectState
  readonly engine: DurabilityEngine
}

let objects = 0

/** `isDriven`: by the alarm; otherwise there is no scheduler, and whoever likes calls `tick()`. */
export function costObject(isDriven = true): CostObject {
  objects += 1
  const name = `cost ${objects}`
  const clock = freezeClock()
  const called: string[] = []
  const cost = noCost()
  let parts: CostParts | undefined
  subjects.set(name, (ctx) => {
    const context = counting(ctx, cost)
    const scheduler = new DurabilityScheduler({ context })
    const engine = new DurabilityEngine({
      store: durableObjectStore(context.storage),
      ...(isDriven && { scheduler, persistedSchedules: true }),
      workflows: {
        brief: async ({ runId }) => void called.push(runId),
        checked: { handler: async ({ runId }) => void called.push(runId), validate: async () => undefined },
      },
    })
    // The names of its workflows are of no matter here.
    parts = { ctx, engine: engine as unknown as DurabilityEngine }
    return { alarm: (info) => scheduler.alarm(info) }
  })
  const stub = env.OBJECTS.getByName(name)
  const inside = <T>(work: (made: CostParts) => T | Promise<T>): Promise<T> =>
    runInDurableObject<TestObject, T>(stub, () => {
      if (parts === undefined) throw new Error('The object was not made')
      return work(parts)
    })
  const spent = async (work: () => Promise<unknown>): Promise<Cost> => {
    const before = { ...cost }
    await work()
    return {
      rowsRead: cost.rowsRead - before.rowsRead,
      rowsWritten: cost.rowsWritten - before.rowsWritten,
      alarms: cost.alarms - before.alarms,
      alarmDeletes: cost.alarmDeletes - before.alarmDeletes,
    }
  }
  return {
    clock,
    called,
    inside,
    costOf: (work) => spent(() => inside(async ({ engine }) => void (await work(engine)))),
    costOfAlarm: () => spent(() => runDurableObjectAlarm(stub)),
  }
}

export async function forgetObjects(): Promise<void> {
  await reset()
  subjects.clear()
}

/** Runs, and decisions, that are kept of each schedule that fires. */
export const KEPT = 50

export const FIRING: ScheduleDefinition = { id: 'made', workflow: 'brief', every: MINUTE_MS, tags: ['often'] }
export const RESTING: ScheduleDefinition = { id: 'rest', workflow: 'brief', every: DAY_MS, tags: ['t0'] }

/** How the resting ones are spread: every tenth has a tag and a namespace in common, every fifth is paused. */
export const SPREAD = 10
export const PAUSED_OF = 5

/**
 * So many schedules in all: one that has fired every minute until its history was full, as many copies of it as are to be
 * due with it, history included, and copies of one that is due in a day.
 */
export async function storeMany(
  object: CostObject,
  { due, all, policies }: { due: number; all: number; policies?: Partial<ScheduleDefinition> },
): Promise<void> {
  await object.costOf((engine) => engine.schedules.create({ ...FIRING, ...policies }))
  for (let fire = 0; fire <= KEPT; fire += 1) {
    object.clock.moveBy(MINUTE_MS)
    await object.costOf(({ schedules }) => schedules.tick())
  }
  await object.costOf(async ({ schedules }) => {
    for (let pair = 0; pair < KEPT / 2; pair += 1) {
      await schedules.pause(FIRING.id)
      await schedules.resume(FIRING.id)
    }
    await schedules.create(RESTING)
  })
  await object.inside(({ ctx }) =>
    ctx.storage.transactionSync(() => {
      copySchedule(ctx, FIRING.id, due - 1)
      copySchedule(ctx, RESTING.id, all - due - 1, {
        namespace: `'n' || (copy % ${SPREAD})`,
        definition: `json_set(definition, '$.tags', json_array('t' || (copy % ${SPREAD})))`,
        tag: `'t' || (copy % ${SPREAD})`,
        paused: `copy % ${PAUSED_OF} = 0`,
        next_fire_at: 'next_fire_at + copy',
      })
    }),
  )
}

/** Copies a schedule and all that belongs to it, by the statements of bulk SQL; `changed` are columns as SQL of `copy`. */
export function copySchedule(
  ctx: DurableObjectState,
  id: string,
  count: number,
  changed: Readonly<Record<string, string>> = {},
): void {
  const copy = `'${id}-' || copy`
  const renamed = (column: string) => `replace(${column}, '${id}', ${copy})`
  const history = { schedule_id: copy, id: renamed('id'), tags: renamed('tags') }
  copyRows(ctx, 'durable_schedules', `id = '${id}'`, count, {
    id: copy,
    last_run_id: renamed('last_run_id'),
    ...changed,
  })
  for (const table of ['durable_schedule_tags', 'durable_runs', 'durable_decisions']) {
    copyRows(ctx, table, `schedule_id = '${id}'`, count, { ...history, ...changed })
  }
}

function copyRows(
  { storage: { sql } }: DurableObjectState,
  table: string,
  where: string,
  count: number,
  changed: Readonly<Record<string, string>>,
): void {
  const columns = sql.exec(`SELECT * FROM ${table} LIMIT 0`).columnNames
  sql.exec(
    `WITH RECURSIVE copies(copy) AS (SELECT 1 UNION ALL SELECT copy + 1 FROM copies WHERE copy < ?)
      INSERT INTO ${table} (${columns.join()})
      SELECT ${columns.map((column) => changed[column] ?? column).join()} FROM copies, ${table} WHERE copy <= ? AND ${where}`,
    count,
    count,
  )
}
