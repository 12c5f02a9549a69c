import { MAX_DURATION_MS } from './limits.ts'

type TypeName = 'boolean' | 'function' | 'number' | 'object' | 'string'

/** The value as an error message names it: short, quoted, and never able to throw itself. */
export function shown(value: unknown): string {
  try {
    return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : String(value).slice(0, 80)
  } catch {
    return typeof value
  }
}

/** @throws TypeError naming what it is and what it should be. */
export function checkType(name: string, value: unknown, type: TypeName): void {
  if (value === null || typeof value !== type)
    throw new TypeError(`${name} must be a ${type}, got ${shown(value)}`)
}

/**
 * Checks an integer option or argument.
 *
 * @throws TypeError when it is no number, RangeError when it is no integer from `min` to `max`; both name it.
 */
export function checkInteger(
  name: string,
  value: unknown,
  min: number,
  max: number = MAX_DURATION_MS,
): number {
  checkType(name, value, 'number')
  const number = value as number // its type was checked in the line above
  if (!Number.isSafeInteger(number) || number < min || number > max) {
    throw new RangeError(`${name} must be an integer from ${min} to ${max}, got ${shown(value)}`)
  }
  // A negative zero would be stored and shown as such.
  return number + 0
}

/** Checks a duration in ms, from `min` (default 1) to 2^31 - 1. */
export function checkDuration(name: string, value: unknown, min = 1, max: number = MAX_DURATION_MS): number {
  return checkInteger(name, value, min, max)
}

/** For each integer option: its default (or `undefined` for none), its least and its greatest value. */
export type IntegerOptions<Key extends string> = Readonly<
  Record<Key, readonly [byDefault: number | undefined, min?: number, max?: number]>
>

/** Checks the integer options that are given, and puts in the defaults of the others. */
export function integersOf<Key extends string, Limits extends IntegerOptions<Key>>(
  options: object,
  limits: Limits & IntegerOptions<Key>,
  prefix = '',
): { readonly [K in keyof Limits]: Limits[K][0] } {
  const checked: Record<string, number | undefined> = {}
  for (const name in limits) {
    const [byDefault, min = 1, max] = limits[name as unknown as Key]
    const value: unknown = Reflect.get(options, name)
    checked[name] = value === undefined ? byDefault : checkInteger(prefix + name, value, min, max)
  }
  // Every key of `limits` was given its number in the loop.
  return checked as { readonly [K in keyof Limits]: Limits[K][0] }
}

/** @throws TypeError for a type, RangeError for a text that is too long, or that SQLite would not keep whole. */
export function checkText(name: string, value: unknown, maxLength: number): void {
  checkType(name, value, 'string')
  const text = value as string // its type was checked in the line above
  if (text.length > maxLength || /\0/.test(text) || !text.isWellFormed()) {
    throw new RangeError(
      `${name} must be well-formed text of at most ${maxLength} characters without NUL, got ${shown(text)}`,
    )
  }
}
