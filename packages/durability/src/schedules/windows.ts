import type { ParsedSchedule } from './definition.ts'
import { InvalidScheduleError } from './errors.ts'
import type { ScheduleRow } from './store.ts'
import { effectiveAt, nextWindow } from './timing.ts'

export interface PreviewedWindow {
  /** Nominal, epoch ms. */
  readonly scheduledTime: number
  /** With its jitter. */
  readonly dueAt: number
}

export function noWindow({ definition }: ParsedSchedule): InvalidScheduleError {
  const { startAt, endAt, cron } = definition
  if (endAt !== null) return new InvalidScheduleError('endAt', `leaves no window: ${endAt}`)
  if (startAt !== null) return new InvalidScheduleError('startAt', `leaves no window: ${startAt}`)
  return new InvalidScheduleError(cron === null ? 'every' : 'cron', 'has no window after now')
}

/** The windows that are to come: the pending one first, or the next after that instant, then as many as its bounds leave. */
export function windowsOf(row: ScheduleRow, after: number, count: number): PreviewedWindow[] {
  const { definition, fires } = row
  const left = definition.maxRuns === null ? count : Math.min(count, Math.max(definition.maxRuns - fires, 0))
  const windows: PreviewedWindow[] = []
  let window = row.nextWindow ?? nextWindow(definition, after)
  while (window !== null && windows.length < left) {
    windows.push({ scheduledTime: window, dueAt: effectiveAt(row.id, window, definition) })
    window = nextWindow(definition, window)
  }
  return windows
}
