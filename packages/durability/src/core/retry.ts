/** A random integer from `least` to `most`, each equally likely. */
export function randomInteger(least: number, most: number): number {
  return least + Math.floor(Math.random() * (most - least + 1))
}

/** ms: `baseMs` after attempt 1, doubling from attempt to attempt up to `maxMs`; by default from 1 s to 5 minutes. */
export function exponential(attempt: number, baseMs = 1_000, maxMs = 300_000): number {
  // 2^31 times the smallest base is above every maximum, so a larger power would change nothing.
  return Math.min(baseMs * 2 ** Math.min(attempt - 1, 31), maxMs)
}
