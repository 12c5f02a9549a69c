import { checkInteger, shown } from '../core/checks.ts'
import { MAX_DURATION_MS } from '../core/limits.ts'

/** A fixed offset in ms, or `{ maxMs }`: one drawn uniformly from `[0, maxMs]` when the version is stored. */
export type JitterInput = number | { readonly maxMs: number }

/** A checked jitter: the offset itself, or the most it may be. */
export type Jitter =
  | { readonly kind: 'fixed'; readonly ms: number }
  | { readonly kind: 'drawn'; readonly maxMs: number }

/** @throws TypeError or RangeError naming `jitterMs` (or `jitterMs.maxMs`) and its value. */
export function parseJitter(input: JitterInput | undefined): Jitter {
  if (input === undefined) return { kind: 'fixed', ms: 0 }
  if (typeof input === 'number')
    return { kind: 'fixed', ms: checkInteger('jitterMs', input, 0, MAX_DURATION_MS) }
  if (typeof input !== 'object' || input === null) {
    throw new TypeError(`jitterMs must be a number or { maxMs }, got ${shown(input)}`)
  }
  return { kind: 'drawn', maxMs: checkInteger('jitterMs.maxMs', input.maxMs, 0, MAX_DURATION_MS) }
}

/** The offset of a new version. */
export function drawJitter(jitter: Jitter): number {
  return jitter.kind === 'fixed' ? jitter.ms : Math.floor(Math.random() * (jitter.maxMs + 1))
}
