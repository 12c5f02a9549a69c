import { MINUTE_MS, START_AT } from '../expressions.ts'
import { EVERY_MINUTE, type Scenario } from './scenario.ts'

export const VERSIONS: readonly Scenario[] = [
  {
    name: 'a schedule is set and ticks',
    length: 'short',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(2 * MINUTE_MS)
    },
  },
  {
    name: 'a version is sent again',
    length: 'short',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.set(EVERY_MINUTE, 1)
      await model.advance(MINUTE_MS)
      await model.set(EVERY_MINUTE, 1)
    },
  },
  {
    name: 'a new version finds a due tick of the old one',
    length: 'short',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      model.holdAlarms(5 * MINUTE_MS)
      await model.advance(2.5 * MINUTE_MS)
      await model.set('every:30000', 2)
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'a new version keeps a nominal time that is in its jitter',
    async script(model) {
      await model.set(EVERY_MINUTE, 1, 30_000)
      await model.advance(1.2 * MINUTE_MS)
      await model.set(EVERY_MINUTE, 2, 5_000)
      await model.advance(1.2 * MINUTE_MS)
      await model.set('from:60000', 3, 90_000)
      await model.advance(3 * MINUTE_MS)
    },
  },
  {
    name: 'a cancel finds a due tick and a run in flight',
    options: { run: () => ({ takesMs: 40_000 }) },
    async script(model) {
      await model.set('every:30000', 1)
      await model.advance(30_000)
      model.holdAlarms(2 * MINUTE_MS)
      await model.advance(35_000)
      await model.cancel()
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'a tombstone keeps a late set away',
    length: 'short',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.cancel(3)
      await model.look()
      await model.set(EVERY_MINUTE, 2)
      await model.set(EVERY_MINUTE, 3)
      await model.set(EVERY_MINUTE, 4)
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'a schedule ends',
    length: 'short',
    async script(model) {
      await model.set(`until:60000:${START_AT + 2 * MINUTE_MS}`, 1)
      await model.look()
      await model.advance(3 * MINUTE_MS)
      await model.look()
    },
  },
  {
    name: 'a handler changes the schedule that it runs for',
    length: 'long',
    options: {
      run: ({ version }) => ({
        takesMs: 5_000,
        does: ({ schedule }) =>
          version < 3 ? schedule.set({ expression: EVERY_MINUTE, version: version + 1 }) : 0,
      }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(4 * MINUTE_MS)
    },
  },
  {
    name: 'a receiver cancels the schedule',
    length: 'short',
    options: { receive: ({ version }) => ({ does: ({ schedule }) => schedule.cancel(version) }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(2 * MINUTE_MS)
    },
  },
  {
    name: 'the offset is longer than the interval',
    async script(model) {
      await model.set('every:20000', 1, 50_000)
      await model.advance(2 * MINUTE_MS)
    },
  },
  {
    name: 'an offset is drawn, and kept when the version is sent again',
    async script(model) {
      await model.set(EVERY_MINUTE, 1, { maxMs: 20_000 })
      await model.set(EVERY_MINUTE, 1, { maxMs: 20_000 })
      await model.advance(90_000)
    },
  },
]
