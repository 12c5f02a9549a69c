import { MAX_DURATION_MS } from './limits.ts'

/** The value as it is named in an error message: short, quoted, and never able to throw itself. */
export function shown(value: unknown): string {
  try {
    if (typeof value === 'string') return JSON.stringify(value.length > 80 ? `${value.slice(0, 80)}…` : value)
    if (typeof value === 'function') return 'a function'
    if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'an array' : 'an object'
    return typeof value === 'bigint' ? `${value}n` : String(value)
  } catch {
    return 'a value that cannot be shown'
  }
}

/**
 * Checks an integer option or argument.
 *
 * @throws TypeError when it is no number, RangeError when it is no integer from `min` to `max`; both name it.
 */
export function checkInteger(name: string, value: unknown, min: number, max: number): number {
  if (typeof value !== 'number') throw new TypeError(`${name} must be a number, got ${shown(value)}`)
  if (!Number.isSafeInteger(value) || value < min || value > max) {
    throw new RangeError(`${name} must be an integer from ${min} to ${max}, got ${shown(value)}`)
  }
  // A negative zero would be stored and shown as such.
  return value === 0 ? 0 : value
}

/** Checks a duration in ms, from `min` (default 1) to 2^31 - 1. */
export function checkDuration(name: string, value: unknown, min = 1, max: number = MAX_DURATION_MS): number {
  return checkInteger(name, value, min, max)
}

/** @throws TypeError when `value` is neither a function nor, unless required, undefined. */
export function checkFunction(name: string, value: unknown, required = true): void {
  if (value === undefined && !required) return
  if (typeof value !== 'function') throw new TypeError(`${name} must be a function, got ${shown(value)}`)
}

/** @throws TypeError when `value` is no object that options could be read from. */
export function checkObject(name: string, value: unknown): void {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError(`${name} must be an object, got ${shown(value)}`)
  }
}

/** @throws TypeError for a type, RangeError for a text of the wrong length, or that SQLite would not keep whole. */
export function checkText(name: string, value: unknown, maxLength: number, minLength = 1): string {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string, got ${shown(value)}`)
  if (value.length < minLength || value.length > maxLength) {
    throw new RangeError(`${name} must have ${minLength} to ${maxLength} characters, got ${value.length}`)
  }
  if (value.includes('\0') || !value.isWellFormed()) {
    throw new RangeError(`${name} must be well-formed Unicode without NUL, got ${shown(value)}`)
  }
  return value
}
