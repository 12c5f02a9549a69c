/** Measures the library beside a loop written by hand, in workerd. `--quick`: all of it once, to see that it works. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { barsOf } from './bars.ts'
import { backlogTimes } from './benches/backlog.ts'
import { coldStarts } from './benches/cold-starts.ts'
import { drains } from './benches/drain.ts'
import { latency } from './benches/latency.ts'
import { manyObjects } from './benches/many-objects.ts'
import { memory } from './benches/memory.ts'
import { peers } from './benches/peers.ts'
import { rareCosts } from './benches/rare-costs.ts'
import { runTimes } from './benches/run-times.ts'
import { FULL, QUICK, type Settings } from './benches/settings.ts'
import { storageCosts } from './benches/storage-costs.ts'
import { userSchedules } from './benches/user-schedules.ts'
import { type Progress, progressLine } from './host/progress.ts'
import { STORES } from './host/stores.ts'
import { bundlePeers, bundleSubjects, type LIBRARY, SUBJECTS } from './host/subjects.ts'
import { WORKERD_VERSION } from './host/worker-process.ts'
import { latestResults, RESULTS, type Results } from './results.ts'

const PEERS = join(import.meta.dirname, 'peers')

type Measured = Omit<Results, 'measuredOn' | 'isQuick' | 'machine' | 'load' | 'versions'>

/** What can be measured on its own. */
function partsOf(code: string, settings: Settings, progress: Progress) {
  return {
    costs: () => storageCosts(code, SUBJECTS, settings.backlogs, progress),
    rare: () => rareCosts(progress),
    times: async () => ({
      disk: await runTimes<typeof LIBRARY>(code, SUBJECTS, settings, progress, STORES.disk),
      ...(STORES.memory && {
        memory: await runTimes<typeof LIBRARY>(code, SUBJECTS, settings, progress, STORES.memory),
      }),
    }),
    latency: async () => ({
      calling: await latency(code, 'calling', settings, progress),
      recording: await latency(code, 'recording', settings, progress),
    }),
    backlog: () => backlogTimes(code, settings, progress),
    drains: async () => ({
      calling: await drains(code, 'calling', settings, progress),
      empty: await drains(code, 'empty', settings, progress),
    }),
    coldStarts: () => coldStarts(code, settings, progress),
    memory: () => memory(code, settings, progress),
    objects: () => manyObjects(code, settings, progress),
    peers: async () => {
      installPeers()
      return peers(await bundlePeers(), settings, progress)
    },
    schedules: () => userSchedules(settings, progress),
  } satisfies { readonly [Part in keyof Measured]-?: () => Promise<Measured[Part]> }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
  })
  const settings = values.quick ? QUICK : FULL
  const [loadBefore = Number.NaN] = loadavg()
  const progress = progressLine()
  const parts = partsOf(await bundleSubjects(), settings, progress)
  const wanted =
    values.only?.split(',') ?? Object.keys(parts).filter((part) => part !== 'peers' || !values.quick)
  const measured: Record<string, unknown> = {}
  for (const part of wanted) {
    if (!Object.hasOwn(parts, part)) throw new Error(`--only knows ${Object.keys(parts).join(', ')}`)
    measured[part] = await parts[part as keyof typeof parts]() // it has that key
  }
  progress.done()
  const [loadAfter = Number.NaN] = loadavg()
  // What was not measured now is what was measured last.
  const rest = values.only ? latestResults() : {}
  await conclude({
    ...rest,
    ...(measured as unknown as Measured), // a part for each key, or what is left out in the rest
    measuredOn: new Date().toISOString().slice(0, 10),
    isQuick: settings.isQuick,
    machine: `${cpus().length} shared cores`,
    // That part says its own, and leaves that of the others.
    load: (values.only === 'schedules' && latestResults().load) || [loadBefore, loadAfter],
    versions: versions(),
  })
}

function installPeers(): void {
  if (existsSync(join(PEERS, 'node_modules'))) return
  console.log('installing the packages to compare with')
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: PEERS, stdio: 'inherit' })
}

function versions(): Record<string, string> {
  const versionOf = (path: string) => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, path, 'package.json'), 'utf8'))
    return String(version)
  }
  return {
    durability: versionOf('../packages/durability'),
    workerd: WORKERD_VERSION,
    node: process.versions.node,
    ...(existsSync(join(PEERS, 'node_modules')) && {
      agents: versionOf('peers/node_modules/agents'),
      '@cloudflare/actors': versionOf('peers/node_modules/@cloudflare/actors'),
    }),
  }
}

async function conclude(results: Results): Promise<void> {
  const bars = barsOf(results)
  for (const { what, asked, measured, isMet } of bars)
    console.log(`${isMet ? 'met   ' : 'MISSED'}  ${what}: ${measured} (asked: ${asked})`)
  if (results.isQuick) console.log('A quick run: only rows and alarms mean something.')
  else {
    await mkdir(RESULTS, { recursive: true })
    const path = join(RESULTS, `${results.measuredOn}.json`)
    await writeFile(path, `${JSON.stringify(results, roundNumbers, 2)}\n`)
    console.log(`written to ${path}; \`node bench/report.ts\` makes tables and chart of it`)
  }
  if (bars.some(({ isMet, isExact }) => isExact && !isMet)) process.exitCode = 1
}

/** More digits would only be noise. */
function roundNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
await main()
