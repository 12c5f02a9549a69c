import type { Part } from './framework.ts'
import { AT, decision, ids, run, schedule } from './rows.ts'

const ODD_IDS = [
  'a/b:c%',
  '__proto__',
  'constructor',
  '👩‍👩‍👧 ü é',
  `'; DROP TABLE durable_schedules; --`,
  '"q"',
  'a b',
  '%_',
]

export function describeSchedules({ it, expect }: Part): void {
  it('answers what was saved, and null for what was not', async (store) => {
    const row = schedule({ id: 'one', nextWindow: AT, nextFireAt: AT + 5, note: 'x', lastError: 'E: y' })
    expect(await store.getSchedule('one')).toBe(null)
    expect(await store.saveSchedule(row)).toBe(true)
    expect(await store.getSchedule('one')).toEqual(row)
  })

  it('saves an id once', async (store) => {
    await store.saveSchedule(schedule({ id: 'one', workflow: 'first', tags: ['a'] }))
    expect(await store.saveSchedule(schedule({ id: 'one', workflow: 'second', tags: ['b'] }))).toBe(false)
    expect((await store.getSchedule('one'))?.workflow).toBe('first')
    expect(ids(await store.listSchedules({ tag: 'b', limit: 10 }))).toEqual([])
  })

  it('of racing saves of one id lets one win', async (store) => {
    const saved = await Promise.all(
      Array.from({ length: 8 }, (_, index) =>
        store.saveSchedule(schedule({ id: 'one', workflow: `w${index}` })),
      ),
    )
    expect(saved.filter(Boolean).length).toBe(1)
  })

  it('keeps ids apart that look like paths, prototypes, pictures or statements', async (store) => {
    for (const id of ODD_IDS) expect(await store.saveSchedule(schedule({ id, tags: [id] }))).toBe(true)
    for (const id of ODD_IDS) {
      expect((await store.getSchedule(id))?.id).toBe(id)
      expect(ids(await store.listSchedules({ tag: id, limit: 100 }))).toEqual([id])
      expect(await store.updateSchedule(id, { note: id })).toBe(true)
    }
    expect(await store.countSchedules({})).toBe(ODD_IDS.length)
    for (const id of ODD_IDS) expect(await store.deleteSchedule(id, undefined, AT)).toBe(true)
    expect(await store.countSchedules({})).toBe(0)
  })

  it('updates what the patch names, and raises writes', async (store) => {
    const row = schedule({ id: 'one', nextWindow: AT, nextFireAt: AT })
    await store.saveSchedule(row)
    expect(await store.updateSchedule('one', { lastError: 'E: x', paused: true, nextFireAt: null })).toBe(
      true,
    )
    expect(await store.getSchedule('one')).toEqual({
      ...row,
      lastError: 'E: x',
      paused: true,
      nextFireAt: null,
      writes: row.writes + 1,
    })
    expect(await store.updateSchedule('none', { note: 'x' })).toBe(false)
  })

  it('updates only what is as expected, of racing updates one', async (store) => {
    const row = schedule({ id: 'one', nextWindow: AT, nextFireAt: AT })
    await store.saveSchedule(row)
    expect(await store.updateSchedule('one', { note: 'a' }, { nextFireAt: AT + 1, writes: row.writes })).toBe(
      false,
    )
    expect(await store.updateSchedule('one', { note: 'a' }, { nextFireAt: AT, writes: row.writes + 1 })).toBe(
      false,
    )
    const expected = { nextFireAt: AT, writes: row.writes }
    const updated = await Promise.all(
      Array.from({ length: 10 }, (_, index) => store.updateSchedule('one', { note: `${index}` }, expected)),
    )
    expect(updated.filter(Boolean).length).toBe(1)
    expect((await store.getSchedule('one'))?.writes).toBe(row.writes + 1)
  })

  it('expects null of a schedule that is never due', async (store) => {
    const row = schedule({ id: 'one', paused: true })
    await store.saveSchedule(row)
    expect(await store.updateSchedule('one', { note: 'a' }, { nextFireAt: null, writes: row.writes })).toBe(
      true,
    )
  })

  it('deletes the row and its decisions, and leaves its runs', async (store) => {
    await store.saveSchedule(schedule({ id: 'one', tags: ['t'] }))
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, status: 'complete' }))
    await store.saveDecision(decision({ scheduleId: 'one' }))
    expect(await store.deleteSchedule('one', { nextFireAt: 1, writes: 1 }, AT)).toBe(false)
    expect(await store.deleteSchedule('one', undefined, AT + 7)).toBe(true)
    expect(await store.deleteSchedule('one', undefined, AT)).toBe(false)
    expect(await store.getSchedule('one')).toBe(null)
    expect(await store.listDecisions('one', 10)).toEqual([])
    expect(await store.countSchedules({ tag: 't' })).toBe(0)
    expect((await store.getRun(`sched:one:${AT}`))?.expiresAt).toBe(AT + 7)
  })
}
