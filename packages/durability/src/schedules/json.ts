export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue }

/** The JSON text of a value with the keys of every object in order: equal values have equal texts. */
export function canonicalJson(value: JsonValue): string {
  if (isList(value)) return `[${value.map(canonicalJson).join()}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`)
  return `{${members.join()}}`
}

function isList(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value)
}

export function utf8Bytes(text: string): number {
  return new TextEncoder().encode(text).byteLength
}

/**
 * A deep copy of a value that JSON can hold; throws an Error whose message names the place and what is there. What JSON
 * would change in silence (undefined, NaN, Date, Map, cycles, `toJSON`) is refused: a workflow must get what was given.
 */
export function copiedJson(value: unknown, place: string, depth = 0): JsonValue {
  if (depth > MAX_DEPTH) throw new Error(`${place} is nested more than ${MAX_DEPTH} deep`)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return value + 0
    throw new Error(`${place} is ${value}, which JSON cannot hold`)
  }
  if (Array.isArray(value))
    return value.map((item, index) => copiedJson(item, `${place}[${index}]`, depth + 1))
  if (typeof value !== 'object') throw new Error(`${place} is a ${typeof value}, which JSON cannot hold`)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== null && prototype !== Object.prototype && Object.getPrototypeOf(prototype) !== null)
    throw new Error(`${place} is an instance of a class, which JSON cannot hold`)
  const entries = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .map(([key, member]) => [key, copiedJson(member, `${place}.${key}`, depth + 1)] as const)
  // Not by assignment: a key may be `__proto__`.
  return Object.fromEntries(entries)
}

const MAX_DEPTH = 100
