import { MINUTE_MS, START_AT } from '../expressions.ts'
import { EVERY_MINUTE, type Scenario } from './scenario.ts'

export const NAMED_ALARMS: readonly Scenario[] = [
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
    name: 'an alarm fails until it is given up, and another is cancelled',
    options: {
      hasAlarms: true,
      alarms: { retries: { maxAttempts: 2, delay: () => 2_000 } },
      alarm: () => ({ ends: 'throw' }),
    },
    async script(model) {
      await model.ping(START_AT + 10_000)
      await model.advance(20_000)
      await model.ping(START_AT + 90_000)
      await model.set(EVERY_MINUTE, 1)
      await model.ping(undefined)
      await model.advance(50_000)
    },
  },
  {
    name: 'an alarm hangs until its attempt times out',
    options: {
      hasAlarms: true,
      alarms: { attemptTimeoutMs: 2_000, retries: { maxAttempts: 3, delay: () => 500 } },
      alarm: (attempt) => (attempt === 1 ? { ends: 'hang' } : {}),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.ping(START_AT + 59_000)
      await model.advance(70_000)
    },
  },
  {
    name: 'an attempt of an alarm kills the object',
    options: {
      hasAlarms: true,
      alarms: { retries: { maxAttempts: 2, delay: () => 500 } },
      alarm: () => ({ ends: 'crash' }),
    },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.ping(START_AT + 30_000)
      await model.advance(70_000)
    },
  },
  {
    name: 'an alarm is due at the instant of a tick',
    options: { hasAlarms: true, scheduler: { alarmConcurrency: 1 }, run: () => ({ takesMs: 2_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.ping(START_AT + 60_000)
      await model.advance(70_000)
    },
  },
  {
    name: 'a retry of an alarm outlives a crash',
    options: {
      hasAlarms: true,
      alarms: { retries: { maxAttempts: 3, delay: () => 20_000 } },
      alarm: (attempt) => ({ ends: attempt < 3 ? 'throw' : 'return' }),
    },
    async script(model) {
      await model.ping(START_AT + 10_000)
      await model.advance(15_000)
      await model.crash()
      await model.advance(60_000)
    },
  },
]
