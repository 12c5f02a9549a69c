import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Mutant } from './mutant.ts'
import { runNode } from './process.ts'
import { PACKAGE } from './workspace.ts'

/** What a suite said of the copy it ran in. */
export type Verdict =
  | { readonly kind: 'passed' }
  /** A test ran and failed: `test` is its file and name. One that keeps real time has to pass on the mended copy. */
  | { readonly kind: 'failed'; readonly test: string; readonly again?: Suite }
  | { readonly kind: 'timed out'; readonly test: string }
  /** Nothing was shown: a file could not be loaded, or the tool itself failed. */
  | { readonly kind: 'unusable'; readonly reason: string }

export interface Suite {
  readonly title: string
  run(root: string): Promise<Verdict>
}

/** ms. Far longer than any file takes, so that only what never ends gets there. */
const FILE_LIMIT_MS = 180_000
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
    return { kind: 'passed' }
  },
}

/** The suites that may catch the mutant, the quick and the likely ones first. */
export function suitesFor({ file, suites }: Mutant): Suite[] {
  return [...byProject(suites), ...(file.startsWith('cron/') ? CRON : OTHERS)]
}

/** Everything that can catch anything: it has to pass where nothing is broken. */
export function allSuites(): Suite[] {
  return [...OTHERS, ...CRON]
}

const WORKERD = '.workerd.test.ts'

function byProject(files: readonly string[]): Suite[] {
  const inWorkerd = files.filter((file) => file.endsWith(WORKERD))
  const inNode = files.filter((file) => !file.endsWith(WORKERD))
  return [
    ...(inNode.length > 0 ? [vitest('likely tests', 'node', inNode, FILE_LIMIT_MS)] : []),
    ...(inWorkerd.length > 0 ? [vitest('likely tests in workerd', 'workerd', inWorkerd, FILE_LIMIT_MS)] : []),
  ]
}

const CRON = [
  vitest('unit tests', 'node', ['src/cron/'], FILE_LIMIT_MS),
  vitest('cron tests', 'node', ['test/cron/'], ALL_LIMIT_MS),
  vitest('cron in workerd', 'workerd', ['test/cron/'], FILE_LIMIT_MS),
]

const OTHERS = [
  vitest(
    'unit tests',
    'node',
    ['src/core/', 'src/experimental/', 'src/alarms/', 'src/utils/'],
    FILE_LIMIT_MS,
  ),
  simulation(),
  vitest('tests in workerd', 'workerd', ['test/workerd/'], ALL_LIMIT_MS),
]

interface Report {
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

function vitest(
  title: string,
  project: 'node' | 'workerd',
  files: readonly string[],
  limitMs: number,
  name?: string,
): Suite {
  return {
    title,
    async run(root) {
      const report = join(root, 'report.json')
      rmSync(report, { force: true })
      const { code, output } = await runNode(
        root,
        [
          'node_modules/vitest/vitest.mjs',
          'run',
          ...['--project', project, '--bail', '1', '--maxWorkers', '1'],
          ...['--reporter', 'json', '--outputFile', report],
          ...(name === undefined ? [] : ['-t', `^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`]),
          ...files.map((file) => `${PACKAGE}/${file}`),
        ],
        limitMs,
      )
      if (code === undefined) return { kind: 'timed out', test: files.join(', ') }
      if (code === 0) return { kind: 'passed' }
      if (!existsSync(report)) return { kind: 'unusable', reason: output }
      return verdictOf(JSON.parse(readFileSync(report, 'utf8')), root, output)
    },
  }
}

function verdictOf({ testResults }: Report, root: string, output: string): Verdict {
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed')
    if (!failed) continue
    const file = relative(join(root, PACKAGE), name)
    const test = `${file} › ${failed.fullName}`
    if (!file.endsWith(WORKERD)) return { kind: 'failed', test }
    return {
      kind: 'failed',
      test,
      again: vitest('the same test, mended', 'workerd', [file], FILE_LIMIT_MS, failed.fullName),
    }
  }
  const unloaded = testResults.find(({ status }) => status === 'failed')
  return { kind: 'unusable', reason: unloaded?.message ?? output }
}

/** The simulation's own command, which stops at the first promise that is broken. */
function simulation(): Suite {
  const tests = vitest('simulation', 'node', ['test/simulation/'], ALL_LIMIT_MS)
  const command = 'scripts/simulate.ts'
  return {
    title: 'simulation',
    async run(root) {
      if (!existsSync(join(root, command))) return tests.run(root)
      const { code } = await runNode(root, [command, '--quick'], ALL_LIMIT_MS)
      if (code === 0) return { kind: 'passed' }
      if (code === undefined) return { kind: 'timed out', test: `${command} --quick` }
      return { kind: 'failed', test: `${command} --quick` }
    },
  }
}

/** Files that a mutant names but that are not there, so that a renamed test is noticed. */
export function missingSuites(root: string, mutants: readonly Mutant[]): string[] {
  const names = new Set(mutants.flatMap(({ suites }) => suites))
  const files = new Set(readdirSync(join(root, PACKAGE), { recursive: true, encoding: 'utf8' }))
  return [...names].filter((name) => !files.has(name))
}
