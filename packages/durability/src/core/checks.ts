import { MAX_DURATION_MS } from './limits.ts'

type TypeName = 'boolean' | 'function' | 'number' | 'object' | 'string'

/** The value as an error message names it: short, quoted, and never able to throw itself. */
export function shown(value: unknown): string {
  try {
    return (typeof value === 'string' ? JSON.stringify(value) : String(value)).slice(0, 80)
  } catch {
    return typeof value
  }
}

/** @throws RangeError naming it and what it is. */
export function checkInteger(name: string, value: unknown, min: number, max: number): void {
  if (!(Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max))
    throw new RangeError(`${name} must be an integer from ${min} to ${max}, got ${shown(value)}`)
}

/**
 * Checks an option or argument. A number must be an integer from `min` to `max` (by default a duration in ms from 1),
 * a string at most `max` long and such that SQLite keeps it whole.
 *
 * @throws TypeError for another type, RangeError for a value out of range; both name it and what it is.
 */
export function check(
  name: string,
  value: unknown,
  type: TypeName,
  min = 1,
  max: number = MAX_DURATION_MS,
): void {
  if (value === null || typeof value !== type)
    throw new TypeError(`${name} must be a ${type}, got ${shown(value)}`)
  if (typeof value === 'number') checkInteger(name, value, min, max)
  if (typeof value === 'string' && (value.length > max || /[\0\p{Cs}]/u.test(value)))
    throw new RangeError(`${name} must be text of at most ${max} characters, got ${shown(value)}`)
}

/** An option's type, its default (`undefined`: it is required, `null`: it may be left out), and its limits. */
type OptionRule = readonly [type: TypeName, byDefault?: unknown, min?: number, max?: number]

/** A rule for each option, or rules for the options within it. */
export type OptionRules<Settings> = {
  readonly [Name in keyof Settings]-?: OptionRule | OptionRules<Settings[Name]>
}

/**
 * Checks the options that are given, and puts in the defaults of the others. `path` names the options as a whole.
 *
 * @throws TypeError or RangeError naming the option and its value.
 */
export function optionsOf<Settings>(
  options: unknown,
  rules: OptionRules<Settings>,
  path = 'options',
): Settings {
  check(path, options, 'object')
  const settings: Record<string, unknown> = {}
  for (const [name, rule] of Object.entries<OptionRule | OptionRules<unknown>>(rules)) {
    const given = (options as Record<string, unknown>)[name]
    const at = `${path}.${name}`
    if (Array.isArray(rule)) {
      const [type, byDefault, min, max] = rule as unknown as OptionRule // the other kind of rules is no array
      if (given !== undefined || byDefault === undefined) check(at, given, type, min, max)
      settings[name] = given ?? byDefault
    } else settings[name] = optionsOf(given === undefined ? {} : given, rule, at)
  }
  // Every key of `rules` has its checked value or its default.
  return settings as Settings
}
