import { describe, expect, test } from 'vitest'
import { explore, type Findings } from './exhaustive.ts'
import { SCENARIOS } from './scenarios.ts'

const INDEXED = SCENARIOS.map((scenario, index) => ({ ...scenario, index }))

/** Of so many first crashes one is followed by a second here; in `npm run simulate -- --exhaustive` each is. */
const ONE_OF = 8

/** Shows the shortest failure: the simplest history. */
function expectNone({ failures }: Pick<Findings, 'failures'>): void {
  const simplest = failures.toSorted((one, other) => one.length - other.length)[0]
  expect(failures.length, simplest).toBe(0)
}

async function crashTwice(scenario: number): Promise<void> {
  const { crashes } = await explore({ scenario, timing: 0 })
  const some = crashes.filter((_, index) => index % ONE_OF === 0)
  for (const first of some) expectNone(await explore({ scenario, timing: 0, first }))
}

describe('a crash at any write or await breaks no promise', () => {
  test.each(INDEXED)('$name', async ({ index }) => {
    expectNone(await explore({ scenario: index, timing: 0 }))
  })
})

describe('nor does it where alarms go before timers and their calls end the turn', () => {
  test.each(INDEXED)('$name', async ({ index }) => {
    expectNone(await explore({ scenario: index, timing: 1 }))
  })
})

/** Of the others too, in `npm run simulate`. */
describe('nor do two crashes', () => {
  test.each(INDEXED.filter(({ length }) => length === 'short'))('$name', async ({ index }) => {
    await crashTwice(index)
  })
})
