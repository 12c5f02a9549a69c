import { shown } from '../core/checks.ts'

/** @throws RangeError naming the option and its value, unless that is one of the given. */
export function checkOneOf(name: string, value: unknown, allowed: readonly string[]): void {
  if (allowed.includes(value as string)) return
  const choice = allowed.map((one) => JSON.stringify(one)).join(' or ')
  throw new RangeError(`${name} must be ${choice}, got ${shown(value)}`)
}

/** @throws RangeError naming it and its value, unless that is an integer from 0, or `Infinity`. */
export function checkCount(name: string, value: unknown): void {
  if (value === Number.POSITIVE_INFINITY || (Number.isSafeInteger(value) && (value as number) >= 0)) return
  throw new RangeError(`${name} must be an integer from 0, or Infinity, got ${shown(value)}`)
}

/** @throws RangeError naming it and its value, unless that is an instant that a `Date` can hold. */
export function checkInstant(name: string, value: unknown): void {
  if (typeof value === 'number' && Math.abs(value) <= MAX_INSTANT) return
  throw new RangeError(`${name} must be epoch ms, got ${shown(value)}`)
}

const MAX_INSTANT = 8.64e15
