import type { SchedulerPort } from './helper.ts'
import { report } from './report.ts'
import { wait } from './timers.ts'

/**
 * Makes a write that must not be given up, for what it records has already happened outside. The first try is made at
 * once, in the caller's turn; a failing one (storage full) is reported, kept in memory and made again.
 */
export async function persist<T>(
  port: Pick<SchedulerPort, 'clock' | 'alarmMinDelayMs'>,
  write: () => T | Promise<T>,
): Promise<T> {
  for (;;) {
    try {
      return await write()
    } catch (error) {
      report('write_failed', error)
    }
    await wait(port.clock, port.alarmMinDelayMs)
  }
}
