import { afterEach, expect, test, vi } from 'vitest'
import { dispatch } from '../../src/schedules/index.node.ts'
import { objectSetup } from './support/object.ts'
import { HOUR_MS, MINUTE_MS, START_AT, silenceReports } from './support/setup.ts'

afterEach(() => vi.restoreAllMocks())

const DUE = 1_000
const HANGING = 8

test('8 hanging starts among 1,000 due keep neither the other 992 nor what is due next from its time, by the alarm', async () => {
  silenceReports()
  const started = new Map<string, number>()
  let mostTimers = 0
  const { object, ask, calls, now } = objectSetup({
    workflows: {
      send: dispatch(async ({ runId, scheduleId }) => {
        if (Number(scheduleId?.slice(1)) < HANGING) await new Promise(() => {})
        started.set(runId, now())
        mostTimers = Math.max(mostTimers, object.world.clock.pendingTimers)
      }),
    },
  })
  for (let n = 0; n < DUE; n += 1)
    await ask(({ schedules }) => schedules.create({ id: `s${n}`, workflow: 'send', every: '1h' }))
  const soonAt = START_AT + HOUR_MS + 5_000
  await ask(({ schedules }) =>
    schedules.create({ id: 'soon', workflow: 'brief', cron: '5 0 1 * * *', timezone: 'UTC' }),
  )
  await object.advance(HOUR_MS + MINUTE_MS / 4)
  expect(started.size).toBe(DUE - HANGING)
  // The runtime allows 10,000: those that hang have one each, and so has each start at work.
  expect(mostTimers).toBeLessThanOrEqual(HANGING + 6 * 2 + 4)
  for (const at of started.values()) expect(at - START_AT - HOUR_MS).toBeLessThanOrEqual(2_000)
  expect(calls.map(({ runId, at }) => [runId, at])).toEqual([[`sched:soon:${soonAt}`, soonAt]])
  // The hanging ones are given up after startTimeoutMs, tried again, and given up for good after graceMs.
  await object.advance(3 * MINUTE_MS)
  for (let n = 0; n < HANGING; n += 1) {
    const history = await ask(({ schedules }) => schedules.history(`s${n}`))
    expect(history).toMatchObject([{ decision: 'start_failed', scheduledTime: START_AT + HOUR_MS }])
  }
  expect(object.alarmAt).toBe(START_AT + 2 * HOUR_MS)
})
