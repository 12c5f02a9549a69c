import type { Part } from './framework.ts'
import { AT, decision, run, schedule } from './rows.ts'

export function describeDecisions({ it, expect }: Part): void {
  it('come newest first', async (store) => {
    await store.saveSchedule(schedule({ id: 'one' }))
    const rows = [1, 2, 3].map((n) =>
      decision({ scheduleId: 'one', decidedAt: AT + n, from: n, to: n + 1, reason: 'r' }),
    )
    for (const row of rows) await store.saveDecision(row)
    expect(await store.listDecisions('one', 2)).toEqual([rows[2], rows[1]])
  })

  it('and finished runs over their bounds go, oldest first, but never a live or the last run', async (store) => {
    await store.saveSchedule(schedule({ id: 'one', lastRunId: `sched:one:${AT}` }))
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT, status: 'complete' }))
    await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT + 1, status: 'running' }))
    for (const n of [2, 3, 4])
      await store.saveRun(run({ scheduleId: 'one', scheduledTime: AT + n, status: 'complete' }))
    for (const n of [1, 2, 3]) await store.saveDecision(decision({ scheduleId: 'one', decidedAt: AT + n }))
    for (let round = 0; round < 5; round += 1) await store.trim('one', { runs: 3, decisions: 2 })
    const left = (await store.listRuns({ scheduleId: 'one', order: 'newest', limit: 10 })).map(
      (row) => row.scheduledTime,
    )
    expect(left).toContain(AT)
    expect(left).toContain(AT + 1)
    expect(left).toContain(AT + 4)
    expect(left.length).toBe(3)
    expect((await store.listDecisions('one', 10)).map(({ decidedAt }) => decidedAt)).toEqual([AT + 3, AT + 2])
  })
}
