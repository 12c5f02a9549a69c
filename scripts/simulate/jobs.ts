import {
  type Exploration,
  explore,
  type Findings,
} from '../../packages/durability/test/simulation/exhaustive.ts'
import { playLong } from '../../packages/durability/test/simulation/long-history.ts'
import { playShort } from '../../packages/durability/test/simulation/short-history.ts'
import type { Tally } from '../../packages/durability/test/simulation/tally.ts'

/** A history from a seed: a long one, or one of the short ones. */
export interface SeedJob {
  readonly seed: number
  readonly isShort: boolean
}

export interface SeedReply {
  readonly hash: bigint
  readonly tally: Tally
  readonly kinds: ReadonlySet<string>
  readonly failure: string | undefined
}

export type Job = { readonly explore: Exploration } | { readonly play: SeedJob }
export type Reply = { readonly findings: Findings } | { readonly played: SeedReply }

export async function doJob(job: Job): Promise<Reply> {
  if ('explore' in job) return { findings: await explore(job.explore) }
  const { seed, isShort } = job.play
  const { hash, tally, kinds, failure } = await (isShort
    ? playShort(seed, { keepsAll: false })
    : playLong(seed))
  return { played: { hash, tally, kinds, failure } }
}

/** A seed as it is given on the command line: `s12` is the twelfth of the short histories. */
export function nameOf({ seed, isShort }: SeedJob): string {
  return `${isShort ? 's' : ''}${seed}`
}

export function seedNamed(text: string): SeedJob {
  const match = /^(s?)(\d+)$/.exec(text)
  if (match === null) throw new RangeError(`A seed is a number, or s and a number, not "${text}"`)
  return { seed: Number(match[2]), isShort: match[1] === 's' }
}
