import { MINUTE_MS, START_AT } from './expressions.ts'
import type { Model, ModelOptions } from './model.ts'

export interface Scenario {
  readonly name: string
  readonly options?: ModelOptions
  /** How many crashes at once are worth their time: two also in `npm test`, two in `npm run simulate` (default), one. */
  readonly twice?: 'always' | 'never'
  readonly script: (model: Model) => Promise<void>
}

const EVERY_MINUTE = 'every:60000'
const EVERY_HOUR = 'every:3600000'
const HOUR_MS = 60 * MINUTE_MS

/** Small histories, one for each thing that can happen to a schedule. */
export const SCENARIOS: readonly Scenario[] = [
  {
    name: 'a schedule is set and ticks',
    twice: 'always',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(2 * MINUTE_MS)
    },
  },
  {
    name: 'a version is sent again',
    twice: 'always',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.set(EVERY_MINUTE, 1)
      await model.advance(MINUTE_MS)
      await model.set(EVERY_MINUTE, 1)
    },
  },
  {
    name: 'a new version finds a due tick of the old one',
    twice: 'always',
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
    twice: 'always',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.cancel(3)
      await model.set(EVERY_MINUTE, 2)
      await model.set(EVERY_MINUTE, 3)
      await model.set(EVERY_MINUTE, 4)
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'missed ticks collapse',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      model.holdAlarms(10.5 * MINUTE_MS)
      await model.advance(12 * MINUTE_MS)
    },
  },
  {
    name: 'more ticks are missed than are walked',
    async script(model) {
      await model.set('from:1000', 1, 300)
      model.holdAlarms(150_000)
      await model.advance(155_000)
    },
  },
  {
    name: 'runs overlap',
    options: { run: () => ({ takesMs: 45_000 }) },
    async script(model) {
      await model.set('every:20000', 1)
      await model.advance(80_000)
    },
  },
  {
    name: 'runs wait for a slot',
    options: {
      schedule: { maxConcurrentRuns: 1 },
      run: ({ scheduledTime }) => ({ takesMs: scheduledTime === START_AT + 10_000 ? 35_000 : 1_000 }),
    },
    async script(model) {
      await model.set('every:10000', 1)
      await model.advance(45_000)
    },
  },
  {
    name: 'runs wait over a change of version and a cancel',
    options: { schedule: { maxConcurrentRuns: 1 }, run: () => ({ takesMs: 25_000 }) },
    async script(model) {
      await model.set('every:10000', 1)
      await model.advance(22_000)
      await model.set('every:15000', 2)
      await model.advance(10_000)
      await model.cancel(2)
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'a handler times out and heeds its signal',
    twice: 'always',
    options: { schedule: { runTimeoutMs: 10_000 }, run: () => ({ ends: 'hang' }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
    },
  },
  {
    name: 'a handler ignores its signal and keeps its slot',
    options: {
      schedule: { runTimeoutMs: 10_000, maxConcurrentRuns: 1 },
      run: () => ({ takesMs: 50_000, ignoresAbort: true }),
    },
    async script(model) {
      await model.set('every:20000', 1)
      await model.advance(70_000)
      await model.cancel()
      await model.advance(3 * MINUTE_MS)
    },
  },
  {
    name: 'a run still waits behind a kept slot when the last delivery of a pass ends',
    options: {
      schedule: { runTimeoutMs: 10_000, maxConcurrentRuns: 1 },
      run: () => ({ takesMs: 150_000, ignoresAbort: true }),
      receive: () => ({ takesMs: 35_000 }),
    },
    async script(model) {
      await model.set('every:40000', 1)
      await model.advance(100_000)
      await model.cancel()
      await model.advance(5 * MINUTE_MS)
    },
  },
  {
    name: 'a run waits behind a kept slot while the object is behind the alarms',
    twice: 'never',
    options: {
      scheduler: { alarmMinDelayMs: 1_000 },
      schedule: { runTimeoutMs: 5_000, maxConcurrentRuns: 1 },
      run: () => ({ takesMs: 60_000, ignoresAbort: true }),
    },
    async script(model) {
      await model.set('every:20000', 1)
      await model.advance(30_000)
      await model.jump(-3_000, false)
      await model.advance(40_000)
      await model.cancel()
      await model.advance(5 * MINUTE_MS)
      await model.jump(3_000, false)
    },
  },
  {
    name: 'a handler throws',
    twice: 'always',
    options: { run: () => ({ ends: 'throw' }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'a handler kills the object at once',
    options: { run: () => ({ ends: 'crash' }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(2 * MINUTE_MS)
    },
  },
  {
    name: 'the deliveries of an outcome fail and are near',
    twice: 'always',
    options: { receive: (_run, delivery) => ({ ends: delivery < 3 ? 'throw' : 'return' }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
    },
  },
  {
    name: 'the deliveries of an outcome fail and are far apart',
    options: {
      schedule: { outcomeRetries: { delay: () => 40_000 } },
      receive: (_run, delivery) => ({ ends: delivery < 3 ? 'throw' : 'return' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(3 * MINUTE_MS)
      await model.cancel()
      await model.advance(3 * MINUTE_MS)
    },
  },
  {
    name: 'a delivery hangs',
    twice: 'always',
    options: {
      schedule: { outcomeTimeoutMs: 5_000 },
      receive: (_run, delivery) => ({ ends: delivery === 1 ? 'hang' : 'return' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
    },
  },
  {
    name: 'an outcome is given up',
    twice: 'always',
    options: {
      schedule: { outcomeRetries: { maxAttempts: 2, delay: () => 1_000 } },
      receive: () => ({ ends: 'throw' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
    },
  },
  {
    name: 'the only attempt fails',
    options: { schedule: { outcomeRetries: { maxAttempts: 1 } }, receive: () => ({ ends: 'throw' }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
    },
  },
  {
    name: 'a delivery kills the object at once',
    options: {
      schedule: { outcomeRetries: { maxAttempts: 3, delay: () => 1_000 } },
      receive: ({ scheduledTime }) => ({ ends: scheduledTime === START_AT + 60_000 ? 'crash' : 'return' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(5 * MINUTE_MS)
    },
  },
  {
    name: 'many outcomes are inherited',
    options: {
      schedule: { maxConcurrentDeliveries: 2 },
      receive: ({ scheduledTime }) => ({ takesMs: scheduledTime < START_AT + 40_000 ? 30_000 : 1_000 }),
    },
    async script(model) {
      await model.set('every:10000', 1)
      await model.advance(35_000)
      await model.cancel()
      await model.crash()
      await model.advance(2 * MINUTE_MS)
    },
  },
  {
    name: 'a long run is handed from pass to pass',
    options: { scheduler: { alarmHandoffMs: 20_000 }, run: () => ({ takesMs: 70_000 }) },
    async script(model) {
      await model.set(EVERY_HOUR, 1)
      await model.advance(HOUR_MS + 2 * MINUTE_MS)
    },
  },
  {
    name: 'ticks come between two passes that share a run',
    options: { scheduler: { alarmHandoffMs: 20_000 }, run: () => ({ takesMs: 50_000 }) },
    async script(model) {
      await model.set('every:25000', 1)
      await model.advance(90_000)
    },
  },
  {
    name: 'alarms stand beside a schedule',
    options: { hasAlarms: true, run: () => ({ takesMs: 20_000 }), alarm: () => ({ takesMs: 3_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.ping(START_AT + 65_000)
      await model.advance(70_000)
      await model.ping(START_AT)
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'alarms with live timers fail and are replaced',
    options: {
      hasAlarms: true,
      scheduler: { liveTimers: true },
      run: () => ({ takesMs: 20_000 }),
      alarm: (attempt) => ({ takesMs: 3_000, ends: attempt === 1 ? 'throw' : 'return' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.ping(START_AT + 65_000)
      await model.advance(66_000)
      await model.ping(START_AT + 80_000)
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'a handler changes the schedule that it runs for',
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
    twice: 'always',
    options: { receive: ({ version }) => ({ does: ({ schedule }) => schedule.cancel(version) }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(2 * MINUTE_MS)
    },
  },
  {
    name: 'the clock is set back during a run',
    options: { run: () => ({ takesMs: 20_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(65_000)
      await model.jump(-3 * MINUTE_MS, true)
      await model.advance(5 * MINUTE_MS)
    },
  },
  {
    name: 'the clock is set forward during a run',
    options: { run: () => ({ takesMs: 20_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(65_000)
      await model.jump(3.1 * MINUTE_MS, true)
      await model.advance(3 * MINUTE_MS)
    },
  },
  {
    name: 'the object is behind the alarms',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.jump(-20_000, false)
      await model.advance(3 * MINUTE_MS)
      await model.jump(20_000, false)
    },
  },
  {
    name: 'other code deletes the alarm, and a version is sent again',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
      await model.overwriteAlarm(null)
      await model.set(EVERY_MINUTE, 1)
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'a request finds a lost tick and starts it',
    twice: 'always',
    options: { run: () => ({ takesMs: 30_000 }) },
    async script(model) {
      await model.set(EVERY_HOUR, 1)
      model.holdAlarms(HOUR_MS + 10 * MINUTE_MS)
      await model.advance(HOUR_MS + 5 * MINUTE_MS)
      await model.set(EVERY_HOUR, 1)
      await model.advance(20 * MINUTE_MS)
    },
  },
  {
    name: 'a schedule ends',
    twice: 'always',
    async script(model) {
      await model.set(`until:60000:${START_AT + 2 * MINUTE_MS}`, 1)
      await model.advance(3 * MINUTE_MS)
    },
  },
  {
    name: 'interrupted runs are looked for within a time',
    twice: 'always',
    options: { schedule: { interruptedWithinMs: 5_000 }, run: () => ({ takesMs: 12_000 }) },
    async script(model) {
      await model.set(EVERY_HOUR, 1)
      await model.advance(HOUR_MS + MINUTE_MS)
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
    name: 'nobody receives outcomes',
    twice: 'always',
    options: { receive: false, run: () => ({ takesMs: 1_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
    },
  },
  {
    name: 'an alarm is delivered twice',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(MINUTE_MS)
      await model.deliverAlarm({ duplicate: true })
      await model.deliverAlarm({ early: true })
      await model.deliverAlarm({ early: true })
      await model.advance(MINUTE_MS)
    },
  },
]
