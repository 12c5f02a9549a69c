import { check } from '../core/checks.ts'
import { MAX_EXPRESSION_LENGTH, NEVER } from '../core/limits.ts'
import { randomInteger } from '../core/retry.ts'

/** A fixed offset in ms, or `{ maxMs }`: one drawn uniformly from `[0, maxMs]` when the version is stored. */
export type JitterInput = number | { readonly maxMs: number }

/** What `set` takes. */
export interface ScheduleDefinition {
  /** Opaque text of at most 65,536 characters: only `nextOccurrence` reads it. */
  readonly expression: string
  /** A non-negative safe integer. Only a higher one than the stored takes effect. */
  readonly version: number
  /** ms by which every tick is late, 0 to 2^31 - 1, or `{ maxMs }` to draw it once for this version. Default 0. */
  readonly jitterMs?: JitterInput
}

/** The schedule's one row. Instants are epoch ms. */
export type DefinitionRow = {
  /** Of the schema: see `schema.ts`. */
  readonly schemaVersion: number
  readonly oldestReader: number
  /** Null before the first `set`, and after a cancel without one. */
  readonly version: number | null
  /** Null while there is nothing to tick. */
  readonly expression: string | null
  readonly jitterMs: number
  /** What `set` was given: the offset, or the range it was drawn from, as text. */
  readonly jitter: string | null
  /** The cursor: the next nominal time, or null when no tick is to come. */
  readonly nextTime: number | null
  /** The last nominal time that was recorded, over all versions: none at or before it is recorded again. */
  readonly lastTime: number | null
  /** The key of the last recorded run. Keys rise by one and are never used again. */
  readonly lastRunId: number
}

/** What a new version stores. */
export type NewDefinition = Pick<DefinitionRow, 'jitterMs' | 'jitter'> & {
  readonly version: number
  readonly expression: string
}

/** @throws TypeError or RangeError naming the argument and its value. */
export function checkVersion(version: unknown): void {
  check('version', version, 'number', 0, Number.MAX_SAFE_INTEGER)
}

/**
 * Checks what `set` is given and draws its jitter.
 *
 * @throws TypeError or RangeError naming the argument and its value.
 */
export function definitionOf(definition: ScheduleDefinition): NewDefinition {
  check('definition', definition, 'object')
  const { expression, version, jitterMs = 0 } = definition
  check('expression', expression, 'string', 0, MAX_EXPRESSION_LENGTH)
  checkVersion(version)
  const isFixed = typeof jitterMs === 'number'
  if (!isFixed) check('jitterMs', jitterMs, 'object')
  const most = isFixed ? jitterMs : jitterMs.maxMs
  check(isFixed ? 'jitterMs' : 'jitterMs.maxMs', most, 'number', 0)
  const least = isFixed ? most : 0
  // A negative zero would be stored and shown as such.
  return {
    expression,
    version: version + 0,
    jitterMs: randomInteger(least, most),
    jitter: `${isFixed ? '' : '0-'}${most}`,
  }
}

/** When the next tick is due, epoch ms; infinite when none is to come. */
export function dueAtOf({ nextTime, jitterMs }: DefinitionRow): number {
  return nextTime === null ? NEVER : nextTime + jitterMs
}
