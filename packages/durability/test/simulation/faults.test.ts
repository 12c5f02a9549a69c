import { describe, expect, test } from 'vitest'
import { type Played, play, TIMINGS, type Trouble } from './play.ts'
import { SCENARIOS, type Scenario } from './scenarios.ts'

/** Plays the scenario once for each trouble; shows the shortest failure, which is the simplest history. */
async function playEach(scenario: Scenario, troubles: (calm: Played) => Trouble[]): Promise<void> {
  const failures: string[] = []
  const calm = await play(scenario, TIMINGS[0], [])
  for (const trouble of troubles(calm)) {
    const { failure } = await play(scenario, TIMINGS[0], [trouble], { keepsAll: false })
    if (failure !== undefined) failures.push(failure)
  }
  const simplest = failures.toSorted((one, other) => one.length - other.length)[0]
  expect(failures.length, simplest).toBe(0)
}

/** `each` for every number from 1 to `most`. */
function upTo<Result>(most: number, each: (number: number) => Result[]): Result[] {
  return Array.from({ length: Math.floor(most) }, (_, index) => each(index + 1)).flat()
}

describe('storage that is full at any write, once or for a while, breaks no promise', () => {
  test.each(SCENARIOS)('$name', (scenario) =>
    playEach(scenario, ({ writes }) =>
      upTo(writes, (failAtWrite) => [1, 3].map((times) => ({ failAtWrite, times }))),
    ),
  )
})

describe('an alarm that is refused, by an error or by a rejection, breaks no promise', () => {
  test.each(SCENARIOS)('$name', (scenario) =>
    playEach(scenario, ({ writes }) =>
      upTo(writes / 3, (refuseAlarm) =>
        [1, 2].flatMap((times) => [
          { refuseAlarm, times, how: 'throws' as const },
          { refuseAlarm, times, how: 'rejects' as const },
        ]),
      ),
    ),
  )
})

describe('an expression that cannot be read, once or for a while, breaks no promise', () => {
  test.each(SCENARIOS)('$name', (scenario) =>
    playEach(scenario, ({ tally }) =>
      upTo(tally.ticks + 3, (failAtSearch) => [1, 3].map((times) => ({ failAtSearch, times }))),
    ),
  )
})
