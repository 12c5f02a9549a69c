/** A timer that is set for now comes a millisecond later, and so does an alarm that takes its place. */
export const LATE_MS = 2

/** Why something may be late: what was done to the object from outside, and until when that tells. */
export class Excuses {
  /** The alarm was changed from outside, or a clock was set: where it stands says nothing until the next call or pass. */
  alarm = false
  /** How often that happened. */
  count = 0
  /** Alarms are held back up to here on the clock's time line. */
  heldUntilMs: number = Number.NEGATIVE_INFINITY
  /** When the definition was last seen to change, epoch ms. */
  changedAt: number = Number.NEGATIVE_INFINITY
  /** Something happened since the last tick that costs more than an ordinary run. */
  extraordinary = true

  excuseAlarm(): void {
    this.alarm = true
    this.count += 1
    this.extraordinary = true
  }
}
