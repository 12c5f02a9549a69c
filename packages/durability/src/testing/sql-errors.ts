/** The names of SQLite's primary result codes, by number. */
const CODE_NAMES: Readonly<Record<number, string>> = {
  1: 'SQLITE_ERROR',
  4: 'SQLITE_ABORT',
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

/** What SQLite's extended result codes add, where the runtime names them. */
const EXTENDED_NAMES: Readonly<Record<number, string>> = {
  275: 'SQLITE_CONSTRAINT_CHECK',
  516: 'SQLITE_ABORT_ROLLBACK',
  787: 'SQLITE_CONSTRAINT_FOREIGNKEY',
  1299: 'SQLITE_CONSTRAINT_NOTNULL',
  1555: 'SQLITE_CONSTRAINT_PRIMARYKEY',
  1811: 'SQLITE_CONSTRAINT_TRIGGER',
  2067: 'SQLITE_CONSTRAINT_UNIQUE',
  2579: 'SQLITE_CONSTRAINT_ROWID',
  3091: 'SQLITE_CONSTRAINT_DATATYPE',
}

/**
 * Words an error of node:sqlite as the runtime does: `no such table: x: SQLITE_ERROR`. Others are passed through. The
 * runtime adds to some of them at which offset of the statement they are, which node:sqlite does not tell.
 */
export function sqlError(error: unknown): unknown {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return error
  // The low byte is the primary code.
  const name = CODE_NAMES[error.errcode & 0xff] ?? `SQLITE_${error.errcode}`
  const extended = EXTENDED_NAMES[error.errcode]
  const suffix = extended === undefined ? '' : ` (extended: ${extended})`
  return new Error(`${error.message}: ${name}${suffix}`, { cause: error })
}

/** node:sqlite refuses an integer that a number cannot hold; the runtime rounds it. */
export function isIntegerTooLarge(error: unknown): boolean {
  return error instanceof RangeError && 'code' in error && error.code === 'ERR_OUT_OF_RANGE'
}
