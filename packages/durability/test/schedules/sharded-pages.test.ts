import { describe, expect, test } from 'vitest'
import {
  DurabilityEngine,
  memoryStore,
  type ScheduleDescription,
  shardedSchedules,
  workflow,
} from '../../src/schedules/index.node.ts'
import { MAX_ANSWERED_PAGE } from '../../src/schedules/limits.ts'
import { type PortablePage, portable, type ScheduleObjectStub } from '../../src/schedules/remote.ts'
import { shardOf } from '../../src/schedules/sharded.ts'
import { START_AT } from './support/setup.ts'

const SHARDS = 2

/** A set of objects whose runs are of one Workflow, which says how each of its instances is doing. */
function setOfObjects() {
  let now = START_AT
  const statuses = new Map<string, string>()
  const brief = workflow({
    create: async ({ id }) => void statuses.set(id, 'running'),
    get: async (id) => ({
      status: async () => ({ status: statuses.get(id) ?? 'unknown' }),
      terminate: async () => undefined,
    }),
  })
  const objects = new Map<string, ScheduleObjectStub>()
  for (let shard = 0; shard < SHARDS; shard += 1) {
    const engine = new DurabilityEngine({ store: memoryStore(), clock: () => now, workflows: { brief } })
    objects.set(`schedules-${shard}`, {
      async call(verb, args) {
        const at: object = verb in engine.schedules ? engine.schedules : engine
        const ask = Reflect.get(at, verb) as (...given: unknown[]) => Promise<unknown>
        return { value: portable(await ask.apply(at, [...args])) }
      },
    })
  }
  const getByName = (name: string) => objects.get(name) as ScheduleObjectStub // one of those above
  return {
    ...shardedSchedules({ getByName }, { shards: SHARDS }),
    end: (id: string) => statuses.set(id, 'complete'),
    pass(ms: number) {
      now += ms
    },
  }
}

/** The first ids of that form that are in the given object. */
function idsIn(shard: number, count: number): string[] {
  const ids: string[] = []
  for (let n = 0; ids.length < count; n += 1) if (shardOf(`r${n}`, SHARDS) === shard) ids.push(`r${n}`)
  return ids
}

describe('of runs that go on, where some turn out to be over,', () => {
  test('every page leads to the next one, and none is left out', async () => {
    const { start, listRuns, end, pass } = setOfObjects()
    const [first, second] = [idsIn(0, 20), idsIn(1, 20)]
    const going = [...first, ...second.slice(0, 15)]
    for (const id of [...first, ...second]) {
      await start('brief', null, id)
      // The newest of all.
      if (!going.includes(id)) end(id)
      pass(1)
    }
    const seen: string[] = []
    let cursor: string | null = null
    do {
      const page = await listRuns({ status: 'running', limit: 5, ...(cursor !== null && { cursor }) })
      seen.push(...page.map(({ id }) => id))
      cursor = page.cursor
    } while (cursor !== null)
    expect(seen.toSorted()).toEqual(going.toSorted())
  })
})

describe('an object with large inputs', () => {
  test('answers pages that an RPC can take, each with the way to the next', async () => {
    const engine = new DurabilityEngine({ store: memoryStore(), clock: () => START_AT, workflows: {} })
    const input = 'x'.repeat(120 * 1024)
    const ids = [...Array(80).keys()].map((n) => `s${n}`)
    for (const id of ids) await engine.schedules.create({ id, workflow: 'brief', every: '1h', input })
    const seen: string[] = []
    let cursor: string | null = null
    let pages = 0
    do {
      const page = await engine.schedules.list({ limit: 1_000, ...(cursor !== null && { cursor }) })
      const answer = portable(page) as PortablePage<ScheduleDescription>
      expect(JSON.stringify(answer.page).length).toBeLessThan(MAX_ANSWERED_PAGE + 1_000)
      seen.push(...answer.page.map(({ id }) => id))
      cursor = answer.cursor
      pages += 1
    } while (cursor !== null)
    expect(seen.toSorted()).toEqual(ids.toSorted())
    expect(pages).toBe(3)
  })
})
