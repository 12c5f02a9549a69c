/** Something that was promised and did not hold. */
export interface Violation {
  /** A run, an alarm or an object. */
  readonly about: string
  readonly what: string
  /** The `seq` of the entries that show it. */
  readonly seen: readonly number[]
}

/**
 * ms. What follows at once on something else, such as the record of an answer, follows within this time: a busy machine
 * may be slow, and a fault takes for ever.
 */
export const SOON_MS = 5_000

/** ms. Within which an object hears of an answer. Nothing the plan answers in time comes closer to a timeout. */
export const HEARD_MS = 1_000

/** ms. Timers and the wall clock round differently. */
export const ROUNDING_MS = 5
