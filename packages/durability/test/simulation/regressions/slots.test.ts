import { describe, expect, test } from 'vitest'
import { idle, objectWith, SECOND_MS } from './own-helper.ts'

const hangs = () => new Promise(() => {})

describe('runs that wait behind a slot that is kept after a timeout', () => {
  /** Minutely runs that never end, so many at once and timed out after so long; answers where the alarm is then. */
  async function alarmAfter(atMs: number, maxConcurrentRuns: number, runTimeoutMs: number) {
    const { object } = objectWith(idle, { run: hangs, schedule: { maxConcurrentRuns, runTimeoutMs } })
    const startAt = object.world.clock.now()
    await object.call(({ schedule }) => schedule.set({ expression: '', version: 1 }))
    await object.advance(atMs)
    const { running, waiting, stuck } = object.instance.schedule.status()
    const alarmInMs = (object.alarmAt ?? Number.POSITIVE_INFINITY) - startAt - atMs
    object.close()
    return { running, waiting, stuck, isNear: alarmInMs <= 15 * SECOND_MS }
  }

  test('have an alarm within alarmMinDelayMs as soon as the slot is stuck', async () => {
    expect(await alarmAfter(129 * SECOND_MS, 1, 70 * SECOND_MS)).toEqual({
      running: 1,
      waiting: 1,
      stuck: 0,
      isNear: false,
    })
    expect(await alarmAfter(131 * SECOND_MS, 1, 70 * SECOND_MS)).toEqual({
      running: 0,
      waiting: 1,
      stuck: 1,
      isNear: true,
    })
  })

  test('have one also while another slot is busy', async () => {
    expect(await alarmAfter(181 * SECOND_MS, 2, 90 * SECOND_MS)).toEqual({
      running: 1,
      waiting: 1,
      stuck: 1,
      isNear: true,
    })
  })
})
