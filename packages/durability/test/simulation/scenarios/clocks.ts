import { MINUTE_MS } from '../expressions.ts'
import { EVERY_MINUTE, type Scenario } from './scenario.ts'

export const CLOCKS: readonly Scenario[] = [
  {
    name: 'a run waits behind a kept slot while the object is behind the alarms',
    length: 'long',
    options: {
      scheduler: { alarmMinDelayMs: 1_000 },
      schedule: { runTimeoutMs: 3_000, maxConcurrentRuns: 1 },
      run: () => ({ takesMs: 14_000, ignoresAbort: true }),
    },
    async script(model) {
      await model.set('every:10000', 1)
      await model.advance(15_000)
      await model.jump(-3_000, false)
      await model.advance(12_000)
      await model.cancel()
      await model.advance(MINUTE_MS)
      await model.jump(3_000, false)
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
    length: 'long',
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
    length: 'long',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.jump(-20_000, false)
      await model.advance(3 * MINUTE_MS)
      await model.jump(20_000, false)
    },
  },
  {
    name: 'the clock is set back during a delivery that fails',
    options: {
      receive: (_run, delivery) => ({ takesMs: 10_000, ends: delivery === 1 ? 'throw' : 'return' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(65_000)
      await model.jump(-2 * MINUTE_MS, true)
      await model.advance(3 * MINUTE_MS)
    },
  },
  {
    name: 'the clock is set forward during a delivery that fails',
    options: {
      receive: (_run, delivery) => ({ takesMs: 10_000, ends: delivery === 1 ? 'throw' : 'return' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(65_000)
      await model.jump(2 * MINUTE_MS, true)
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'the clock is set back while an outcome waits for its next delivery',
    options: {
      schedule: { outcomeRetries: { delay: () => 40_000 } },
      receive: (_run, delivery) => ({ ends: delivery === 1 ? 'throw' : 'return' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(70_000)
      await model.jump(-50_000, true)
      await model.cancel()
      await model.advance(3 * MINUTE_MS)
    },
  },
  {
    name: 'the clock is set back while runs wait',
    options: { schedule: { maxConcurrentRuns: 1 }, run: () => ({ takesMs: 12_000 }) },
    async script(model) {
      await model.set('every:10000', 1)
      await model.advance(25_000)
      await model.jump(-30_000, true)
      await model.advance(20_000)
    },
  },
  {
    name: 'the object is ahead of the alarms while a run is handed from pass to pass',
    options: { scheduler: { alarmHandoffMs: 20_000 }, run: () => ({ takesMs: 50_000 }) },
    async script(model) {
      await model.set('every:40000', 1)
      await model.advance(45_000)
      await model.jump(10_000, false)
      await model.advance(50_000)
      await model.jump(-10_000, false)
    },
  },
]
