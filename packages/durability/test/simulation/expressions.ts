/** The expressions of the simulation, each with what `nextOccurrence` answers and, computed another way, what is right. */

export const START_AT: number = Date.UTC(2026, 0, 1)
export const MINUTE_MS = 60_000

/** What the spec lets a search walk before it jumps. */
const WALKED_STEPS = 100

/**
 * `every:<ms>` is aligned to the epoch, `from:<ms>` counts from the last tick, `until:<ms>:<t>` is `every` that ends at
 * the instant `t`, `never` has no tick, `broken` throws.
 */
export function nextOccurrence(expression: string, after: number): number | undefined {
  const [kind, everyMs, lastAt] = parse(expression)
  if (kind === 'broken') throw new Error('a broken expression')
  if (kind === 'never') return undefined
  if (kind === 'from') return after + everyMs
  const next = (Math.floor(after / everyMs) + 1) * everyMs
  return next > lastAt ? undefined : next
}

/** The tick after `recorded`: the first that is due after `now`, those before it being missed. */
export function tickAfter(
  expression: string,
  recorded: number,
  jitterMs: number,
  now: number,
): number | undefined {
  const [kind, everyMs] = parse(expression)
  if (kind !== 'from') return nextOccurrence(expression, Math.max(recorded, now - jitterMs))
  const missed = Math.max(Math.floor((now - jitterMs - recorded) / everyMs), 0)
  if (missed < WALKED_STEPS) return recorded + (missed + 1) * everyMs
  return Math.max(now - jitterMs, recorded + WALKED_STEPS * everyMs) + everyMs
}

function parse(expression: string): [kind: string, everyMs: number, lastAt: number] {
  const [kind = '', everyMs = '0', lastAt = 'Infinity'] = expression.split(':')
  return [kind, Number(everyMs), Number(lastAt)]
}
