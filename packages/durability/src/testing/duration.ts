import { shown } from '../core/checks.ts'

const UNIT_MS = {
  ms: 1,
  s: 1_000,
  second: 1_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
} as const

type Unit = keyof typeof UNIT_MS

/**
 * A length of time from 0: a number of ms, or a number and a unit, with a space between: `'250 ms'`, `'90 s'`,
 * `'14 minutes'`, `'1.5 hours'`, `'3 days'`, `'2 weeks'`.
 */
export type SimulatedDuration = number | `${number} ${Unit}` | `${number} ${Unit}s`

/** The duration in milliseconds. Throws a `RangeError` for anything that is not a length of time from 0 up. */
export function durationMs(duration: SimulatedDuration, name = 'The duration'): number {
  const ms = typeof duration === 'number' ? duration : parse(duration)
  if (!Number.isFinite(ms) || ms < 0) {
    throw new RangeError(
      `${name} must be milliseconds from 0, or a text like "90 s" or "3 days", got ${shown(duration)}`,
    )
  }
  return ms
}

function parse(text: unknown): number {
  const [, amount, word] = /^(\d+(?:\.\d+)?) ([a-z]+)$/.exec(String(text)) ?? []
  const unit = word === undefined ? undefined : (unitOf(word) ?? unitOf(word.replace(/s$/, '')))
  return unit === undefined ? Number.NaN : Number(amount) * UNIT_MS[unit]
}

function unitOf(word: string): Unit | undefined {
  // Object.hasOwn does not narrow the word, so the cast repeats what it has just shown.
  return Object.hasOwn(UNIT_MS, word) ? (word as Unit) : undefined
}
