import type { RunRow } from '../../schedules/store.ts'
import type { Part } from './framework.ts'
import { AT, ids, run, schedule } from './rows.ts'

export function describeRuns({ it, expect }: Part): void {
  it('answers what was saved, under ids of every kind', async (store) => {
    const rows = [
      run({
        scheduleId: 'one',
        scheduledTime: AT,
        input: { a: [1, null, 'x'] },
        tags: ['t'],
        error: 'E: x',
      }),
      run({ scheduleId: 'one', scheduledTime: AT, manual: true }),
      run({ id: 'own:id/%', scheduleId: null, scheduledTime: null, searchAttributes: { team: 1 } }),
    ]
    for (const row of rows) expect(await store.saveRun(row)).toBe('saved')
    for (const row of rows) {
      expect(await store.getRun(row.id)).toEqual(row)
      expect(await store.saveRun(row)).toBe('exists')
    }
    expect(await store.getRun('none')).toBe(null)
  })

  it('of racing saves of one id lets one win', async (store) => {
    const row = run({ scheduleId: 'one', scheduledTime: AT })
    const saved = await Promise.all(Array.from({ length: 8 }, () => store.saveRun(row)))
    expect(saved.filter((result) => result === 'saved').length).toBe(1)
  })

  it('counts live runs of a key in the statement that inserts', async (store) => {
    const keyed = (time: number, status: RunRow['status'] = 'running') =>
      run({ scheduleId: 'one', scheduledTime: AT + time, concurrencyKey: 'k', status })
    expect(await store.saveRun(keyed(1, 'complete'), { limit: 2 })).toBe('saved')
    const results = await Promise.all([2, 3, 4, 5].map((time) => store.saveRun(keyed(time), { limit: 2 })))
    expect(results.filter((result) => result === 'saved').length).toBe(2)
    expect(results.filter((result) => result === 'over_limit').length).toBe(2)
    const live = await store.listRuns({
      concurrencyKey: 'k',
      status: ['running'],
      order: 'newest',
      limit: 10,
    })
    await store.updateRun(live[0]?.id ?? '', { status: 'complete', finishedAt: AT })
    expect(await store.saveRun(keyed(9), { limit: 2 })).toBe('saved')
  })

  it('inserts only while the schedule is as it was read', async (store) => {
    const row = schedule({ id: 'one', nextFireAt: AT })
    await store.saveSchedule(row)
    const condition = { schedule: { id: 'one', expected: { nextFireAt: AT, writes: row.writes } } }
    expect(await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT }), condition)).toBe('saved')
    await store.updateSchedule('one', { note: 'moved' })
    expect(await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT + 1 }), condition)).toBe('lost')
    expect(await store.getRun(`sched:one:${AT + 1}`)).toBe(null)
  })

  it('updates a run from the statuses that are named', async (store) => {
    const row = run({ scheduleId: 'one', scheduledTime: AT, status: 'queued' })
    await store.saveRun(row)
    expect(await store.updateRun(row.id, { status: 'complete' }, ['running'])).toBe(false)
    expect(await store.updateRun(row.id, { status: 'running', startedAt: AT + 1 }, ['queued'])).toBe(true)
    expect(await store.updateRun(row.id, { status: 'errored', finishedAt: AT + 2, error: 'E: x' })).toBe(true)
    expect(await store.getRun(row.id)).toEqual({
      ...row,
      status: 'errored',
      startedAt: AT + 1,
      finishedAt: AT + 2,
      error: 'E: x',
    })
    expect(await store.updateRun('none', { status: 'errored' })).toBe(false)
  })

  it('deletes a run that was never started, and no other', async (store) => {
    const starting = run({ scheduleId: 'one', scheduledTime: AT, status: 'starting', kind: 'workflow' })
    const running = run({ scheduleId: 'one', scheduledTime: AT + 1, status: 'running', kind: 'workflow' })
    for (const row of [starting, running]) await store.saveRun(row)
    expect(await store.deleteRun(running.id)).toBe(false)
    expect(await store.deleteRun(starting.id)).toBe(true)
    expect(await store.deleteRun(starting.id)).toBe(false)
    expect(await store.getRun(starting.id)).toBe(null)
    expect(await store.getRun(running.id)).toEqual(running)
  })

  it('lists newest first, live and over together, page by page', async (store) => {
    const statuses = ['complete', 'running', 'errored', 'queued', 'complete'] as const
    for (const [index, status] of statuses.entries()) {
      await store.saveRun(
        run({ id: `r${index}`, scheduleId: null, scheduledTime: null, status, createdAt: AT + index }),
      )
    }
    const first = await store.listRuns({ order: 'newest', limit: 2 })
    expect(ids(first)).toEqual(['r4', 'r3'])
    expect(ids(await store.listRuns({ order: 'newest', limit: 9, after: first[1] }))).toEqual([
      'r2',
      'r1',
      'r0',
    ])
  })

  it('lists runs of one instant in one order, page by page', async (store) => {
    for (const id of ['b', 'a', 'd', 'c'])
      await store.saveRun(run({ id, scheduleId: null, scheduledTime: null, status: 'complete' }))
    const seen: string[] = []
    let after: RunRow | undefined
    do {
      const page: readonly RunRow[] = await store.listRuns({ order: 'newest', limit: 1, after })
      seen.push(...ids(page))
      after = page.at(-1)
    } while (after !== undefined)
    expect(seen).toEqual(['d', 'c', 'b', 'a'])
  })

  it('filters them by schedule, workflow, tag, namespace, status and kind', async (store) => {
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, status: 'errored', tags: ['t'] }))
    await store.saveRun(
      run({ scheduleId: 'two', scheduledTime: AT, namespace: 'n', workflow: 'v', kind: 'workflow' }),
    )
    const one = [`sched:one:${AT}`]
    const two = [`sched:two:${AT}`]
    const cases = [
      [{ scheduleId: 'one' }, one],
      [{ status: ['errored'] }, one],
      [{ tag: 't' }, one],
      [{ workflow: 'v' }, two],
      [{ namespace: 'n' }, two],
      [{ kind: 'workflow', status: ['running'] }, two],
      [{ tag: 'none' }, []],
    ] as const
    for (const [filter, expected] of cases) {
      expect(ids(await store.listRuns({ ...filter, order: 'newest', limit: 10 }))).toEqual([...expected])
    }
  })

  it('lets waiting runs go by priority, then by window, then by creation', async (store) => {
    const waiting = (id: string, priority: number, scheduledTime: number, createdAt = AT) =>
      run({
        id: `sched:${id}:${scheduledTime}`,
        scheduleId: id,
        scheduledTime,
        priority,
        createdAt,
        status: 'queued',
      })
    for (const row of [
      waiting('c', 0, AT + 2),
      waiting('b', 0, AT + 1),
      waiting('a', 5, AT + 9),
      waiting('d', -1, AT),
    ]) {
      await store.saveRun(row)
    }
    await store.saveRun(run({ scheduleId: 'x', scheduledTime: AT, status: 'complete', priority: 9 }))
    const queue = await store.listRuns({ status: ['queued'], order: 'queue', limit: 10 })
    expect(queue.map(({ scheduleId }) => scheduleId)).toEqual(['a', 'b', 'c', 'd'])
  })

  it('removes what has expired and is over, and no more than it is told', async (store) => {
    for (const time of [1, 2, 3]) {
      await store.saveRun(
        run({ scheduleId: 'x', scheduledTime: AT + time, status: 'complete', expiresAt: AT + time }),
      )
    }
    await store.saveRun(run({ scheduleId: 'x', scheduledTime: AT + 4, status: 'running', expiresAt: AT }))
    expect(await store.removeExpiredRuns(AT + 2, 1)).toBe(1)
    expect(await store.removeExpiredRuns(AT + 2, 10)).toBe(1)
    expect(await store.removeExpiredRuns(AT + 2, 10)).toBe(0)
    expect((await store.listRuns({ scheduleId: 'x', order: 'newest', limit: 10 })).length).toBe(2)
  })

  it('knows the last window of a schedule that has runs', async (store) => {
    expect(await store.lastWindow('one')).toBe(null)
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, status: 'complete' }))
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT + 9, manual: true }))
    await store.saveRun(run({ scheduleId: 'one:1', scheduledTime: AT + 10 }))
    expect(await store.lastWindow('one')).toBe(AT)
  })
}
