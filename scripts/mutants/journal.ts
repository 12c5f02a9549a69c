import { createHash } from 'node:crypto'
import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Result } from './hunt.ts'
import type { Mutant } from './mutant.ts'

const ROOT = join(import.meta.dirname, '../..')
const FILE = join(ROOT, '.mutants.jsonl')
const SOURCES = ['core', 'experimental', 'alarms', 'cron', 'utils'].map(
  (folder) => `packages/durability/src/${folder}`,
)

type Line = { readonly key: string } & Omit<Result, 'mutant'>

/** What was found so far of these very sources, so that a hunt that was cut off can go on. */
export class Journal {
  readonly #sources = sourcesHash()
  readonly #lines = new Map<string, Line>()

  constructor(resumes: boolean) {
    if (!resumes) rmSync(FILE, { force: true })
    const text = existsSync(FILE) ? readFileSync(FILE, 'utf8') : ''
    for (const line of text.split('\n').filter((one) => one !== '')) {
      const read: Line = JSON.parse(line)
      this.#lines.set(read.key, read)
    }
  }

  /** Of a mutant that was caught; others are tried again. */
  resultOf(mutant: Mutant): Result | undefined {
    const line = this.#lines.get(this.#keyOf(mutant))
    return line && { mutant, verdict: line.verdict, by: line.by, seconds: line.seconds }
  }

  add({ mutant, ...found }: Result): void {
    if (found.verdict === 'caught' || found.verdict === 'timed out')
      this.#append({ key: this.#keyOf(mutant), ...found })
  }

  hasPassed(title: string): boolean {
    return this.#lines.has(this.#hash(`unbroken ${title}`))
  }

  passed(title: string, seconds: number): void {
    this.#append({ key: this.#hash(`unbroken ${title}`), verdict: 'caught', by: title, seconds })
  }

  #append(line: Line): void {
    appendFileSync(FILE, `${JSON.stringify(line)}\n`)
  }

  #keyOf({ file, name, edits }: Mutant): string {
    return this.#hash(JSON.stringify({ file, name, edits }))
  }

  #hash(text: string): string {
    return createHash('sha256').update(this.#sources).update(text).digest('hex')
  }
}

function sourcesHash(): string {
  const hash = createHash('sha256')
  for (const folder of SOURCES) {
    const files = readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).sort()
    // Not the tests: a test that is added undoes nothing that was caught.
    for (const file of files.filter((name) => /(?<!\.test)\.ts$/.test(name))) {
      hash.update(file).update(readFileSync(join(ROOT, folder, file)))
    }
  }
  return hash.digest('hex')
}
