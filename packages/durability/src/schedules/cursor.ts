import { InvalidScheduleError } from './errors.ts'

type Key = { readonly [name: string]: string | number | boolean | null }

/** What a member of a key is; `number or null` where it may be missing. */
type Kind<Value> = Value extends boolean
  ? 'boolean'
  : Value extends string
    ? 'string'
    : 'number' | 'number or null'

/** A place in an order, as opaque text that may stand in an address. */
export function cursorOf(key: Key): string {
  const bytes = new TextEncoder().encode(JSON.stringify(key))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replace(/=+$/, '')
}

/** @throws InvalidScheduleError for text that is no cursor of this list. */
export function keyOf<K extends Key>(
  cursor: unknown,
  kinds: { readonly [Name in keyof K]: Kind<K[Name]> },
): K {
  try {
    if (typeof cursor !== 'string') throw new TypeError('not text')
    const bytes = Uint8Array.from(atob(cursor.replaceAll('-', '+').replaceAll('_', '/')), (char) =>
      char.charCodeAt(0),
    )
    const key: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes))
    const isKey =
      typeof key === 'object' &&
      key !== null &&
      Object.keys(key).sort().join() === Object.keys(kinds).sort().join() &&
      Object.entries(key).every(([name, value]) => isOfKind(value, kinds[name]))
    // It has the names of a key, and values of the kinds that they are.
    if (isKey) return key as K
  } catch {
    // Told below.
  }
  throw new InvalidScheduleError('cursor', 'is not the cursor of a page of this list')
}

function isOfKind(value: unknown, kind: string | undefined): boolean {
  return value === null ? kind === 'number or null' : typeof value === kind?.split(' ')[0]
}
