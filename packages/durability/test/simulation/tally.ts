/** What went wrong during the life of a run, from its record to the end of its row. */
export type TroubleKind = 'crash' | 'clock' | 'delivery'

/** What a history consisted of. A tick is one recorded run. */
export interface Tally {
  ticks: number
  /** Ticks during whose run's life the object crashed, a clock was set, or a delivery of its outcome failed. */
  troubled: number
  /** The same by kind; a tick can have several. */
  readonly by: Record<TroubleKind, number>
  crashes: number
  clockSteps: number
  failedDeliveries: number
  deadLetters: number
  /** Writes and alarms that were refused. */
  refusals: number
  alarms: number
  simulatedMs: number
}

export function emptyTally(): Tally {
  return {
    ticks: 0,
    troubled: 0,
    by: { crash: 0, clock: 0, delivery: 0 },
    crashes: 0,
    clockSteps: 0,
    failedDeliveries: 0,
    deadLetters: 0,
    refusals: 0,
    alarms: 0,
    simulatedMs: 0,
  }
}

export function addTally(sum: Tally, more: Tally): void {
  sum.ticks += more.ticks
  sum.troubled += more.troubled
  for (const kind of ['crash', 'clock', 'delivery'] as const) sum.by[kind] += more.by[kind]
  sum.crashes += more.crashes
  sum.clockSteps += more.clockSteps
  sum.failedDeliveries += more.failedDeliveries
  sum.deadLetters += more.deadLetters
  sum.refusals += more.refusals
  sum.alarms += more.alarms
  sum.simulatedMs += more.simulatedMs
}
