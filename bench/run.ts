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
import { FULL, QUICK } from './benches/settings.ts'
import { storageCosts } from './benches/storage-costs.ts'
import { progressLine } from './host/progress.ts'
import { STORES } from './host/stores.ts'
import { bundlePeers, bundleSubjects, type LIBRARY, SUBJECTS } from './host/subjects.ts'
import { WORKERD_VERSION } from './host/worker-process.ts'
import type { Results } from './results.ts'

const PEERS = join(import.meta.dirname, 'peers')

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { quick: { type: 'boolean', default: false }, 'no-peers': { type: 'boolean', default: false } },
  })
  const settings = values.quick ? QUICK : FULL
  const withPeers = !values.quick && !values['no-peers']
  if (withPeers) installPeers()
  const [loadBefore = Number.NaN] = loadavg()
  const progress = progressLine()
  const code = await bundleSubjects()
  const costs = await storageCosts(code, SUBJECTS, settings.backlogs, progress)
  const measured = {
    costs,
    rare: await rareCosts(progress),
    times: {
      disk: await runTimes<typeof LIBRARY>(code, SUBJECTS, settings, progress, STORES.disk),
      ...(STORES.memory && {
        memory: await runTimes<typeof LIBRARY>(code, SUBJECTS, settings, progress, STORES.memory),
      }),
    },
    latency: {
      calling: await latency(code, 'calling', settings, progress),
      recording: await latency(code, 'recording', settings, progress),
    },
    backlog: await backlogTimes(code, settings, progress),
    drains: {
      calling: await drains(code, 'calling', settings, progress),
      empty: await drains(code, 'empty', settings, progress),
    },
    coldStarts: await coldStarts(code, settings, progress),
    memory: await memory(code, settings, progress),
    objects: await manyObjects(code, settings, progress),
    ...(withPeers && { peers: await peers(await bundlePeers(), settings, progress) }),
  }
  progress.done()
  const [loadAfter = Number.NaN] = loadavg()
  await conclude({
    measuredOn: new Date().toISOString().slice(0, 10),
    isQuick: settings.isQuick,
    machine: `${cpus().length} shared cores`,
    load: [loadBefore, loadAfter],
    versions: versions(withPeers),
    ...measured,
  })
}

function installPeers(): void {
  if (existsSync(join(PEERS, 'node_modules'))) return
  console.log('installing the packages to compare with')
  execFileSync('npm', ['ci', '--ignore-scripts'], { cwd: PEERS, stdio: 'inherit' })
}

function versions(withPeers: boolean): Record<string, string> {
  const versionOf = (path: string) => {
    const { version } = JSON.parse(readFileSync(join(import.meta.dirname, path, 'package.json'), 'utf8'))
    return String(version)
  }
  return {
    durability: versionOf('../packages/durability'),
    workerd: WORKERD_VERSION,
    node: process.versions.node,
    ...(withPeers && {
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
    const folder = join(import.meta.dirname, 'results')
    await mkdir(folder, { recursive: true })
    const path = join(folder, `${results.measuredOn}.json`)
    await writeFile(path, `${JSON.stringify(results, roundNumbers, 2)}\n`)
    console.log(`written to ${path}; \`node bench/report.ts\` makes tables and chart of it`)
  }
  if (bars.some(({ isMet, isExact }) => isExact && !isMet)) process.exitCode = 1
}

/** More digits would only be noise. */
function roundNumbers(_key: string, value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value
}

await main()
