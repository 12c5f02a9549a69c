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

/** The suites that may catch the mutant: the test that did the last time, the likely ones, and then all. */
export function suitesFor({ name, file, suites }: Mutant): Suite[] {
  const before = caughtBefore().get(name)
  return [
    ...(before ? [single('the test of the last time', before.file, before.test)] : []),
    ...byProject('likely tests', suites),
    ...(file.startsWith('cron/') ? CRON : OTHERS),
  ]
}

/** Everything that can catch anything: it has to pass where nothing is broken. */
export function allSuites(): Suite[] {
  return [...OTHERS, ...CRON]
}

const CRON = [
  vitest('unit tests', 'node', ['src/cron/']),
  vitest('cron tests', 'node', ['test/cron/'], ALL_LIMIT_MS),
  vitest('cron in workerd', 'workerd', ['test/cron/', 'test/workerd/cron-edges.']),
]

const OTHERS = [
  vitest('unit tests', 'node', ['src/core/', 'src/experimental/', 'src/alarms/', 'src/utils/']),
  vitest('single histories', 'node', ['regressions/', 'history.', 'other-code.'].map(inSimulation)),
  simulation(),
  vitest('tests in workerd', 'workerd', ['test/workerd/'], ALL_LIMIT_MS),
]

function inSimulation(name: string): string {
  return `test/simulation/${name}`
}

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
