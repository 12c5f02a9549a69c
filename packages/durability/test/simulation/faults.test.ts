import { describe, test } from 'vitest'
import { Attempts, watchHistories } from './play.ts'
import { SCENARIOS } from './scenarios.ts'

watchHistories()

describe('storage that is full at any write, once or for a while, breaks no promise', () => {
  test.each(SCENARIOS)('$name', async (scenario) => {
    const attempts = new Attempts(scenario)
    const { writes } = await attempts.play()
    for (let write = 1; write <= writes; write += 1) {
      for (const times of [1, 3]) await attempts.play({ failAtExec: write, times })
    }
    attempts.verify()
  })
})

describe('an alarm that is refused, by an error or by a rejection, breaks no promise', () => {
  test.each(SCENARIOS)('$name', async (scenario) => {
    const attempts = new Attempts(scenario)
    const { writes } = await attempts.play()
    for (let alarm = 1; alarm <= writes / 3; alarm += 1) {
      for (const times of [1, 2]) {
        await attempts.play({ refuseAlarm: alarm, times, how: 'throws' })
        await attempts.play({ refuseAlarm: alarm, times, how: 'rejects' })
      }
    }
    attempts.verify()
  })
})
