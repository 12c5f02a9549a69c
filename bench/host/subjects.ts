import { join } from 'node:path'
import { bundle } from './bundle.ts'

/** The classes that the Workers export, and what they are called in the results. */
export const LIBRARY = 'LibraryObject'
export const LOOP = 'LoopObject'
export const PEERS = ['AgentsSchedulerObject', 'AgentObject', 'ActorsAlarmsObject'] as const

export type Subject = typeof LIBRARY | typeof LOOP
export type Peer = (typeof PEERS)[number]

export const SUBJECTS: readonly Subject[] = [LIBRARY, LOOP]

export function bySubject<Value>(of: (subject: Subject) => Value): Record<Subject, Value> {
  return { [LIBRARY]: of(LIBRARY), [LOOP]: of(LOOP) }
}

const BENCH = join(import.meta.dirname, '..')

export function bundleSubjects(): Promise<string> {
  return bundle(join(BENCH, 'worker/worker.ts'))
}

export function bundleAlone(subject: Subject): Promise<string> {
  return bundle(join(BENCH, subject === LIBRARY ? 'worker/library-worker.ts' : 'worker/loop-worker.ts'))
}

/** With the modules that workerd has only in production, or that only Node has. */
export function bundlePeers(): Promise<string> {
  return bundle(join(BENCH, 'peers/worker.ts'), {
    path: join(BENCH, 'peers/path.ts'),
    'cloudflare:email': join(BENCH, 'peers/email.ts'),
  })
}

/** A full minute far from now, so that no alarm that is set comes due while it is measured. */
export const START_AT: number = Date.UTC(2027, 0, 1)
export const MINUTELY = '60000 0'
export const TICK_MS = 60_000
