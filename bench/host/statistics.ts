/** What many samples come to: the middle, and how far the middle half of them lies apart. */
export interface Summary {
  readonly median: number
  readonly q1: number
  readonly q3: number
  readonly samples: number
}

/** The value below which `share` of them lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((one, other) => one - other)
  const at = (sorted.length - 1) * share
  const low = sorted[Math.floor(at)] ?? Number.NaN
  const high = sorted[Math.ceil(at)] ?? Number.NaN
  return low + (high - low) * (at % 1)
}

export function summaryOf(values: readonly number[]): Summary {
  return {
    median: quantile(values, 0.5),
    q1: quantile(values, 0.25),
    q3: quantile(values, 0.75),
    samples: values.length,
  }
}
