import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { caughtBefore } from './page.ts'
import { runNode } from './process.ts'
import { byProject, FILE_LIMIT_MS, type Suite, single, vitest } from './vitest.ts'
import { PACKAGE } from './workspace.ts'

/** ms. The same for whole folders. */
const ALL_LIMIT_MS = 900_000

/** Type-checks what ships and loads it, as Node does, without its types: what fails here was never a mutant. */
export const compiles: Suite = {
  title: 'compiles',
  async run(root) {
    const tsc = ['node_modules/typescript/bin/tsc', '-p', `${PACKAGE}/tsconfig.build.json`, '--noEmit']
    const unused = ['--noUnusedLocals', 'false', '--noUnusedParameters', 'false']
    const load = ['index', 'experimental/index', 'cron/index', 'utils/index']
      .map((entry) => `await import('./${PACKAGE}/src/${entry}.ts')`)
      .join('\n')
    for (const args of [
      [...tsc, ...unused],
      ['--input-type=module', '-e', load],
    ]) {
      const { code, output } = await runNode(root, args, FILE_LIMIT_MS)
      if (code !== 0) return { kind: 'unusable', reason: output }
    }
    return { kind: 'passed', tests: 0 }
  },
}

/** The suites that may catch the mutant: the test that did the last time, what is quick, what is likely, and all. */
export function suitesFor({ name, file, suites }: Mutant): Suite[] {
  const before = caughtBefore().get(name)
  const [quick, ...slow] = file.startsWith('cron/') ? CRON : OTHERS
  return [
    ...(before ? [single('the test of the last time', before.file, before.test)] : []),
    quick,
    ...byProject('likely tests', suites),
    ...slow,
  ]
}

/** Everything that can catch anything: it has to pass where nothing is broken. */
export function allSuites(): Suite[] {
  return [...OTHERS, ...CRON]
}

const CRON: readonly [Suite, ...Suite[]] = [
  vitest('unit tests', 'node', ['src/cron/', 'test/cron/cron.node.']),
  vitest(
    'cron tests',
    'node',
    ['cron.', 'host-zones.', 'reference.'].map((file) => `test/cron/${file}node.`),
  ),
  // By itself: it measures the heap, which files that are not kept apart share.
  vitest('cron budget', 'node', ['test/cron/budget.']),
  vitest('cron in workerd', 'workerd', ['test/cron/', 'test/workerd/cron-edges.']),
]

const OTHERS: readonly [Suite, ...Suite[]] = [
  vitest('unit tests and single histories', 'node', [
    ...['core', 'experimental', 'alarms', 'utils'].map((folder) => `src/${folder}/`),
    ...['regressions/', 'history.', 'other-code.'].map((tests) => `test/simulation/${tests}`),
  ]),
  simulation(),
  vitest('tests in workerd', 'workerd', ['test/workerd/'], ALL_LIMIT_MS),
]

/** The simulation's own command, which stops at the first promise that is broken. */
function simulation(): Suite {
  const command = 'scripts/simulate.ts'
  return {
    title: 'simulation',
    async run(root) {
      const { code, output } = await runNode(root, [command, '--quick'], ALL_LIMIT_MS)
      if (code === 0) return { kind: 'passed', tests: 1 }
      if (code === undefined) return { kind: 'timed out', test: command }
      const [, about, violation] = /VIOLATION\n(.*)\n(.*)/.exec(output) ?? []
      if (about === undefined) return { kind: 'unusable', reason: output }
      return { kind: 'failed', test: `${command} › ${about}: ${violation}` }
    },
  }
}

/** Files that a mutant names but that are not there, so that a renamed test is noticed. */
export function missingSuites(root: string, mutants: readonly Mutant[]): string[] {
  const names = new Set(mutants.flatMap(({ suites }) => suites))
  const files = new Set(readdirSync(join(root, PACKAGE), { recursive: true, encoding: 'utf8' }))
  return [...names].filter((name) => !files.has(name))
}
