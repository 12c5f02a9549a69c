import { DurabilityScheduleObject, type RunToStart } from 'durability/schedules'

/** What a schedule of the demo may start. */
export const WORKFLOWS = ['ping', 'fail', 'slow'] as const

/** ms that `slow` takes: longer than the distance of the schedule that starts it. */
const SLOW_MS = 6_000

/** The schedules that users make over HTTP, all in the one object `demo`. Each start is a handler of this object. */
export class DemoSchedules extends DurabilityScheduleObject {
  protected override workflows() {
    return {
      ping: () => undefined,
      fail: ({ scheduledTime }: RunToStart) => {
        throw new Error(`The mail server refused the message of ${scheduledTime}`)
      },
      slow: ({ signal }: RunToStart & { readonly signal: AbortSignal }) =>
        scheduler.wait(SLOW_MS, { signal }),
    } satisfies Record<(typeof WORKFLOWS)[number], unknown>
  }
}
