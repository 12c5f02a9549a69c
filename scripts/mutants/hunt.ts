import type { Journal } from './journal.ts'
import type { Mutant } from './mutant.ts'
import { Progress } from './progress.ts'
import { allSuites, compiles, missingSuites, suitesFor } from './suites.ts'
import type { Suite, Verdict } from './vitest.ts'
import { Workspace } from './workspace.ts'

/** What became of one mutant. */
export interface Result {
  readonly mutant: Mutant
  readonly verdict: 'caught' | 'timed out' | 'survived' | 'unusable'
  /** The test that caught it, or why it could not be used. */
  readonly by: string
  readonly seconds: number
}

/** Copies at work at once. Suites with timers are shown by slow machines to fail for other reasons. */
const WORKERS = 2
/** So often a suite is run anew after a failure that did not happen again. */
const MAX_RERUNS = 2

/** Tries every mutant. Rejects when the suites do not pass where nothing is broken. */
export async function hunt(
  mutants: readonly Mutant[],
  { skipUnbroken, journal }: { readonly skipUnbroken: boolean; readonly journal: Journal },
): Promise<Result[]> {
  const workspaces = Array.from({ length: WORKERS }, () => new Workspace())
  const progress = new Progress()
  try {
    const missing = workspaces[0] ? missingSuites(workspaces[0].path, mutants) : []
    if (missing.length > 0) throw new Error(`Mutants name tests that do not exist: ${missing.join(', ')}`)
    if (skipUnbroken) console.log('Not shown: that the suites pass on the unbroken library')
    else
      await side(
        workspaces,
        [compiles, ...allSuites()].filter(({ title }) => !journal.hasPassed(title)),
        (workspace, suite) => pass(workspace, suite, progress, journal),
      )
    const results = mutants.flatMap((mutant) => journal.resultOf(mutant) ?? [])
    if (results.length > 0) console.log(`${results.length} were tried before, on the same sources`)
    const left = mutants.filter((mutant) => journal.resultOf(mutant) === undefined)
    await side(workspaces, left, async (workspace, mutant) => {
      const result = await tryOne(workspace, mutant, progress)
      results.push(result)
      journal.add(result)
      progress.say(lineOf(result, results.length, mutants.length))
    })
    // In the order of the list.
    return mutants.flatMap((mutant) => results.filter((result) => result.mutant === mutant))
  } finally {
    progress.end()
  }
}

/** Gives each item to the next workspace that is free. */
async function side<Item>(
  workspaces: readonly Workspace[],
  items: readonly Item[],
  work: (workspace: Workspace, item: Item) => Promise<void>,
): Promise<void> {
  const left = [...items]
  await Promise.all(
    workspaces.map(async (workspace) => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) await work(workspace, item)
    }),
  )
}

async function pass(workspace: Workspace, suite: Suite, progress: Progress, journal: Journal): Promise<void> {
  const startedAt = performance.now()
  const run = (one: Suite) => progress.during(`unbroken: ${one.title}`, () => one.run(workspace.path))
  const verdict = await steady(suite, run)
  if (verdict.kind !== 'passed') throw new Error(`Unbroken, but not passed: ${JSON.stringify(verdict)}`)
  journal.passed(suite.title, secondsSince(startedAt))
  progress.say(`unbroken: ${suite.title} passed in ${secondsSince(startedAt).toFixed(1)} s`)
}

async function tryOne(workspace: Workspace, mutant: Mutant, progress: Progress): Promise<Result> {
  const startedAt = performance.now()
  const run = (suite: Suite) =>
    progress.during(`${mutant.name}: ${suite.title}`, () => suite.run(workspace.path))
  const ended = (verdict: Result['verdict'], by: string): Result => ({
    mutant,
    verdict,
    by,
    seconds: secondsSince(startedAt),
  })

  const verdict = await workspace.with(mutant, async () => {
    for (const suite of [compiles, ...suitesFor(mutant)]) {
      const said = await steady(suite, run)
      if (said.kind !== 'passed') return said
    }
    return undefined
  })
  if (verdict === undefined) return ended('survived', '')
  if (verdict.kind === 'unusable') return ended('unusable', verdict.reason)
  if (verdict.kind === 'timed out') return ended('timed out', verdict.test)
  return ended('caught', verdict.test)
}

/** What the suite says, when it says so twice: a test that keeps real time may fail because the machine is busy. */
async function steady(suite: Suite, run: (suite: Suite) => Promise<Verdict>): Promise<Verdict> {
  for (let left = MAX_RERUNS; ; left -= 1) {
    const said = await run(suite)
    if (said.kind !== 'failed' || !said.again) return said
    const again = await run(said.again)
    if (!(again.kind === 'passed' && again.tests > 0)) return said
    if (left === 0) return { kind: 'unusable', reason: `Fails now and then: ${said.test}` }
  }
}

function lineOf({ mutant, verdict, by, seconds }: Result, done: number, all: number): string {
  const where = verdict === 'caught' || verdict === 'timed out' ? `\n        by ${by}` : ''
  return `${String(done).padStart(3)}/${all} ${verdict.padEnd(9)} ${seconds.toFixed(1).padStart(6)} s  ${mutant.name}${where}`
}

function secondsSince(startedAt: number): number {
  return (performance.now() - startedAt) / 1_000
}
