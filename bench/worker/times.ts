/** What the clock moves by from one tick to the next, where it is moved. */
export const TICK_MS = 60_000

/** `'<period> <offset> …'`, all in ms: the first time after `after` that is an offset after a whole period. */
export function nextOccurrence(expression: string, after: number): number {
  const [period = TICK_MS, ...offsets] = expression.split(' ').map(Number)
  const start = Math.floor(after / period) * period
  const times = offsets.flatMap((offset) => [start + offset, start + period + offset])
  return Math.min(...times.filter((time) => time > after))
}
