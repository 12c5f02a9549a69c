import { EVERY_HOUR, EVERY_MINUTE, HOUR_MS, type Scenario } from './scenario.ts'

/** The platform refuses, or the expression cannot be read, and the object crashes as well. */
export const REFUSALS: readonly Scenario[] = [
  {
    name: 'storage is full when a tick is recorded',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      model.faults.failWrites(0, 1)
      await model.advance(80_000)
    },
  },
  {
    name: 'storage is full when an outcome is stored',
    options: { run: () => ({ takesMs: 1_000 }) },
    async script(model) {
      await model.set(EVERY_HOUR, 1)
      model.faults.failWrites(2, 2)
      await model.advance(HOUR_MS + 50_000)
    },
  },
  {
    name: 'storage is full when an acknowledgement is stored',
    async script(model) {
      await model.set(EVERY_HOUR, 1)
      model.faults.failWrites(3, 1)
      await model.advance(HOUR_MS + 50_000)
    },
  },
  {
    name: 'storage is full when a waiting run starts',
    options: {
      scheduler: { alarmMinDelayMs: 1_000 },
      schedule: { maxConcurrentRuns: 1 },
      run: () => ({ takesMs: 9_000 }),
      receive: () => ({ takesMs: 25_000 }),
    },
    async script(model) {
      await model.set('every:5000', 1)
      await model.advance(12_000)
      await model.cancel()
      model.faults.failWrites(0, 2)
      // Looked at here as well: nothing happens until the delivery ends, and the waiting run must not wait for that.
      await model.advance(20_000)
      await model.advance(40_000)
    },
  },
  {
    name: 'the alarm of a tick is refused by an error',
    options: { run: () => ({ takesMs: 3_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      model.faults.failAlarms('throws', 0, 2)
      await model.advance(80_000)
    },
  },
  {
    name: 'the alarm of a tick is refused by a rejection',
    options: { run: () => ({ takesMs: 3_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      model.faults.failAlarms('rejects', 0, 2)
      await model.advance(80_000)
    },
  },
  {
    name: 'an alarm is refused while a run is held',
    options: { run: ({ dueAt }) => ({ takesMs: dueAt % 120_000 === 60_000 ? 70_000 : 1_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(70_000)
      model.faults.failAlarms('throws', 0, 1)
      await model.advance(80_000)
    },
  },
  {
    name: 'alarms are refused while a run is held, and memory asks again before the platform does',
    options: { scheduler: { alarmMinDelayMs: 1_000 }, run: () => ({ takesMs: 70_000 }) },
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      await model.advance(70_000)
      model.faults.failAlarms('throws', 0, 8)
      await model.advance(60_000)
    },
  },
  {
    name: 'the expression cannot be read for a while, and is replaced',
    async script(model) {
      await model.set(EVERY_MINUTE, 1)
      model.faults.failSearches(0, 2)
      await model.advance(80_000)
      model.faults.failSearches(0, 1)
      await model.advance(45_000)
      await model.set('every:30000', 2)
      await model.advance(31_000)
    },
  },
]
