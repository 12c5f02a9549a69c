import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BesideBacklog } from './benches/backlog.ts'
import type { ColdStarts } from './benches/cold-starts.ts'
import type { Drained } from './benches/drain.ts'
import type { Latency } from './benches/latency.ts'
import type { ManyObjects } from './benches/many-objects.ts'
import type { MemoryWithBacklog } from './benches/memory.ts'
import type { PeerResults } from './benches/peers.ts'
import type { RareCost } from './benches/rare-costs.ts'
import type { RunTimes } from './benches/run-times.ts'
import type { StorageCosts } from './benches/storage-costs.ts'
import type { UserSchedules } from './benches/user-schedules.ts'
import type { Subject } from './host/subjects.ts'

/** What a run of the bench writes down, and `report.ts` reads. */
export interface Results {
  /** `2026-12-01` */
  readonly measuredOn: string
  readonly isQuick: boolean
  readonly machine: string
  /** Processes that wanted to run at the start and at the end, over a minute: what else the machine did. */
  readonly load: readonly [number, number]
  readonly versions: Readonly<Record<string, string>>
  readonly costs: Record<Subject, StorageCosts>
  readonly rare: readonly RareCost[]
  readonly times: { readonly disk: RunTimes<Subject>; readonly memory?: RunTimes<Subject> }
  readonly backlog: readonly BesideBacklog[]
  readonly drains: Readonly<Record<'calling' | 'empty', readonly Drained[]>>
  readonly latency: Readonly<Record<'calling' | 'recording', Latency>>
  readonly coldStarts: ColdStarts
  readonly memory: readonly MemoryWithBacklog[]
  readonly objects: readonly ManyObjects[]
  readonly peers?: PeerResults
  /** With the load at its own time: it is often measured alone. */
  readonly schedules?: UserSchedules
}

export const RESULTS: string = join(import.meta.dirname, 'results')

export function latestResults(): Results {
  const [file] = readdirSync(RESULTS)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .reverse()
  if (!file) throw new Error('There are no results: npm run bench')
  return JSON.parse(readFileSync(join(RESULTS, file), 'utf8')) as Results
}
