import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { broken, type Mutant } from './mutant.ts'

const ROOT = join(import.meta.dirname, '../..')
export const PACKAGE = 'packages/durability'

/** What the tests need of the repository. */
const COPIED = [
  'packages',
  'examples',
  'scripts',
  'package.json',
  'tsconfig.base.json',
  'tsconfig.json',
  'vitest.config.ts',
  'wrangler.toml',
]
const LEFT_OUT = new Set(['node_modules', 'dist', '.wrangler'])

/** Where a mutant's file is, in the repository or in a copy of it. */
const pathOf = ({ file }: Mutant, root = ROOT) => join(root, PACKAGE, 'src', file)

/** Throws when a mutant no longer fits the sources. */
export function checkFits(mutants: readonly Mutant[]): void {
  const misfits = mutants.flatMap((mutant) => {
    try {
      broken(mutant, readFileSync(pathOf(mutant), 'utf8'))
      return []
    } catch (error) {
      return [error instanceof Error ? error.message : String(error)]
    }
  })
  if (misfits.length > 0) throw new Error(`Mutants that no longer fit:\n\n${misfits.join('\n\n')}`)
}

/** A copy of the repository outside of it, for one mutant at a time. Gone when this process is, whatever ends it. */
export class Workspace {
  readonly path: string = mkdtempSync(join(tmpdir(), 'durability-mutants-'))

  constructor() {
    process.on('exit', () => this.#remove())
    for (const name of COPIED) {
      cpSync(join(ROOT, name), join(this.path, name), {
        recursive: true,
        filter: (source) => !LEFT_OUT.has(basename(source)),
      })
    }
    this.#linkModules()
  }

  /** Breaks the copy, lets `work` look at it, and mends it. */
  async with<T>(mutant: Mutant, work: () => Promise<T>): Promise<T> {
    const path = pathOf(mutant, this.path)
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, broken(mutant, text))
    try {
      return await work()
    } finally {
      writeFileSync(path, text)
    }
  }

  #remove(): void {
    rmSync(this.path, { recursive: true, force: true, maxRetries: 3 })
  }

  /** One link for each module: tools keep their caches beside them, and our own package is the copied one. */
  #linkModules(): void {
    const modules = join(this.path, 'node_modules')
    mkdirSync(modules)
    for (const name of readdirSync(join(ROOT, 'node_modules'))) {
      const target = name === 'durability' ? join(this.path, PACKAGE) : join(ROOT, 'node_modules', name)
      if (!name.startsWith('.') || name === '.bin') symlinkSync(target, join(modules, name))
    }
  }
}
