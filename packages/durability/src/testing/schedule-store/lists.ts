import type { ScheduleRow, ScheduleStore } from '../../schedules/store.ts'
import type { Part } from './framework.ts'
import { AT, ids, schedule } from './rows.ts'

export function describeLists({ it, expect }: Part): void {
  const fill = async (store: ScheduleStore) => {
    const rows = [
      schedule({ id: 'b', nextFireAt: AT + 1, workflow: 'v', namespace: 'n', tags: ['t', 'u'] }),
      schedule({ id: 'a', nextFireAt: AT + 1, tags: ['t'] }),
      schedule({ id: 'c', nextFireAt: AT }),
      schedule({ id: 'd', nextFireAt: null, finished: true, tags: ['t'] }),
      schedule({ id: 'e', nextFireAt: null, paused: true, namespace: 'n', tags: ['t'] }),
    ]
    for (const row of rows) await store.saveSchedule(row)
  }

  it('come soonest due first, finished ones after them, paused ones last', async (store) => {
    await fill(store)
    expect(ids(await store.listSchedules({ limit: 10 }))).toEqual(['c', 'a', 'b', 'd', 'e'])
  })

  it('are filtered by namespace, workflow, tag, pause and their combination, and counted the same', async (store) => {
    await fill(store)
    const cases = [
      [{ namespace: 'n' }, ['b', 'e']],
      [{ workflow: 'v' }, ['b']],
      [{ tag: 't' }, ['a', 'b', 'd', 'e']],
      [{ tag: 't', namespace: 'n', paused: false }, ['b']],
      [{ paused: true }, ['e']],
      [{ paused: false }, ['c', 'a', 'b', 'd']],
      [{ tag: 'T' }, []],
      [{ namespace: 'none' }, []],
    ] as const
    for (const [filter, expected] of cases) {
      expect(ids(await store.listSchedules({ ...filter, limit: 10 }))).toEqual([...expected])
      expect(await store.countSchedules(filter)).toBe(expected.length)
    }
  })

  it('are paged by offset and by key alike', async (store) => {
    await fill(store)
    expect(ids(await store.listSchedules({ limit: 2, offset: 1 }))).toEqual(['a', 'b'])
    const seen: string[] = []
    let after: ScheduleRow | undefined
    do {
      const page: readonly ScheduleRow[] = await store.listSchedules({ limit: 2, after })
      seen.push(...ids(page))
      after = page.at(-1)
    } while (after !== undefined)
    expect(seen).toEqual(['c', 'a', 'b', 'd', 'e'])
  })

  it('of what is due hold what is neither paused nor finished nor later', async (store) => {
    await fill(store)
    expect(ids(await store.listSchedules({ dueBy: AT, limit: 10 }))).toEqual(['c'])
    expect(ids(await store.listSchedules({ dueBy: AT + 9e12, limit: 10 }))).toEqual(['c', 'a', 'b'])
    expect(await store.nextDueAt(undefined)).toBe(AT)
    expect(await store.nextDueAt('n')).toBe(AT + 1)
    expect(await store.nextDueAt('none')).toBe(undefined)
  })

  it('follow a change of tags', async (store) => {
    await fill(store)
    const row = schedule({ id: 'a', tags: ['u', 'x'] })
    await store.updateSchedule('a', { definition: row.definition })
    expect(ids(await store.listSchedules({ tag: 't', limit: 10 }))).toEqual(['b', 'd', 'e'])
    expect(ids(await store.listSchedules({ tag: 'x', limit: 10 }))).toEqual(['a'])
  })
}
