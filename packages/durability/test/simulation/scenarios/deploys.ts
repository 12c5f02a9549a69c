import { START_AT } from '../expressions.ts'
import { EVERY_MINUTE, type Scenario } from './scenario.ts'

/** The code changes: the object is gone, and the next instance has other options. */
export const DEPLOYS: readonly Scenario[] = [
  {
    name: 'a deploy cuts off a run and sets another version while runs wait',
    length: 'long',
    options: { schedule: { maxConcurrentRuns: 1 }, run: () => ({ takesMs: 25_000 }) },
    async script(model) {
      await model.set('every:10000', 1)
      await model.advance(32_000)
      await model.deploy({ run: () => ({ takesMs: 2_000 }) })
      await model.set('every:15000', 2)
      await model.advance(20_000)
    },
  },
  {
    name: 'a deploy allows fewer runs at once',
    options: { schedule: { maxConcurrentRuns: 3 }, run: () => ({ takesMs: 28_000 }) },
    async script(model) {
      await model.set('every:10000', 1)
      await model.advance(35_000)
      await model.deploy({ schedule: { maxConcurrentRuns: 1 } })
      await model.advance(10_000)
      await model.cancel(1)
      await model.advance(60_000)
    },
  },
  {
    name: 'a deploy removes onOutcome while outcomes wait',
    options: {
      schedule: { outcomeRetries: { delay: () => 40_000 } },
      run: () => ({ takesMs: 1_000 }),
      receive: () => ({ ends: 'throw' }),
    },
    async script(model) {
      await model.set('every:30000', 1)
      await model.advance(35_000)
      await model.deploy({ receive: false })
      await model.advance(40_000)
    },
  },
  {
    name: 'a deploy brings onOutcome',
    length: 'short',
    options: {
      receive: false,
      run: ({ scheduledTime }) => ({ takesMs: scheduledTime === START_AT + 60_000 ? 9_000 : 0 }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(62_000)
      await model.deploy({ receive: () => ({}) })
      await model.advance(60_000)
    },
  },
  {
    name: 'a deploy removes the handler of an alarm, and another brings it back',
    options: { hasAlarms: true },
    async script(model) {
      await model.ping(START_AT + 10_000)
      await model.deploy({ handlesAlarms: false })
      await model.advance(13_500)
      await model.deploy({ handlesAlarms: true })
      await model.advance(10_000)
    },
  },
  {
    name: 'the tables are removed, and made again by the next set',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(61_000)
      await model.migrate(null)
      await model.set(EVERY_MINUTE, 1)
      await model.advance(60_000)
    },
  },
]
