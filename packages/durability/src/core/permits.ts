/** Resolves to a function that gives the permit back; calling that twice gives it back once. */
export type AcquirePermit = () => Promise<() => void>

/** Gives out `size` permits, in the order they are asked for. */
export function permits(size: number): AcquirePermit {
  const waiting: (() => void)[] = []
  let free = size
  return async () => {
    if (free > 0) free -= 1
    else await new Promise<void>((resolve) => waiting.push(resolve))
    let held = true
    return () => {
      if (!held) return
      held = false
      const next = waiting.shift()
      if (next) next()
      else free += 1
    }
  }
}
