/** What a statement may do. `refused` statements may not be run by an object's code at all. */
export type StatementKind = 'read' | 'write' | 'schema' | 'refused'

export interface StatementText {
  readonly text: string
  readonly kind: StatementKind
  /** The placeholders by their position: `:a` or `?2`; `undefined` for a plain `?`. */
  readonly parameters: readonly (string | undefined)[]
  /** Some of them are not plain. */
  readonly hasNames: boolean
  /** A write that gives rows. */
  readonly isReturning: boolean
  /** Why the runtime would not run it. */
  readonly refusal?: string
}

/** The platform's limit of values bound to one statement. */
export const MAX_PARAMETERS = 100

/** Literals, quoted names and comments first, so that nothing inside them is taken for SQL. */
const TOKEN =
  /'(?:[^']|'')*'|"(?:[^"]|"")*"|`[^`]*`|\[[^\]]*\]|--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|\?\d*|;|[:@$]?[A-Za-z_][\w$]*/g

/**
 * The statements of a query that holds one or several. As in the runtime, empty ones are left out, but for what follows
 * the last: that is refused.
 */
export function splitStatements(query: string): readonly StatementText[] {
  const statements: StatementText[] = []
  let scan = new StatementScan()
  let start = 0
  let end = 0
  for (const token of query.matchAll(TOKEN)) {
    if (token[0] !== ';') {
      scan.add(token[0])
    } else if (!scan.insideTrigger) {
      if (scan.words.length > 0) {
        // With its semicolon, which is where SQLite says that something is missing.
        statements.push(scan.finish(query.slice(start, token.index + 1)))
        end = token.index + 1
      }
      start = token.index + 1
      scan = new StatementScan()
    }
  }
  if (scan.words.length > 0) statements.push(scan.finish(query.slice(start)))
  else if (statements.length === 0 || query.slice(end).trim() !== '') statements.push(NO_STATEMENT)
  return statements
}

const NO_STATEMENT: StatementText = {
  text: '',
  kind: 'refused',
  parameters: [],
  hasNames: false,
  isReturning: false,
  refusal: 'SQL code did not contain a statement.',
}

class StatementScan {
  readonly words: string[] = []
  readonly #parameters: (string | undefined)[] = []
  /** Open CASEs, and the trigger's own BEGIN: a trigger's body holds semicolons. */
  #openBlocks = 0
  #isTrigger = false

  get insideTrigger(): boolean {
    return this.#openBlocks > 0
  }

  add(token: string): void {
    if (token.startsWith('?')) this.#addNumbered(token)
    else if (/^[:@$]/.test(token)) this.#addNamed(token)
    else if (/^[A-Za-z_]/.test(token)) this.#addWord(token.toUpperCase())
  }

  finish(text: string): StatementText {
    const refusal = refusalOf(this.words)
    const kind = refusal === undefined ? kindOf(this.words) : 'refused'
    return {
      text: text.trim(),
      kind,
      parameters: this.#parameters,
      hasNames: this.#parameters.some((name) => name !== undefined),
      isReturning: kind === 'write' && this.words.includes('RETURNING'),
      ...(refusal === undefined ? {} : { refusal }),
    }
  }

  /** `?` takes the next position, `?3` the third, with those before it. */
  #addNumbered(token: string): void {
    const position = token === '?' ? this.#parameters.length + 1 : Number(token.slice(1))
    while (this.#parameters.length < Math.min(position, MAX_PARAMETERS + 1)) this.#parameters.push(undefined)
    if (token !== '?') this.#parameters[position - 1] = token
  }

  #addNamed(name: string): void {
    if (!this.#parameters.includes(name)) this.#parameters.push(name)
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
const SCHEMA = new Set(['CREATE', 'DROP', 'ALTER', 'ANALYZE', 'REINDEX'])
const TRANSACTION = new Set(['BEGIN', 'COMMIT', 'END', 'ROLLBACK', 'SAVEPOINT', 'RELEASE'])

/** The pragmas an object may use, also as functions (`pragma_table_info`). `user_version` is not among them. */
const PRAGMAS = new Set(
  [
    'table_info table_xinfo index_info index_xinfo table_list index_list function_list foreign_keys foreign_key_list',
    'foreign_key_check defer_foreign_keys case_sensitive_like ignore_check_constraints legacy_alter_table',
    'recursive_triggers reverse_unordered_selects quick_check optimize data_version',
  ]
    .join(' ')
    .toUpperCase()
    .split(' '),
)

const NOT_AUTHORIZED = 'not authorized: SQLITE_AUTH'

function refusalOf(words: readonly string[]): string | undefined {
  const [first = '', second = ''] = words
  if (TRANSACTION.has(first)) {
    return "To execute a transaction, please use the state.storage.transaction() or state.storage.transactionSync() APIs instead of the SQL BEGIN TRANSACTION or SAVEPOINT statements. The JavaScript API is safer because it will automatically roll back on exceptions, and because it interacts correctly with Durable Objects' automatic atomic write coalescing."
  }
  if (first === 'VACUUM') return 'cannot VACUUM from within a transaction: SQLITE_ERROR'
  const isRefused =
    first === 'ATTACH' ||
    first === 'DETACH' ||
    (first === 'CREATE' && /^TEMP(ORARY)?$/.test(second)) ||
    (first === 'PRAGMA' && !PRAGMAS.has(second)) ||
    words.some((word) => /^_CF_/.test(word) || (/^PRAGMA_/.test(word) && !PRAGMAS.has(word.slice(7))))
  return isRefused ? NOT_AUTHORIZED : undefined
}

function kindOf(words: readonly string[]): StatementKind {
  const first = words[0] ?? ''
  if (WRITES.has(first)) return 'write'
  if (SCHEMA.has(first)) return 'schema'
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
