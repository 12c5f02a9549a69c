/** What a statement may do. `control` statements (BEGIN, SAVEPOINT, ATTACH, …) are refused inside an object. */
export type StatementKind = 'read' | 'write' | 'schema' | 'control'

export interface StatementText {
  readonly text: string
  readonly kind: StatementKind
  /** How many values its placeholders take. */
  readonly parameters: number
}

/** Literals, quoted names and comments first, so that nothing inside them is taken for SQL. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|;|[A-Za-z_][\w$]*/g

/** The statements of a query that holds one or several, without the empty ones. */
export function splitStatements(query: string): readonly StatementText[] {
  const statements: StatementText[] = []
  let scan = new StatementScan()
  let start = 0
  for (const token of query.matchAll(TOKEN)) {
    if (token[0] !== ';') {
      scan.add(token[0])
    } else if (!scan.insideTrigger) {
      if (scan.words.length > 0) statements.push(scan.finish(query.slice(start, token.index)))
      start = token.index + 1
      scan = new StatementScan()
    }
  }
  if (scan.words.length > 0) statements.push(scan.finish(query.slice(start)))
  return statements
}

class StatementScan {
  readonly words: string[] = []
  #parameters = 0
  /** Open CASEs, and the trigger's own BEGIN: a trigger's body holds semicolons. */
  #openBlocks = 0
  #isTrigger = false

  get insideTrigger(): boolean {
    return this.#openBlocks > 0
  }

  add(token: string): void {
    if (token === '?') {
      this.#parameters++
    } else if (token.startsWith('?')) {
      this.#parameters = Math.max(this.#parameters, Number(token.slice(1)))
    } else if (/^[A-Za-z_]/.test(token)) {
      this.#addWord(token.toUpperCase())
    }
  }

  finish(text: string): StatementText {
    return { text: text.trim(), kind: kindOf(this.words), parameters: this.#parameters }
  }

  #addWord(word: string): void {
    this.words.push(word)
    if (word === 'TRIGGER' && this.words[0] === 'CREATE') this.#isTrigger = true
    if (!this.#isTrigger) return
    if (word === 'BEGIN' || word === 'CASE') this.#openBlocks++
    if (word === 'END') this.#openBlocks--
  }
}

const WRITES = new Set(['INSERT', 'UPDATE', 'DELETE', 'REPLACE'])
const CONTROL = new Set([
  'BEGIN',
  'COMMIT',
  'END',
  'ROLLBACK',
  'SAVEPOINT',
  'RELEASE',
  'ATTACH',
  'DETACH',
  'VACUUM',
])
const SCHEMA = new Set(['CREATE', 'DROP', 'ALTER', 'ANALYZE', 'REINDEX'])

function kindOf(words: readonly string[]): StatementKind {
  const first = words[0] ?? ''
  if (WRITES.has(first)) return 'write'
  if (SCHEMA.has(first)) return 'schema'
  if (CONTROL.has(first)) return 'control'
  const writes = first === 'WITH' && words.some((word, index) => isWriteInWith(word, words[index + 1]))
  // What is no SQL at all is refused in time, when SQLite is to prepare it.
  return writes ? 'write' : 'read'
}

/** `replace` is also the name of a function, and `update` can follow `ON CONFLICT DO` only in a write. */
function isWriteInWith(word: string, next: string | undefined): boolean {
  return (
    word === 'UPDATE' ||
    ((word === 'INSERT' || word === 'REPLACE') && next === 'INTO') ||
    (word === 'DELETE' && next === 'FROM')
  )
}
