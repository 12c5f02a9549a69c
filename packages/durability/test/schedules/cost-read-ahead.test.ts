import { afterEach, describe, expect, test, vi } from 'vitest'
import type { DurabilityEngine } from '../../src/schedules/index.node.ts'
import { READ_AHEAD } from '../../src/schedules/limits.ts'
import { MINUTE_MS, settled, setup, silenceReports } from './support/setup.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** More than one reading ahead holds. */
const WAITING = 2 * READ_AHEAD + 5

const name = (n: number) => `s${String(n).padStart(3, '0')}`

/** One slot, taken; all others wait, in the order of their ids. */
async function setupWaiting() {
  const made = setup({ maxConcurrentRuns: 1 })
  made.handler.instant = false
  for (let n = 0; n < WAITING; n += 1) {
    const id = name(n)
    await made.schedules.create({ id, workflow: 'brief', cron: '1 0 * * *' })
  }
  await made.tickIn(MINUTE_MS)
  const window = made.now()
  const runIdOf = (n: number) => `sched:${name(n)}:${window}`
  const endLast = async () => {
    made.handler.end(made.handler.runs.at(-1)?.runId ?? '')
    await settled()
  }
  return { ...made, runIdOf, endLast }
}

async function statusOf(engine: { getRun: DurabilityEngine['getRun'] }, runId: string) {
  return (await engine.getRun(runId))?.status
}

describe('runs that wait are read ahead, and', () => {
  test('all of them start, in their order, one at a time', async () => {
    const { handler, endLast, runIdOf } = await setupWaiting()
    for (let n = 0; n < WAITING; n += 1) await endLast()
    expect(handler.runs.map(({ runId }) => runId)).toEqual(
      Array.from({ length: WAITING }, (_, n) => runIdOf(n)),
    )
  })

  test('one that comes later with a higher priority starts next', async () => {
    const { engine, handler, endLast, runIdOf } = await setupWaiting()
    await endLast()
    expect(handler.runs.at(-1)?.runId).toBe(runIdOf(1))
    await engine.start('brief', null, 'urgent', { priority: 5 })
    await endLast()
    expect(handler.runs.at(-1)?.runId).toBe('urgent')
    await endLast()
    expect(handler.runs.at(-1)?.runId).toBe(runIdOf(2))
  })

  test('one that was cancelled meanwhile does not start, and takes no slot', async () => {
    const { engine, handler, endLast, runIdOf } = await setupWaiting()
    await endLast()
    expect(await engine.cancelRun(runIdOf(2))).toBe(true)
    await endLast()
    expect(handler.runs.at(-1)?.runId).toBe(runIdOf(3))
    expect(await statusOf(engine, runIdOf(2))).toBe('cancelled')
    await endLast()
    expect(handler.runs.at(-1)?.runId).toBe(runIdOf(4))
  })

  test('one that could not be marked as running is not lost', async () => {
    silenceReports()
    const { store, engine, handler, endLast, runIdOf, tickIn } = await setupWaiting()
    const { updateRun } = store
    let failures = 1
    const failing: typeof updateRun = (id, patch, from) => {
      if (patch.status === 'running' && failures > 0) {
        failures -= 1
        throw new Error('The store is down')
      }
      return updateRun.call(store, id, patch, from)
    }
    Object.assign(store, { updateRun: failing })
    await endLast()
    expect(handler.runs).toHaveLength(1)
    await tickIn(1_000)
    expect(handler.runs.at(-1)?.runId).toBe(runIdOf(1))
    expect(await statusOf(engine, runIdOf(1))).toBe('running')
  })
})
