import { barsOf } from './bars.ts'
import type { Drained } from './benches/drain.ts'
import { ENGINE, SCHEDULE_LOOP } from './benches/user-schedules.ts'
import type { Compared } from './host/interleaved.ts'
import type { Summary } from './host/statistics.ts'
import { LIBRARY, LOOP, PEERS } from './host/subjects.ts'
import type { Results } from './results.ts'
import type { Cost } from './worker/cost.ts'

export const NAMES: Readonly<Record<string, string>> = {
  [LIBRARY]: 'durability',
  [LOOP]: 'the loop',
  AgentsSchedulerObject: '`agents` `Scheduler`',
  AgentObject: '`agents` `Agent`',
  ActorsAlarmsObject: '`@cloudflare/actors` `Alarms`',
}

/** The tables of the page, each under the name by which the page asks for it. */
export function tablesOf(results: Results): Record<string, string> {
  return {
    conditions: conditions(results),
    bars: bars(results),
    costs: costs(results),
    rare: rare(results),
    times: times(results),
    latency: latency(results),
    backlog: backlog(results),
    drains: drains(results),
    cold: coldStarts(results),
    memory: memory(results),
    objects: objects(results),
    peers: peers(results),
    schedules: schedules(results),
    verbs: verbs(results),
  }
}

type Cell = string | number

function table(head: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const line = (cells: readonly Cell[]) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

const range = ({ median, q1, q3 }: Summary, digits = 2) =>
  `${median.toFixed(digits)} (${q1.toFixed(digits)} to ${q3.toFixed(digits)})`

function conditions({ measuredOn, machine, load, versions }: Results): string {
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`)
  return `Measured on ${measuredOn}: ${used.join(', ')}, on ${machine}. The machine was not idle: its load was ${load[0]} when the bench began and ${load[1]} when it ended.`
}

function bars(results: Results): string {
  const rows = barsOf(results).map(({ what, asked, measured, isMet }) => [
    what,
    asked,
    measured,
    isMet ? 'met' : '**missed**',
  ])
  return table(['what', 'asked', 'measured', ''], rows)
}

function costs({ costs: { [LIBRARY]: library, [LOOP]: loop } }: Results): string {
  const row = (what: string, own: Cost | undefined, other: Cost | undefined) =>
    own && other
      ? [[what, own.rowsWritten, other.rowsWritten, own.alarms, other.alarms, own.rowsRead, other.rowsRead]]
      : []
  return table(
    ['run', 'rows written', 'loop', 'alarms', 'loop', 'rows read', 'loop'],
    [
      ...row('ordinary', library.ordinary, loop.ordinary),
      ...Object.keys(library.behind).flatMap((waiting) =>
        row(`that waited, ${count(waiting)} others waiting`, library.behind[waiting], loop.behind[waiting]),
      ),
    ],
  )
}

function rare({ rare: costs }: Results): string {
  return table(
    ['what', 'rows written', 'alarms', 'requests', 'rows read'],
    costs.map(({ what, requests, cost: { rowsWritten, alarms, rowsRead } }) => [
      what,
      rowsWritten,
      alarms,
      requests,
      rowsRead,
    ]),
  )
}

const ratios = ({ cpuRatio, wallRatio }: Compared) => [range(cpuRatio), range(wallRatio)]

function times({ times: { disk, memory } }: Results): string {
  const rows = Object.entries({ 'on disk': disk, ...(memory && { 'in memory': memory }) }).flatMap(
    ([store, { calling, empty }]) => [
      [`calling a target, objects ${store}`, ...ratios(calling[LIBRARY])],
      [`empty, objects ${store}`, ...ratios(empty[LIBRARY])],
    ],
  )
  return table(['handlers', 'CPU per run', 'wall time per run'], rows)
}

function latency({ latency: { calling, recording } }: Results): string {
  const rows = Object.entries({ 'arrival at the target': calling, 'call of the handler': recording }).map(
    ([what, { lateMs, differenceMs, meanDifferenceMs, pairs }]) => [
      what,
      pairs,
      lateMs[LIBRARY].p50,
      lateMs[LOOP].p50,
      lateMs[LIBRARY].p99.toFixed(0),
      lateMs[LOOP].p99.toFixed(0),
      range(differenceMs, 1),
      meanDifferenceMs.toFixed(2),
    ],
  )
  return table(['ms until', 'pairs', 'p50', 'loop', 'p99', 'loop', 'difference of pairs', 'its mean'], rows)
}

function backlog({ backlog: series }: Results): string {
  return table(
    ['runs that wait', 'CPU per run', 'wall time per run', 'CPU, none waiting = 1', 'loop'],
    series.map(({ waiting, compared, cpuGrowth }) => [
      count(waiting),
      ...ratios(compared[LIBRARY]),
      range(cpuGrowth[LIBRARY]),
      range(cpuGrowth[LOOP]),
    ]),
  )
}

function drains({ drains: { calling, empty } }: Results): string {
  const rows = (handlers: string, series: readonly Drained[]) =>
    series.map(({ waiting, compared, cpuGrowth }) => [
      handlers,
      count(waiting),
      compared[LIBRARY].cpuRatio.median.toFixed(2),
      compared[LIBRARY].wallRatio.median.toFixed(2),
      range(cpuGrowth[LIBRARY]),
      range(cpuGrowth[LOOP]),
    ])
  return table(
    ['handlers', 'runs', 'CPU, loop = 1', 'time, loop = 1', 'CPU per run, smallest drain = 1', 'loop'],
    [...rows('calling', calling), ...rows('empty', empty)],
  )
}

function coldStarts({ coldStarts: { instance, object, processDifferenceMs } }: Results): string {
  return `${table(
    ['first run of', 'CPU, loop = 1', 'time, loop = 1'],
    [
      ['a new instance of a stored object', ...ratios(instance[LIBRARY])],
      ['a new object: its first `set`, and the first run', ...ratios(object[LIBRARY])],
    ],
  )}

A new process with nothing else in its Worker needs ${range(processDifferenceMs, 1)} ms longer than one with the loop until its first run has ended (${processDifferenceMs.samples} pairs of starts).`
}

function memory({ memory: series }: Results): string {
  return table(
    ['runs that wait', 'heap, kB', 'loop', 'process, MB', 'loop'],
    series.map(({ waiting, memory: { [LIBRARY]: own, [LOOP]: loop } }) => [
      count(waiting),
      Math.round(own.heapBytes / 1_000),
      Math.round(loop.heapBytes / 1_000),
      Math.round(own.residentBytes / 1e6),
      Math.round(loop.residentBytes / 1e6),
    ]),
  )
}

function objects({ objects: series }: Results): string {
  return table(
    ['objects', 'CPU per run', 'wall time per run'],
    series.map(({ objects: number, compared }) => [count(number), ...ratios(compared[LIBRARY])]),
  )
}

function peers({ peers: measured, costs: { [LIBRARY]: library, [LOOP]: loop } }: Results): string {
  if (!measured) return 'Not measured.'
  const cells = (cost: Cost | undefined) =>
    cost ? [cost.rowsWritten, cost.alarms, cost.rowsRead] : ['', '', '']
  const row = (name: string, cost: Cost | undefined, reads: string) => {
    const { calling, empty } = measured.times
    const key = name as keyof typeof calling // a subject's name
    return [
      NAMES[name] ?? name,
      ...cells(cost),
      reads,
      range(calling[key].cpuRatio),
      range(empty[key].cpuRatio),
    ]
  }
  const readsOf = (peer: (typeof PEERS)[number]) =>
    measured.costs[peer].map(({ schedules, cost }) => `${cost.rowsRead} with ${schedules}`).join(', ')
  return table(
    [
      'one run by',
      'rows written',
      'alarms',
      'rows read',
      'rows read by schedules in the object',
      'CPU, calling handlers, loop = 1',
      'CPU, empty handlers, loop = 1',
    ],
    [
      row(LIBRARY, library.ordinary, 'one schedule'),
      row(LOOP, loop.ordinary, 'one schedule'),
      ...PEERS.map((peer) => row(peer, measured.costs[peer][0]?.cost, readsOf(peer))),
    ],
  )
}

function schedules({ schedules: measured }: Results): string {
  if (!measured) return 'Not measured.'
  const { stored, kept, load, fires } = measured
  const rows = fires.map(({ due, costs: { [ENGINE]: own, [SCHEDULE_LOOP]: loop }, times }) => [
    due,
    digits(own.rowsRead),
    digits(loop.rowsRead),
    digits(own.rowsWritten),
    digits(loop.rowsWritten),
    digits(own.alarms),
    digits(loop.alarms),
    range(times.calling[ENGINE].cpuRatio),
    range(times.empty[ENGINE].cpuRatio),
  ])
  return `${count(stored)} schedules in one object, ${kept} runs kept of each that fires. The load of the machine was ${load[0]} before and ${load[1]} after.

${table(
  [
    'due at once',
    'rows read per fire',
    'loop',
    'rows written',
    'loop',
    'alarms',
    'loop',
    'CPU, calling handlers, loop = 1',
    'CPU, empty handlers, loop = 1',
  ],
  rows,
)}`
}

function verbs({ schedules: measured }: Results): string {
  if (!measured) return 'Not measured.'
  const [first] = measured.verbs
  return table(
    ['call', 'rows read', 'rows written', 'CPU, `get` = 1'],
    measured.verbs.map(({ what, rowsRead, rowsWritten, cpuUs }) => [
      what,
      digits(rowsRead),
      digits(rowsWritten),
      (cpuUs / (first?.cpuUs ?? Number.NaN)).toFixed(1),
    ]),
  )
}

function digits(number: number): number {
  return Number(number.toFixed(2))
}

function count(number: number | string): string {
  return Number(number).toLocaleString('en')
}
