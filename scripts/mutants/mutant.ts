/** A replacement of a text that occurs exactly once in the file. */
export type Edit = readonly [find: string, replace: string]

/** One named way to break the library. It compiles: what it breaks is behaviour. */
export interface Mutant {
  /** A sentence: what is broken. */
  readonly name: string
  /** Under `packages/durability/src/`. */
  readonly file: string
  readonly edits: readonly Edit[]
  /** Test files, under `packages/durability/`, that are tried first. Only speed depends on them. */
  readonly suites: readonly string[]
}

/** The text of the file with the mutant in it. @throws Error when the mutant no longer fits the file. */
export function broken(mutant: Mutant, text: string): string {
  return mutant.edits.reduce((before, [find, replace]) => {
    const occurrences = before.split(find).length - 1
    if (occurrences !== 1) {
      const where = `"${mutant.name}" (${mutant.file})`
      throw new Error(`${where}: its text occurs ${occurrences} times, not once:\n${find}`)
    }
    return before.replace(find, () => replace)
  }, text)
}

/** Short for the lists: `[name, find, replace]`, or `[name, [[find, replace], …]]`, then the suites if not the usual. */
export type Entry =
  | readonly [name: string, find: string, replace: string, suites?: readonly string[]]
  | readonly [name: string, edits: readonly Edit[], suites?: readonly string[]]

/** The mutants of one file, and the suites that usually catch them. */
export function mutantsOf(file: string, usual: readonly string[], entries: readonly Entry[]): Mutant[] {
  return entries.map((entry) => {
    if (isSingle(entry)) {
      const [name, find, replace, suites = usual] = entry
      return { name, file, edits: [[find, replace]], suites }
    }
    const [name, edits, suites = usual] = entry
    return { name, file, edits, suites }
  })
}

function isSingle(entry: Entry): entry is Extract<Entry, readonly [string, string, string, ...unknown[]]> {
  return typeof entry[1] === 'string'
}
