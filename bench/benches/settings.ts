/** How much is measured. A quick run shows that the bench works; its numbers mean little. */
export interface Settings {
  readonly isQuick: boolean
  /** Rounds in which every subject has its turn, and those before them that do not count. */
  readonly rounds: number
  readonly warmUp: number
  /** Runs of one subject in one round. */
  readonly runs: number
  /** Runs that wait. */
  readonly backlogs: readonly number[]
  readonly drains: readonly number[]
  readonly drainRounds: number
  /** Objects in one process, each with a schedule. */
  readonly objects: readonly number[]
  /** Fires of each subject whose lateness is compared. */
  readonly fires: number
  readonly processStarts: number
  /** User-created ones in one object, and the runs that are kept of each that fires. */
  readonly schedules: { readonly stored: number; readonly kept: number }
}

export const FULL: Settings = {
  isQuick: false,
  rounds: 50,
  warmUp: 15,
  runs: 50,
  backlogs: [0, 100, 10_000],
  drains: [1_000, 2_500, 5_000, 10_000],
  drainRounds: 3,
  objects: [1, 10, 100, 1_000],
  fires: 1_200,
  processStarts: 15,
  schedules: { stored: 100_000, kept: 50 },
}

export const QUICK: Settings = {
  isQuick: true,
  rounds: 2,
  warmUp: 1,
  runs: 25,
  backlogs: [0, 100],
  drains: [100, 200],
  drainRounds: 1,
  objects: [1, 20],
  fires: 40,
  processStarts: 2,
  schedules: { stored: 1_000, kept: 3 },
}
