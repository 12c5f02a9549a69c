/** A random integer from `least` to `most`, each equally likely. */
export function randomInteger(least: number, most: number): number {
  return least + Math.floor(Math.random() * (most - least + 1))
}

/** ms: 1 second after attempt 1, doubling from attempt to attempt up to 5 minutes. */
export function exponential(attempt: number): number {
  return Math.min(1_000 * 2 ** (attempt - 1), 300_000)
}
