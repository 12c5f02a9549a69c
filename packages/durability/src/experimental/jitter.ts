import { checkInteger, checkType } from '../core/checks.ts'

/** A fixed offset in ms, or `{ maxMs }`: one drawn uniformly from `[0, maxMs]` when the version is stored. */
export type JitterInput = number | { readonly maxMs: number }

/** A checked jitter: from 0 to `maxMs`, drawn if so asked, otherwise `maxMs` itself. */
export interface Jitter {
  readonly maxMs: number
  readonly isDrawn: boolean
}

/** @throws TypeError or RangeError naming `jitterMs` (or `jitterMs.maxMs`) and its value. */
export function parseJitter(input: JitterInput = 0): Jitter {
  if (typeof input === 'number') return { maxMs: checkInteger('jitterMs', input, 0), isDrawn: false }
  checkType('jitterMs', input, 'object')
  return { maxMs: checkInteger('jitterMs.maxMs', input.maxMs, 0), isDrawn: true }
}

/** The offset of a new version, ms. */
export function drawJitter({ maxMs, isDrawn }: Jitter): number {
  return isDrawn ? Math.floor(Math.random() * (maxMs + 1)) : maxMs
}
