import type { FireUnit, ScheduleRow } from '../../schedules/store.ts'
import type { Part } from './framework.ts'
import { AT, decision, run, schedule } from './rows.ts'

const RETENTION = { runs: 50, decisions: 50 }

export function describeFires({ it, expect }: Part): void {
  const unit = (row: ScheduleRow, rest: Partial<FireUnit> = {}): FireUnit => ({
    scheduleId: row.id,
    expected: { nextFireAt: row.nextFireAt, writes: row.writes },
    patch: {
      nextWindow: AT + 60,
      nextFireAt: AT + 60,
      lastFireAt: AT,
      lastRunId: `sched:${row.id}:${AT}`,
    },
    retention: RETENTION,
    ...rest,
  })
  const due = schedule({ id: 'one', nextWindow: AT, nextFireAt: AT })

  it('moves the schedule, counts the window and stores the decisions as one', async (store) => {
    if (store.fire === undefined) return
    await store.saveSchedule(due)
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, status: 'starting', kind: 'workflow' }))
    const started = { started: `sched:one:${AT}`, patch: { status: 'running', startedAt: AT } } as const
    expect(await store.fire(unit(due, { run: started, decisions: [decision({ scheduleId: 'one' })] }))).toBe(
      'moved',
    )
    expect(await store.getSchedule('one')).toMatchObject({
      fires: 1,
      nextFireAt: AT + 60,
      lastFireAt: AT,
      writes: due.writes + 1,
    })
    expect(await store.getRun(`sched:one:${AT}`)).toMatchObject({ status: 'running', counted: true })
    expect((await store.listDecisions('one', 10)).length).toBe(1)
  })

  it('that is not as expected writes nothing', async (store) => {
    if (store.fire === undefined) return
    await store.saveSchedule(due)
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, status: 'starting', kind: 'workflow' }))
    const started = { started: `sched:one:${AT}`, patch: { status: 'running' } } as const
    const wrong = { nextFireAt: AT, writes: due.writes + 1 }
    const lost = unit(due, {
      expected: wrong,
      run: started,
      decisions: [decision({ scheduleId: 'one' })],
    })
    expect(await store.fire(lost)).toBe('lost')
    expect(await store.getSchedule('one')).toEqual(due)
    expect(await store.getRun(`sched:one:${AT}`)).toMatchObject({ status: 'starting', counted: false })
    expect(await store.listDecisions('one', 10)).toEqual([])
  })

  it('that needs a run to be absent writes nothing when it is there', async (store) => {
    if (store.fire === undefined) return
    await store.saveSchedule(due)
    const absent = `sched:one:${AT}`
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, status: 'starting', kind: 'workflow' }))
    const told = [decision({ scheduleId: 'one' })]
    expect(await store.fire(unit(due, { absent, decisions: told }))).toBe('lost')
    expect(await store.getSchedule('one')).toEqual(due)
    expect(await store.listDecisions('one', 10)).toEqual([])
    await store.deleteRun(absent)
    expect(await store.fire(unit(due, { absent, decisions: told }))).toBe('moved')
  })

  it('of many at once is one', async (store) => {
    const { fire } = store
    if (fire === undefined) return
    await store.saveSchedule(due)
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, status: 'starting', kind: 'workflow' }))
    const started = { started: `sched:one:${AT}`, patch: { status: 'running' } } as const
    const results = await Promise.all(Array.from({ length: 8 }, () => fire(unit(due, { run: started }))))
    expect(results.filter((result) => result === 'moved').length).toBe(1)
    expect((await store.getSchedule('one'))?.fires).toBe(1)
  })

  it('of a run that was counted already moves on and does not count it again', async (store) => {
    if (store.fire === undefined) return
    await store.saveSchedule(due)
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, status: 'running', kind: 'workflow' }))
    expect(await store.countFire('one', `sched:one:${AT}`, AT)).toBe(true)
    const row = await store.getSchedule('one')
    if (row === null) throw new Error('The schedule is gone')
    expect(row).toMatchObject({
      fires: 1,
      lastFireAt: AT,
      lastRunId: `sched:one:${AT}`,
      writes: due.writes + 1,
    })
    expect(await store.fire(unit(row, { run: { started: `sched:one:${AT}`, patch: {} } }))).toBe('moved')
    expect((await store.getSchedule('one'))?.fires).toBe(1)
  })

  it('keeps no more finished runs of the schedule than it is told', async (store) => {
    const { fire } = store
    if (fire === undefined) return
    let row = due
    await store.saveSchedule(row)
    for (let n = 0; n < 9; n += 1) {
      const window = AT + n
      await store.saveRun(
        run({
          scheduleId: 'one',
          scheduledTime: window,
          status: 'starting',
          kind: 'workflow',
          createdAt: window,
        }),
      )
      const patch = { nextFireAt: window + 1, lastFireAt: window, lastRunId: `sched:one:${window}` }
      const started = { started: `sched:one:${window}`, patch: { status: 'complete' } } as const
      await fire(unit(row, { patch, run: started, retention: { runs: 4, decisions: 4 } }))
      row = (await store.getSchedule('one')) ?? row
    }
    const left = await store.listRuns({ scheduleId: 'one', order: 'newest', limit: 50 })
    expect(left.map(({ scheduledTime }) => scheduledTime)).toEqual([AT + 8, AT + 7, AT + 6, AT + 5])
  })

  it('inserts the run of an object within its limit, or nothing', async (store) => {
    if (store.fire === undefined || store.boundTo === undefined) return
    await store.saveSchedule(due)
    await store.saveRun(run({ id: 'other', scheduleId: null, scheduledTime: null, concurrencyKey: 'k' }))
    const insert = run({ scheduleId: 'one', scheduledTime: AT, concurrencyKey: 'k' })
    expect(await store.fire(unit(due, { run: { insert, limit: 1 } }))).toBe('over_limit')
    expect(await store.getSchedule('one')).toEqual(due)
    expect(await store.fire(unit(due, { run: { insert, limit: 2 } }))).toBe('moved')
    expect(await store.getRun(insert.id)).toEqual({ ...insert, counted: true })
    expect((await store.getSchedule('one'))?.fires).toBe(1)
  })

  it('counts a window once, whoever asks, and an earlier one without taking the last fire back', async (store) => {
    await store.saveSchedule({ ...due, lastFireAt: AT + 5, lastRunId: 'later' })
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, kind: 'workflow' }))
    const counted = await Promise.all(
      Array.from({ length: 6 }, () => store.countFire('one', `sched:one:${AT}`, AT)),
    )
    expect(counted.filter(Boolean).length).toBe(1)
    expect(await store.getSchedule('one')).toMatchObject({
      fires: 1,
      lastFireAt: AT + 5,
      lastRunId: 'later',
    })
  })
}
