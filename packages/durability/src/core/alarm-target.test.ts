import { describe, expect, test } from 'vitest'
import { alarmTarget } from './alarm-target.ts'
import { ALARM_HORIZON_MS, NEVER } from './limits.ts'

const NOW = 1_000_000

interface Needs {
  readonly exactAt: number
  readonly fallbackAt: number
  readonly armedAt: number | undefined
  readonly passOpen: boolean
}

const target = (needs: Partial<Needs>) => {
  const { exactAt = NEVER, fallbackAt = NEVER, armedAt, passOpen = false } = needs
  return alarmTarget(NOW, exactAt, fallbackAt, armedAt, passOpen)
}

describe('what is due', () => {
  test('with nothing due ever there is no alarm', () => {
    expect(target({ armedAt: NOW + 5 })).toBe(NEVER)
  })

  test('the alarm is at the exact time, however near', () => {
    expect(target({ exactAt: NOW + 2 })).toBe(NOW + 2)
  })

  test.each([NOW, NOW - 1, NOW - 1_000_000])(
    'an alarm for %d is never in the past nor at this instant',
    (at) => {
      expect(target({ exactAt: at })).toBe(NOW + 1)
    },
  )

  test('an alarm of another time is moved, also from an earlier one', () => {
    expect(target({ exactAt: NOW + 100, armedAt: NOW + 50 })).toBe(NOW + 100)
    expect(target({ exactAt: NOW + 100, armedAt: NOW + 150 })).toBe(NOW + 100)
  })

  test('within a pass, work that is due waits for its end, and so does the alarm that stood for it', () => {
    expect(target({ exactAt: NOW, armedAt: NOW - 10, passOpen: true })).toBe(NOW - 10)
    expect(target({ exactAt: NOW, armedAt: NEVER, passOpen: true })).toBe(NOW + 1)
  })

  test('outside a pass an alarm in the past is lost', () => {
    expect(target({ exactAt: NOW, armedAt: NOW - 10 })).toBe(NOW + 1)
    expect(target({ exactAt: NOW, armedAt: NOW })).toBe(NOW + 1)
  })
})

describe('the horizon', () => {
  const far = NOW + 3 * ALARM_HORIZON_MS

  test('a time further away than a year is armed for in a year', () => {
    expect(target({ exactAt: far })).toBe(NOW + ALARM_HORIZON_MS)
    expect(target({ exactAt: NOW + ALARM_HORIZON_MS })).toBe(NOW + ALARM_HORIZON_MS)
  })

  test('an alarm for it that is more than half a year away is left where it is', () => {
    const armedAt = NOW + ALARM_HORIZON_MS - 1
    expect(target({ exactAt: far, armedAt })).toBe(armedAt)
    expect(target({ exactAt: far, armedAt: NOW + ALARM_HORIZON_MS / 2 })).toBe(NOW + ALARM_HORIZON_MS)
    expect(target({ exactAt: far, armedAt: far })).toBe(NOW + ALARM_HORIZON_MS)
  })
})

describe('a fallback', () => {
  test('an alarm up to its time will do', () => {
    expect(target({ exactAt: NOW + 100, fallbackAt: NOW + 50, armedAt: NOW + 30 })).toBe(NOW + 30)
    expect(target({ fallbackAt: NOW + 50, armedAt: NOW + 50 })).toBe(NOW + 50)
  })

  test('a later alarm is moved to it', () => {
    expect(target({ exactAt: NOW + 100, fallbackAt: NOW + 50, armedAt: NOW + 51 })).toBe(NOW + 50)
    expect(target({ fallbackAt: NOW + 50, armedAt: NEVER })).toBe(NOW + 50)
  })

  test('what is due no later than it is armed exactly', () => {
    expect(target({ exactAt: NOW + 50, fallbackAt: NOW + 50, armedAt: NOW + 30 })).toBe(NOW + 50)
  })

  test('one whose time has passed is armed at once', () => {
    expect(target({ fallbackAt: NOW - 5, armedAt: NOW - 10 })).toBe(NOW + 1)
  })

  test('within a pass an alarm that has passed is kept: the platform fires it when the pass ends', () => {
    expect(target({ fallbackAt: NOW + 50, armedAt: NOW - 10, passOpen: true })).toBe(NOW - 10)
    expect(target({ fallbackAt: NOW + 50, armedAt: NOW - 10 })).toBe(NOW + 50)
  })
})
