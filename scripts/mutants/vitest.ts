import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join, relative } from 'node:path'
import { runNode } from './process.ts'
import { PACKAGE } from './workspace.ts'

/** What a suite said of the copy it ran in. */
export type Verdict =
  | { readonly kind: 'passed'; readonly tests: number }
  /** A test ran and failed: `test` is its file and name. `again` is that test alone, where it depends on real time. */
  | { readonly kind: 'failed'; readonly test: string; readonly again?: Suite }
  | { readonly kind: 'timed out'; readonly test: string }
  /** Nothing was shown: a file could not be loaded, or the tool itself failed. */
  | { readonly kind: 'unusable'; readonly reason: string }

export interface Suite {
  readonly title: string
  run(root: string): Promise<Verdict>
}

/** ms. Far longer than any file takes, so that only what never ends gets there. */
export const FILE_LIMIT_MS = 180_000

const WORKERD = '.workerd.test.ts'
const NODE_CONFIG = 'scripts/mutants/node-tests.config.ts'

/** Test files by where they run. */
export function byProject(title: string, files: readonly string[]): Suite[] {
  const inWorkerd = files.filter((file) => file.endsWith(WORKERD))
  const inNode = files.filter((file) => !file.endsWith(WORKERD))
  return [
    ...(inNode.length > 0 ? [vitest(title, 'node', inNode)] : []),
    ...(inWorkerd.length > 0 ? [vitest(title, 'workerd', inWorkerd)] : []),
  ]
}

/** One test, by the name that it is reported under. */
export function single(title: string, file: string, name: string): Suite {
  const pattern = `^${name.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`
  return vitest(title, file.endsWith(WORKERD) ? 'workerd' : 'node', [file], FILE_LIMIT_MS, ['-t', pattern])
}

/** Files or folders under `packages/durability/`, up to the first test that fails. */
export function vitest(
  title: string,
  project: 'node' | 'workerd',
  files: readonly string[],
  limitMs: number = FILE_LIMIT_MS,
  more: readonly string[] = [],
): Suite {
  return {
    title,
    async run(root) {
      const path = join(root, 'report.json')
      rmSync(path, { force: true })
      const { code, output } = await runNode(
        root,
        [
          'node_modules/vitest/vitest.mjs',
          'run',
          ...(project === 'node' ? ['--config', NODE_CONFIG] : ['--project', project]),
          ...['--bail', '1', '--maxWorkers', '1'],
          ...['--reporter', 'json', '--outputFile', path],
          ...['--root', '.', ...more],
          ...files.map((file) => `${PACKAGE}/${file}`),
        ],
        limitMs,
      )
      if (code === undefined) return { kind: 'timed out', test: files.join(', ') }
      if (!existsSync(path)) return { kind: 'unusable', reason: output }
      const report: Report = JSON.parse(readFileSync(path, 'utf8'))
      if (code === 0) return { kind: 'passed', tests: report.numPassedTests }
      return verdictOf(report, root, output)
    },
  }
}

/** What is read of vitest's JSON report. */
interface Report {
  readonly numPassedTests: number
  readonly testResults: readonly {
    readonly name: string
    readonly status: string
    readonly message: string
    readonly assertionResults: readonly { readonly status: string; readonly fullName: string }[]
  }[]
}

function verdictOf({ testResults }: Report, root: string, output: string): Verdict {
  for (const { name, assertionResults } of testResults) {
    const failed = assertionResults.find(({ status }) => status === 'failed')
    if (!failed) continue
    const file = relative(join(root, PACKAGE), name)
    const test = `${file} › ${failed.fullName}`
    if (!file.endsWith(WORKERD)) return { kind: 'failed', test }
    return { kind: 'failed', test, again: single('the same test again', file, failed.fullName) }
  }
  const unloaded = testResults.find(({ status }) => status === 'failed')
  return { kind: 'unusable', reason: unloaded?.message ?? output }
}
