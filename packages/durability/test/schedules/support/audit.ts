import type { DecisionRow, RunRow, ScheduleStore } from '../../../src/schedules/index.node.ts'

export interface AuditOptions {
  readonly id: string
  readonly now: number
  /** Windows, each of which has to have one entry in the history. */
  readonly windows?: readonly number[]
  /** Run ids that something outside has got. */
  readonly got?: readonly string[]
  /**
   * A hand-over may have arrived, and no one lives who heard so: its engine died, and its schedule was changed meanwhile.
   * Nothing can be asked; it is told as a start that failed.
   */
  readonly mayBeUnanswered?: boolean
  /** Statuses that a run may have at the end besides those of runs that are over. */
  readonly live?: readonly RunRow['status'][]
}

const UNANSWERED = 'Its start was never answered'

/** What must hold of a schedule when nothing is under way, whatever happened to its engines. */
export async function audit(store: ScheduleStore, options: AuditOptions): Promise<string[]> {
  const { id, now, windows = [], got = [], live = [], mayBeUnanswered = false } = options
  const row = await store.getSchedule(id)
  if (row === null) return [`there is no schedule ${id}`]
  const all = await store.listRuns({ scheduleId: id, order: 'newest', limit: 1_000 })
  const runs = all.filter((run) => !run.manual)
  const counted = runs.filter((run) => run.counted)
  const decisions = await store.listDecisions(id, 1_000)
  const problems: string[] = []

  if (row.fires !== counted.length) problems.push(`fires is ${row.fires}, ${counted.length} runs are counted`)
  for (const run of all) {
    const isOver = !['starting', 'queued', 'running'].includes(run.status)
    if (!isOver && !live.includes(run.status)) problems.push(`${run.id} is ${run.status} at the end`)
  }
  for (const runId of got) {
    const run = all.find((one) => one.id === runId)
    if (!runId.startsWith(`sched:${id}:`)) continue
    if (run === undefined) problems.push(`${runId} was started and has no row`)
    else if (mayBeUnanswered && run.kind === 'dispatch' && run.error === UNANSWERED) continue
    else if (!run.manual && !run.counted) problems.push(`${runId} was started and is not counted`)
  }
  if (options.got !== undefined) {
    const arrived = new Set(got)
    for (const run of counted)
      if (!arrived.has(run.id)) problems.push(`${run.id} is counted and was never started`)
  }
  for (const window of windows) {
    const entries = entriesOf(window, counted, decisions)
    if (entries.length !== 1) problems.push(`${window} has the entries [${entries.join()}]`)
  }
  for (const run of counted) {
    const entries = entriesOf(run.scheduledTime ?? 0, counted, decisions)
    if (entries.length !== 1) problems.push(`${run.id} has the entries [${entries.join()}]`)
  }
  const last = counted.reduce<number | null>((max, run) => Math.max(max ?? 0, run.scheduledTime ?? 0), null)
  if (row.lastFireAt !== last) problems.push(`lastFireAt is ${row.lastFireAt}, the last counted is ${last}`)
  if (row.nextWindow !== null && last !== null && row.nextWindow <= last)
    problems.push(`the next window ${row.nextWindow} is not later than the last fired ${last}`)
  if (!row.paused && !row.finished && (row.nextFireAt === null || row.nextFireAt <= now))
    problems.push(`it is stuck at ${row.nextFireAt}, now is ${now}`)
  return problems
}

/** What the history says of one window. */
function entriesOf(window: number, counted: readonly RunRow[], decisions: readonly DecisionRow[]): string[] {
  const told = decisions.filter(({ scheduledTime, from, to }) =>
    from !== null && to !== null ? window >= from && window <= to : window === scheduledTime,
  )
  const fired = counted.filter(({ scheduledTime }) => scheduledTime === window)
  return [...told.map(({ decision }) => decision), ...fired.map(() => 'fired')]
}
