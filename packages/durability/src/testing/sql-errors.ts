/** The names of SQLite's primary result codes, by number. */
const CODE_NAMES: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  5: 'SQLITE_BUSY',
  6: 'SQLITE_LOCKED',
  8: 'SQLITE_READONLY',
  13: 'SQLITE_FULL',
  18: 'SQLITE_TOOBIG',
  19: 'SQLITE_CONSTRAINT',
  20: 'SQLITE_MISMATCH',
  23: 'SQLITE_AUTH',
  25: 'SQLITE_RANGE',
}

/** Which kind of constraint failed, by SQLite's extended result code. */
const CONSTRAINT_NAMES: Readonly<Record<number, string>> = {
  275: 'CHECK',
  787: 'FOREIGNKEY',
  1299: 'NOTNULL',
  1555: 'PRIMARYKEY',
  1811: 'TRIGGER',
  2067: 'UNIQUE',
  2579: 'ROWID',
  3091: 'DATATYPE',
}

/** Words an error of node:sqlite as the runtime does: `no such table: x: SQLITE_ERROR`. Others are passed through. */
export function sqlError(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error
  // The low byte is the primary code.
  const name = CODE_NAMES[error.errcode & 0xff] ?? `SQLITE_${error.errcode}`
  const constraint = CONSTRAINT_NAMES[error.errcode]
  const extended = constraint === undefined ? '' : ` (extended: SQLITE_CONSTRAINT_${constraint})`
  return new Error(`${error.message}: ${name}${extended}`, { cause: error })
}

export function notAuthorized(): Error {
  return new Error('not authorized: SQLITE_AUTH')
}
