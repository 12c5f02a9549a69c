/** What a run's id says: which schedule and window it is for, or that it is none of a schedule. */
export interface ParsedRunId {
  readonly scheduleId: string | null
  /** The window, or the time of the trigger. */
  readonly time: number | null
  readonly manual: boolean
}

export function windowRunId(scheduleId: string, window: number): string {
  return `sched:${scheduleId}:${window}`
}

export function manualRunId(scheduleId: string, at: number): string {
  return `sched:${scheduleId}:manual:${at}`
}

/** The inverse of both: unambiguous, for no schedule's id ends in `:manual`. Any other id is a caller's own. */
export function parseRunId(id: string): ParsedRunId {
  const match = /^sched:(.+?)(:manual)?:(0|[1-9]\d{0,15})$/s.exec(id)
  const [, scheduleId, manual, digits] = match ?? []
  const time = Number(digits)
  if (scheduleId === undefined || !Number.isSafeInteger(time)) {
    return { scheduleId: null, time: null, manual: false }
  }
  return { scheduleId, time, manual: manual !== undefined }
}
