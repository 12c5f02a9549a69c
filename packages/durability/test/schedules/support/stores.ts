import {
  d1Store,
  durableObjectStore,
  memoryStore,
  type ScheduleStore,
} from '../../../src/schedules/index.node.ts'
import { simulateObject } from '../../../src/testing/index.ts'
import { fakeD1 } from './d1.ts'

export interface OpenStore {
  readonly store: ScheduleStore
  /** Everything that is in it, to compare. */
  dump(): Promise<unknown>
  close(): void
}

const TABLES = ['durable_schedules', 'durable_schedule_tags', 'durable_runs', 'durable_decisions']

/** The three stores of the package, in Node. */
export const STORES: readonly { readonly name: string; readonly open: () => OpenStore }[] = [
  {
    name: 'memory',
    open() {
      const store = memoryStore()
      return { store, dump: () => contentOf(store), close: () => undefined }
    },
  },
  {
    name: 'a simulated Durable Object',
    open() {
      const object = simulateObject((ctx) => ({
        alarm: () => undefined,
        store: durableObjectStore(ctx.storage),
      }))
      const rows = (query: string) => object.rows(query)
      return { store: object.instance.store, dump: async () => tablesOf(rows), close: () => object.close() }
    },
  },
  {
    name: 'a D1-like database',
    open() {
      const database = fakeD1()
      return {
        store: d1Store(database),
        dump: async () => tablesOf((query) => database.rows(query)),
        close: () => database.close(),
      }
    },
  },
]

function tablesOf(rows: (query: string) => readonly unknown[]): unknown {
  return TABLES.map((table) => {
    const [there] = rows(`SELECT 1 FROM sqlite_master WHERE name = '${table}'`)
    return there === undefined ? [] : rows(`SELECT * FROM ${table}`)
  })
}

/** By what every store can be asked. */
export async function contentOf(store: ScheduleStore): Promise<unknown> {
  const schedules = await store.listSchedules({ limit: 1_000 })
  const runs = await store.listRuns({ order: 'newest', limit: 1_000 })
  const decisions = await Promise.all(schedules.map(({ id }) => store.listDecisions(id, 1_000)))
  return { schedules, runs, decisions }
}
