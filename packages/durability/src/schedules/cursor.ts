import { InvalidScheduleError } from './errors.ts'

type Key = { readonly [name: string]: string | number | boolean | null }

/** A place in an order, as opaque text that may stand in an address. */
export function cursorOf(key: Key): string {
  const bytes = new TextEncoder().encode(JSON.stringify(key))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

/** @throws InvalidScheduleError for text that is no cursor of this list. */
export function keyOf<K extends Key>(cursor: unknown, names: readonly (keyof K & string)[]): K {
  try {
    if (typeof cursor !== 'string') throw new TypeError('not text')
    const bytes = Uint8Array.from(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    )
    const key: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes))
    const isKey =
      typeof key === 'object' &&
      key !== null &&
      Object.keys(key).sort().join() === [...names].sort().join() &&
      Object.values(key).every((value) => value === null || typeof value !== 'object')
    // It has the names of a key, and values that a statement can be bound to.
    if (isKey) return key as K
  } catch {
    // Told below.
  }
  throw new InvalidScheduleError('cursor', 'is not the cursor of a page of this list')
}
