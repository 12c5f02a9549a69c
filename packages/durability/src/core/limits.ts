/** Every number that bounds the core, with its unit and the reason for it. */

/** ms. The platform's clock can lose an alarm that is set at the present instant from inside `alarm()`. */
export const ALARM_AHEAD_MS = 1

/** ms. An alarm is never further away than a year; then it is armed again. The platform refuses instants after 2189. */
export const ALARM_HORIZON_MS: number = 365 * 24 * 60 * 60_000

/** ms. The platform cuts an `alarm()` invocation after 15 minutes of wall time. */
export const ALARM_WALL_LIMIT_MS: number = 15 * 60_000

/** ms. Longest duration an option takes: what a 32-bit timer holds. */
export const MAX_DURATION_MS: number = 2 ** 31 - 1

/** Epoch ms. No alarm can be set for a later instant (the year 2189), less the room that a clamp needs. */
export const MAX_DUE_AT = 7e12

/** ms. No retry waits longer, whatever a delay function answers. */
export const MAX_RETRY_DELAY_MS: number = 24 * 60 * 60_000

/** UTF-16 units of an error's name and message that are stored; the rest is cut. Keeps a run's row small. */
export const MAX_ERROR_NAME_LENGTH = 128
export const MAX_ERROR_MESSAGE_LENGTH = 2_048

/** UTF-16 units of an expression. Far above any schedule text, far below the platform's 2 MB row. */
export const MAX_EXPRESSION_LENGTH = 65_536

/** UTF-16 units of the name of an alarm. It is a key, not a payload. */
export const MAX_ALARM_NAME_LENGTH = 512

/** Steps by which missed ticks are walked before the search jumps; bounds the work after a long outage. */
export const MAX_COLLAPSE_STEPS = 100

/** An instant that never comes, to be compared with others. Last here: bundlers inline the constants before it. */
export const NEVER: number = Infinity
