/** Counts the writes of all engines over one storage. */
const WRITES = new WeakMap<object, { count: number }>()

/** One value that is read from a store which answers at once, and asked for many times in a row. */
export interface InTurn<T> {
  /** Reads it, or answers what was read in this turn when nothing was written since. */
  get(read: () => T): T
  forget(): void
}

/**
 * A turn, for nothing else can write while one lasts: whatever was written before it, or was undone by a transaction
 * that the engine knows nothing of, is read again.
 */
export function inTurnOf<T>(boundTo: object | undefined): InTurn<T> {
  const writes = (boundTo && WRITES.get(boundTo)) ?? { count: 0 }
  if (boundTo !== undefined) WRITES.set(boundTo, writes)
  let known: { readonly value: T; readonly writes: number } | undefined
  return {
    get(read) {
      if (known?.writes === writes.count) return known.value
      const value = read()
      known = { value, writes: writes.count }
      queueMicrotask(() => {
        known = undefined
      })
      return value
    },
    forget() {
      writes.count += 1
    },
  }
}
