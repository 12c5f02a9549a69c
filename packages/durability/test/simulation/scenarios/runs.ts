import { MINUTE_MS, START_AT } from '../expressions.ts'
import { EVERY_HOUR, EVERY_MINUTE, HOUR_MS, type Scenario } from './scenario.ts'

export const RUNS: readonly Scenario[] = [
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
    length: 'long',
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
      await model.advance(35_000)
      await model.look()
      await model.advance(10_000)
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
    length: 'short',
    options: { schedule: { runTimeoutMs: 10_000 }, run: () => ({ ends: 'hang' }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
    },
  },
  {
    name: 'a handler ignores its signal and keeps its slot',
    length: 'long',
    options: {
      schedule: { runTimeoutMs: 10_000, maxConcurrentRuns: 1 },
      run: () => ({ takesMs: 50_000, ignoresAbort: true }),
    },
    async script(model) {
      await model.set('every:20000', 1)
      await model.advance(70_000)
      await model.look()
      await model.cancel()
      await model.advance(3 * MINUTE_MS)
    },
  },
  {
    name: 'a run still waits behind a kept slot when the last delivery of a pass ends',
    length: 'long',
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
    name: 'a handler throws',
    length: 'short',
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
    name: 'interrupted runs are looked for within a time',
    length: 'short',
    options: { schedule: { interruptedWithinMs: 5_000 }, run: () => ({ takesMs: 12_000 }) },
    async script(model) {
      await model.set(EVERY_HOUR, 1)
      await model.advance(HOUR_MS + MINUTE_MS)
    },
  },
  {
    name: 'alarm() is called while a pass is open, and when nothing is due',
    options: { run: () => ({ takesMs: 20_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.callAlarm()
      await model.advance(65_000)
      await model.callAlarm()
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'an interrupted run is found within its time, over a hand-off',
    options: {
      scheduler: { alarmHandoffMs: 20_000 },
      schedule: { interruptedWithinMs: 5_000 },
      run: () => ({ takesMs: 30_000 }),
    },
    async script(model) {
      await model.set(EVERY_HOUR, 1)
      await model.advance(HOUR_MS + MINUTE_MS)
    },
  },
]
