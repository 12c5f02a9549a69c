/**
 * Breaks the library in named ways, one at a time, in copies of it, and shows which test notices each. A mutant that
 * no test notices is a missing test, and fails the command.
 *
 *   node scripts/mutants.ts                     all of them, after the suites have passed on an unbroken copy
 *   node scripts/mutants.ts --only <substring>  those whose name or file holds it
 *   node scripts/mutants.ts --list              their names
 *   node scripts/mutants.ts --skip-unbroken     without the proof that the suites pass where nothing is broken
 *   node scripts/mutants.ts --resume            goes on where one was cut off, unless the sources have changed
 *   node scripts/mutants.ts --write-docs        writes docs/mutants.md as well
 */
import { parseArgs } from 'node:util'
import { hunt, type Result } from './mutants/hunt.ts'
import { Journal } from './mutants/journal.ts'
import { MUTANTS } from './mutants/list/index.ts'
import type { Mutant } from './mutants/mutant.ts'
import { commit, writePage } from './mutants/page.ts'
import { checkFits } from './mutants/workspace.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    list: { type: 'boolean' },
    resume: { type: 'boolean' },
    'write-docs': { type: 'boolean' },
    'skip-unbroken': { type: 'boolean' },
  },
})

const chosen = MUTANTS.filter(isChosen)
checkFits(MUTANTS)
if (new Set(MUTANTS.map(({ name }) => name)).size < MUTANTS.length)
  throw new Error('Two mutants have one name')
if (chosen.length === 0) throw new Error(`No mutant is named "${values.only}"`)
if (values['write-docs'] && (chosen.length < MUTANTS.length || values['skip-unbroken'])) {
  throw new Error('The page is written from all mutants, after the suites have passed on an unbroken copy')
}

if (values.list) {
  for (const { name, file } of chosen) console.log(`${file.padEnd(34)} ${name}`)
  console.log(`${chosen.length} mutants`)
} else {
  const startedAt = performance.now()
  const startedFrom = commit()
  const results = await hunt(chosen, {
    skipUnbroken: values['skip-unbroken'] === true,
    journal: new Journal(values.resume === true),
  })
  const minutes = (performance.now() - startedAt) / 60_000
  if (values['write-docs']) writePage(results, startedFrom)
  process.exitCode = summarize(results, minutes) ? 0 : 1
}

function isChosen({ name, file }: Mutant): boolean {
  const wanted = (values.only ?? '').toLowerCase()
  return name.toLowerCase().includes(wanted) || file.includes(wanted)
}

/** Prints what was found; answers whether all were caught. */
function summarize(results: readonly Result[], minutes: number): boolean {
  const of = (...verdicts: Result['verdict'][]) => results.filter(({ verdict }) => verdicts.includes(verdict))
  console.log(
    `\n${of('caught', 'timed out').length} of ${results.length} caught in ${minutes.toFixed(1)} minutes`,
  )
  for (const { mutant, verdict, by } of of('survived', 'unusable')) {
    console.log(`${verdict}: ${mutant.file}: ${mutant.name}${verdict === 'unusable' ? `\n${by}` : ''}`)
  }
  return of('survived', 'unusable').length === 0
}
