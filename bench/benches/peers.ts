import type { Progress } from '../host/progress.ts'
import { LIBRARY, LOOP, PEERS, type Peer, type Subject } from '../host/subjects.ts'
import { startWorker } from '../host/worker-process.ts'
import type { Cost } from '../worker/cost.ts'
import { type RunTimes, runTimes } from './run-times.ts'
import type { Settings } from './settings.ts'
import { ordinaryCost } from './storage-costs.ts'

export interface PeerResults {
  readonly times: RunTimes<Subject | Peer>
  /** Of one run, in an object with so many schedules. */
  readonly costs: Record<Peer, readonly { readonly schedules: number; readonly cost: Cost }[]>
}

const SCHEDULES = [1, 10, 100]

/** The same work by other packages: a recurring schedule whose callback makes the calls of handler and `onOutcome`. */
export async function peers(code: string, settings: Settings, progress: Progress): Promise<PeerResults> {
  const worker = await startWorker({ code, classes: [...PEERS, 'Target'], isCounting: true })
  const costs: Partial<Record<Peer, { schedules: number; cost: Cost }[]>> = {}
  try {
    for (const peer of PEERS) {
      const ofPeer: { schedules: number; cost: Cost }[] = []
      for (const schedules of SCHEDULES) {
        progress(`rows and alarms of ${peer} with ${schedules} schedules`)
        ofPeer.push({ schedules, cost: await ordinaryCost(worker, peer, schedules) })
      }
      costs[peer] = ofPeer
    }
  } finally {
    await worker.stop()
  }
  const names = [LIBRARY, LOOP, ...PEERS] as const
  const times = await runTimes(code, names, { ...settings, rounds: Math.ceil(settings.rounds / 2) }, progress)
  return { times, costs: costs as PeerResults['costs'] } // each has been put in
}
