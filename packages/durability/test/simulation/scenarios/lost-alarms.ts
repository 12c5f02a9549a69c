import { MINUTE_MS } from '../expressions.ts'
import { EVERY_HOUR, EVERY_MINUTE, HOUR_MS, type Scenario } from './scenario.ts'

export const LOST_ALARMS: readonly Scenario[] = [
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
    length: 'short',
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
