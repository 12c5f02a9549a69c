import { NEVER } from './limits.ts'
import { report } from './report.ts'
import type { ObjectStorage } from './state.ts'

/**
 * The object's one physical alarm, and the only code that sets or deletes it. What it was last seen or set to is
 * remembered, so that an unchanged alarm is not written (and billed) again.
 */
export interface PhysicalAlarm {
  /** Epoch ms; infinite when no alarm is armed, `undefined` while this instance does not know. */
  at: number | undefined
  /** Settles when the platform has taken or refused the last write. Each write has its own. */
  taken: Promise<void>
  /** Reads the alarm as it really is. Answers whether it still was what this instance believed. */
  refresh(): Promise<boolean>
  /** Must run in the turn that wrote the rows it stands for, so nothing is awaited here. An infinite `at` deletes it. */
  write(at: number): void
  /** What is believed no longer holds: a transaction that wrote the alarm was rolled back. */
  forget(): void
}

export function physicalAlarm(storage: ObjectStorage, onRefused: (error: unknown) => void): PhysicalAlarm {
  const alarm: PhysicalAlarm = {
    at: undefined,
    taken: Promise.resolve(),

    async refresh() {
      const { at: believed, taken } = alarm
      let at: number | undefined
      try {
        at = (await storage.getAlarm()) ?? NEVER
      } catch (error) {
        // Unknown, and written anew by whoever arms it next.
        report('alarm_unreadable', error)
      }
      // An alarm that was written during the read is newer than the answer, and wins.
      if (taken !== alarm.taken) return false
      alarm.at = at
      return at === believed
    },

    write(at) {
      alarm.forget()
      const taken = at < NEVER ? storage.setAlarm(at) : storage.deleteAlarm()
      alarm.taken = taken
      alarm.at = at
      taken.catch((error: unknown) => {
        alarm.forget()
        onRefused(error)
      })
    },

    forget() {
      alarm.at = undefined
      alarm.taken = Promise.resolve()
    },
  }
  return alarm
}
