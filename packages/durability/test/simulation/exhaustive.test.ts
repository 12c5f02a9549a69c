import { describe, test } from 'vitest'
import { Attempts, type Reach, type Timing, type Trouble, watchHistories } from './play.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

watchHistories()

/** Every place to crash at, or every later place of the same kind. */
function crashesIn({ writes, seams }: Reach, after?: Trouble): Trouble[] {
  const crashes: Trouble[] = []
  const firstWrite = after === undefined ? 1 : 'crashAtWrite' in after ? after.crashAtWrite + 1 : writes + 1
  const firstSeam = after === undefined ? 1 : 'crashAtSeam' in after ? after.crashAtSeam + 1 : seams + 1
  for (let write = firstWrite; write <= writes; write += 1) {
    crashes.push({ crashAtWrite: write, when: 'before' }, { crashAtWrite: write, when: 'after' })
  }
  for (let seam = firstSeam; seam <= seams; seam += 1) crashes.push({ crashAtSeam: seam })
  return crashes
}

async function crashOnce(scenario: Scenario, timing: Timing): Promise<void> {
  const attempts = new Attempts(scenario, timing)
  for (const crash of crashesIn(await attempts.play())) await attempts.play(crash)
  attempts.verify()
}

async function crashTwice(scenario: Scenario): Promise<void> {
  const attempts = new Attempts(scenario)
  for (const first of crashesIn(await attempts.play())) {
    const reach = await attempts.play(first)
    for (const second of crashesIn(reach, first)) await attempts.play(first, second)
  }
  attempts.verify()
}

describe('a crash at any write or await breaks no promise', () => {
  test.each(SCENARIOS)('$name', async (scenario) => {
    await crashOnce(scenario, {})
  })
})

describe('nor does it where alarms go before timers and their calls end the turn', () => {
  test.each(SCENARIOS)('$name', async (scenario) => {
    await crashOnce(scenario, { ties: 'alarms first', alarmCalls: 'later turn' })
  })
})

describe('nor do two crashes', () => {
  test.each(SCENARIOS.filter(({ twice }) => twice))('$name', async (scenario) => {
    await crashTwice(scenario)
  })
})
