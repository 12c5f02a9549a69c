import { describe, expect, test } from 'vitest'
import { simulateObject } from '../testing/object.ts'
import type { SchedulerHelper } from './helper.ts'
import { DurabilityScheduler, type DurabilitySchedulerOptions } from './scheduler.ts'

const HELPER: SchedulerHelper = { name: 'mine', nextAt: () => undefined, run: () => undefined }

/** A scheduler with one option changed, whatever its type. */
function schedulerWith(change: Record<string, unknown>): DurabilityScheduler {
  const { ctx } = simulateObject(() => ({ alarm: () => undefined }))
  return new DurabilityScheduler({ context: ctx, ...change } as DurabilitySchedulerOptions)
}

describe('options', () => {
  test.each([
    [{ alarmConcurrency: 0 }, RangeError, 'alarmConcurrency'],
    [{ alarmHandoffMs: 15 * 60_000 }, RangeError, 'alarmHandoffMs'],
    [{ alarmHandoffMs: 0 }, RangeError, 'alarmHandoffMs'],
    [{ alarmMinDelayMs: 999 }, RangeError, 'alarmMinDelayMs'],
    [{ alarmMinDelayMs: 15_001 }, RangeError, 'alarmMinDelayMs'],
    [{ alarmMinDelayMs: '1000' }, TypeError, 'alarmMinDelayMs'],
    [{ liveTimers: 'yes' }, TypeError, 'liveTimers'],
    [{ onAlarmRetry: 5 }, TypeError, 'onAlarmRetry'],
    [{ context: undefined }, TypeError, 'context'],
  ])('%j is refused and named', (change, type, name) => {
    expect(() => schedulerWith(change)).toThrow(type)
    expect(() => schedulerWith(change)).toThrow(name)
  })

  test('the limits themselves are allowed', () => {
    schedulerWith({ alarmHandoffMs: 15 * 60_000 - 1, alarmMinDelayMs: 1_000, alarmConcurrency: 1 })
    schedulerWith({ alarmHandoffMs: 1, alarmMinDelayMs: 15_000, liveTimers: true })
  })
})

describe('helpers', () => {
  test('a name can be attached once', () => {
    const scheduler = schedulerWith({})
    scheduler.attach(HELPER)
    expect(() => scheduler.attach({ ...HELPER })).toThrow('"mine" is already attached')
  })

  test.each([
    [{ name: 5 }, 'helper.name'],
    [{ nextAt: undefined }, 'helper.nextAt'],
    [{ run: 'text' }, 'helper.run'],
  ])('one with %j is refused', (change, name) => {
    // Whatever a caller without types might pass.
    const helper = { ...HELPER, ...change } as unknown as SchedulerHelper
    expect(() => schedulerWith({}).attach(helper)).toThrow(name)
  })
})
