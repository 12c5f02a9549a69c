import type { Progress } from './progress.ts'
import { type Summary, summaryOf } from './statistics.ts'
import type { WorkerProcess } from './worker-process.ts'

/** What one run took, µs: on the CPU, over all threads of the process, and by the clock. */
export interface Took {
  readonly cpuUs: number
  readonly wallUs: number
}

export interface Compared {
  readonly cpuUs: Summary
  readonly wallUs: Summary
  /** Over the rounds, this one divided by the loop of the same round. */
  readonly cpuRatio: Summary
  readonly wallRatio: Summary
}

/** The time of `runs` runs, for each of them. */
export async function timed(
  worker: WorkerProcess,
  runs: number,
  work: () => Promise<unknown>,
): Promise<Took> {
  const cpuMs = worker.cpuMs()
  const startedAt = performance.now()
  await work()
  const wallMs = performance.now() - startedAt
  return { cpuUs: ((worker.cpuMs() - cpuMs) / runs) * 1_000, wallUs: (wallMs / runs) * 1_000 }
}

/**
 * Measures each subject once in every round, in turns from the first to the last and from the last to the first: what
 * else the machine does meanwhile falls on all of them. The first rounds, in which code is still being compiled, do
 * not count.
 */
export async function interleaved<Name extends string>(
  names: readonly Name[],
  options: {
    readonly rounds: number
    readonly warmUp: number
    readonly progress: Progress
    readonly what: string
  },
  measure: (name: Name, round: number) => Promise<Took>,
): Promise<Record<Name, Took[]>> {
  const { rounds, warmUp, progress, what } = options
  const samples = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, Took[]> // one for each
  for (let round = 0; round < warmUp + rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const took = await measure(name, round)
      if (round >= warmUp) samples[name].push(took)
    }
    progress(`${what}, round ${round + 1} of ${warmUp + rounds}`)
  }
  return samples
}

/** Each subject beside the loop, round by round. */
export function comparedWithLoop<Name extends string>(
  samples: Record<Name, Took[]>,
  loop: NoInfer<Name>,
): Record<Name, Compared> {
  const base = samples[loop]
  const ratios = (own: readonly Took[], key: keyof Took) =>
    summaryOf(own.map((took, round) => took[key] / (base[round]?.[key] ?? Number.NaN)))
  const entries = Object.entries<Took[]>(samples).map(([name, own]) => [
    name,
    {
      cpuUs: summaryOf(own.map(({ cpuUs }) => cpuUs)),
      wallUs: summaryOf(own.map(({ wallUs }) => wallUs)),
      cpuRatio: ratios(own, 'cpuUs'),
      wallRatio: ratios(own, 'wallUs'),
    },
  ])
  return Object.fromEntries(entries) as Record<Name, Compared> // the same names
}

/** CPU per run, round by round, in relation to that of other samples of the same subject. */
export function growth(samples: readonly Took[], base: readonly Took[]): Summary {
  return summaryOf(samples.map(({ cpuUs }, round) => cpuUs / (base[round]?.cpuUs ?? Number.NaN)))
}
