/**
 * Years each way. Where a century has no leap day, 29 February falls on a given weekday only after 40 years
 * (2072 to 2112), so a shorter search would call a legal schedule dead.
 */
export const WINDOW_YEARS = 40

/** ms. The same, with a day to spare for a zone that changed its offset in between. */
export const WINDOW_MS: number = (WINDOW_YEARS * 365.25 + 1) * 86_400_000

/** Epoch ms, both inclusive: from 1970 to the end of the year 9000, for what is asked and for what is answered. */
export const EARLIEST_AT = 0
export const LATEST_AT: number = Date.UTC(9001, 0, 1)

/** ms. A time that is missing because of a longer jump belongs to a skipped day, and does not run (Debian cron). */
export const MAX_GAP_MS: number = 3 * 3_600_000
