import { MINUTE_MS, START_AT } from '../expressions.ts'
import { EVERY_MINUTE, type Scenario } from './scenario.ts'

export const OUTCOMES: readonly Scenario[] = [
  {
    name: 'the deliveries of an outcome fail and are near',
    length: 'short',
    options: { receive: (_run, delivery) => ({ ends: delivery < 3 ? 'throw' : 'return' }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
    },
  },
  {
    name: 'the deliveries of an outcome fail and are far apart',
    length: 'long',
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
    length: 'short',
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
    length: 'short',
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
    length: 'long',
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
      await model.look()
      await model.advance(2 * MINUTE_MS)
    },
  },
  {
    name: 'nobody receives outcomes',
    length: 'short',
    options: { receive: false, run: () => ({ takesMs: 1_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(1.5 * MINUTE_MS)
    },
  },
  {
    name: 'a delivery hangs over a hand-off, after the schedule was cancelled',
    options: {
      scheduler: { alarmHandoffMs: 10_000 },
      schedule: { outcomeTimeoutMs: 15_000, outcomeRetries: { maxAttempts: 2, delay: () => 500 } },
      receive: (_run, delivery) => ({ ends: delivery === 1 ? 'hang' : 'throw' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(61_000)
      await model.cancel()
      await model.advance(MINUTE_MS)
    },
  },
  {
    name: 'deliveries wait for a slot',
    options: {
      schedule: { maxConcurrentDeliveries: 1 },
      receive: () => ({ takesMs: 12_000 }),
    },
    async script(model) {
      await model.set('every:10000', 1)
      await model.advance(35_000)
    },
  },
]
