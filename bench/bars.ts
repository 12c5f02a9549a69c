import { ENGINE, type UserSchedules } from './benches/user-schedules.ts'
import { LIBRARY, LOOP } from './host/subjects.ts'
import type { Results } from './results.ts'
import type { Cost } from './worker/cost.ts'

/** What is asked of the library, in relation to the loop. */
export interface Bar {
  readonly what: string
  readonly asked: string
  readonly measured: string
  readonly isMet: boolean
  /** Counts are the same every time: missing such a bar is a failure, whatever else the machine does. */
  readonly isExact?: boolean
}

const MAX_GROWTH = 1.25

export function barsOf({ costs, times, latency, drains, backlog, schedules }: Results): Bar[] {
  return [
    ...rowBars(costs),
    ...timeBars('objects on disk', times.disk),
    ...(times.memory ? timeBars('objects in memory', times.memory) : []),
    {
      what: `start latency, median difference of ${latency.calling.pairs} pairs`,
      asked: 'at most 1 ms',
      measured: `${latency.calling.differenceMs.median.toFixed(1)} ms`,
      isMet: latency.calling.differenceMs.median <= 1,
    },
    ...growthBars('CPU per drained run', drains.calling),
    ...growthBars('CPU per run beside waiting runs', backlog),
    ...(schedules ? fireBars(schedules) : []),
  ]
}

function fireBars({ stored, fires }: UserSchedules): Bar[] {
  return fires.map(({ due, costs: { [ENGINE]: cost } }) => ({
    what: `rows read, written per fire of a user’s schedule, ${due} due of ${stored}`,
    asked: 'at most 12, 8',
    measured: `${Number(cost.rowsRead.toFixed(2))}, ${Number(cost.rowsWritten.toFixed(2))}`,
    isMet: cost.rowsRead <= 12 && cost.rowsWritten <= 8,
    isExact: true,
  }))
}

function rowBars(costs: Results['costs']): Bar[] {
  const text = ({ rowsWritten, alarms }: Cost) => `${rowsWritten} + ${alarms}`
  const bar = (what: string, library: Cost | undefined, loop: Cost | undefined): Bar[] => {
    if (!library || !loop) return []
    const isMet = text(library) === text(loop)
    return [{ what, asked: `${text(loop)}, as the loop`, measured: text(library), isMet, isExact: true }]
  }
  const { ordinary, behind } = costs[LIBRARY]
  return [
    ...bar('rows written + alarms per run', ordinary, costs[LOOP].ordinary),
    ...Object.keys(behind).flatMap((waiting) =>
      bar(
        `rows written + alarms per run beside ${waiting} waiting`,
        behind[waiting],
        costs[LOOP].behind[waiting],
      ),
    ),
  ]
}

function timeBars(store: string, { calling, empty }: Results['times']['disk']): Bar[] {
  return [
    ratioBar(`CPU per run, calling handlers, ${store}`, calling[LIBRARY].cpuRatio.median, 1.3),
    ratioBar(`wall time per run, calling handlers, ${store}`, calling[LIBRARY].wallRatio.median, 1.3),
    ratioBar(`CPU per run, empty handlers, ${store}`, empty[LIBRARY].cpuRatio.median, 2.5),
    ratioBar(`wall time per run, empty handlers, ${store}`, empty[LIBRARY].wallRatio.median, 2.5),
  ]
}

function ratioBar(what: string, ratio: number, most: number): Bar {
  return {
    what,
    asked: `at most ${most} × the loop`,
    measured: `${ratio.toFixed(2)} ×`,
    isMet: ratio <= most,
  }
}

function growthBars(
  what: string,
  series: readonly { readonly waiting: number; readonly cpuGrowth: Results['backlog'][0]['cpuGrowth'] }[],
): Bar[] {
  const last = series.at(-1)
  if (!last) return []
  const { median } = last.cpuGrowth[LIBRARY]
  return [
    {
      what: `${what}, at ${last.waiting} beside ${series[0]?.waiting}`,
      asked: 'the same',
      measured: `${median.toFixed(2)} ×`,
      isMet: median <= MAX_GROWTH,
    },
  ]
}
