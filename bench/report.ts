/** Puts the latest results into docs/performance.md, and draws the chart beside it. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Compared } from './host/interleaved.ts'
import { LIBRARY, LOOP, PEERS } from './host/subjects.ts'
import { latestResults, RESULTS, type Results } from './results.ts'
import { NAMES, tablesOf } from './tables.ts'

const ROOT = join(import.meta.dirname, '..')
const PAGE = join(ROOT, 'docs/performance.md')
const CHART = join(ROOT, 'docs/assets/performance.svg')

/** What `peers/chart.ts` exports: it is a package of its own, with the library that draws. */
interface ChartModule {
  chartOf(title: string, rows: readonly ChartRow[]): Promise<string>
}

interface ChartRow {
  readonly group: string
  readonly name: string
  readonly ratio: number
  readonly q1: number
  readonly q3: number
}

/** Between `<!-- name -->` and `<!-- /name -->` stands what was measured. */
function filled(page: string, tables: Readonly<Record<string, string>>): string {
  return Object.entries(tables).reduce((text, [name, content]) => {
    const [before, rest] = text.split(`<!-- ${name} -->`)
    const [, after] = rest?.split(`<!-- /${name} -->`) ?? []
    if (before === undefined || after === undefined) throw new Error(`The page has no place for ${name}`)
    return `${before}<!-- ${name} -->\n\n${content}\n\n<!-- /${name} -->${after}`
  }, page)
}

function chartRows({ times, peers }: Results): ChartRow[] {
  const row = (group: string, subject: string, { cpuRatio: { median, q1, q3 } }: Compared) => ({
    group,
    name: (NAMES[subject] ?? subject).replaceAll('`', ''),
    ratio: median,
    q1,
    q3,
  })
  const group = (title: string, byName: Readonly<Record<string, Compared>>) =>
    [LIBRARY, LOOP, ...PEERS].flatMap((subject) => {
      const compared = byName[subject]
      return compared ? [row(title, subject, compared)] : []
    })
  const { calling, empty } = peers?.times ?? times.memory ?? times.disk
  return [...group('handlers that call another object', calling), ...group('empty handlers', empty)]
}

const results = latestResults()
const { chartOf } = (await import(new URL('./peers/chart.ts', import.meta.url).href)) as ChartModule
writeFileSync(PAGE, filled(readFileSync(PAGE, 'utf8'), tablesOf(results)))
writeFileSync(CHART, `${await chartOf('CPU time of one run, objects in memory', chartRows(results))}\n`)
execFileSync('biome', ['format', '--write', PAGE, RESULTS], { cwd: ROOT, stdio: 'inherit' })
