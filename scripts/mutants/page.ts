import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Result } from './hunt.ts'

const ROOT = join(import.meta.dirname, '../..')

/** The pinned versions that a result depends on. */
const TOOLS = ['node', 'vitest', '@cloudflare/vitest-pool-workers', 'wrangler']

const PAGE = join(ROOT, 'docs/mutants.md')

export function writePage(results: readonly Result[], commit: string): void {
  writeFileSync(PAGE, pageOf(results, commit))
}

/** By a mutant's name, the test that the page names: it is tried first. */
export function caughtBefore(): Map<string, { readonly file: string; readonly test: string }> {
  const text = existsSync(PAGE) ? readFileSync(PAGE, 'utf8') : ''
  const rows = text.matchAll(/^\| (.*?) \| `(\S+\.test\.ts)` › (.*) \| \d+ s \|$/gm)
  return new Map(
    [...rows].map(([, name = '', file = '', test = '']) => [plain(name), { file, test: plain(test) }]),
  )
}

function pageOf(results: readonly Result[], commit: string): string {
  const caught = results.filter(({ verdict }) => verdict === 'caught' || verdict === 'timed out')
  const minutes = results.reduce((sum, { seconds }) => sum + seconds, 0) / 60
  const files = [...new Set(results.map(({ mutant }) => mutant.file))]
  return `<!-- biome-ignore-all format: a longer row would rewrite its whole table -->

# Mutants

Ways to break the library, and the test that notices each. Written by \`node scripts/mutants.ts --write-docs\`; the mutants
are in \`scripts/mutants/list\`.

Each mutant is one small change of the sources, of the kind that a maintainer could make. It still compiles. It is made in a
copy of the repository, and tests run until one fails; a file that cannot be loaded does not count. Before that, the same
tests pass on a copy in which nothing is broken. The test that is named is the first that failed, not the only one that would.

- ${caught.length} of ${results.length} caught, two copies at a time, in ${minutes.toFixed(0)} minutes of tests in all
- ${new Date().toISOString().slice(0, 10)}, at \`${commit}\`, with ${versions()}

${files.map((file) => tableOf(file, results)).join('\n\n')}

${readFileSync(join(import.meta.dirname, 'equivalent.md'), 'utf8').trim()}
`
}

function tableOf(file: string, results: readonly Result[]): string {
  const rows = results
    .filter(({ mutant }) => mutant.file === file)
    .map(({ mutant, verdict, by, seconds }) => {
      const test = verdict === 'caught' || verdict === 'timed out' ? named(by, verdict) : `**${verdict}**`
      return `| ${cell(mutant.name)} | ${test} | ${seconds.toFixed(0)} s |`
    })
  return `## ${file}\n\n| what is broken | caught by | after |\n|---|---|---:|\n${rows.join('\n')}`
}

function named(by: string, verdict: string): string {
  const [file = '', name] = by.split(' › ')
  const how = verdict === 'timed out' ? ' (did not end)' : ''
  return `\`${file}\`${name === undefined ? '' : ` › ${cell(name)}`}${how}`
}

/** A text as it may stand in a table. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;')
}

function plain(cell: string): string {
  return cell.replaceAll('\\|', '|').replaceAll('&lt;', '<')
}

/** Of the sources as they are now. */
export function commit(): string {
  return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { cwd: ROOT, encoding: 'utf8' }).trim()
}

function versions(): string {
  const { devDependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  return TOOLS.map((name) => `${name} ${devDependencies[name]}`).join(', ')
}
