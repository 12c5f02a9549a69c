import { InvalidCronError, type InvalidCronField, quote } from './errors.ts'

/** Second, minute, hour, day of month, month, day of week: as typed, or as a nickname stands for them. */
export type CronFields = readonly [string, string, string, string, string, string]

/** The longest sensible text, a full list of 60 minutes, has 169 characters; work per character stays bounded. */
const MAX_EXPRESSION_CHARACTERS = 256

// No colon: croner reads a text that holds one as a date to run once. No other blank than space and tab.
const FOREIGN_CHARACTER = /[^0-9A-Za-z*,/\-#?+ \t]/u

// A Map, because `constructor` and `__proto__` are "found" in an object literal.
const NICKNAMES: ReadonlyMap<string, CronFields> = new Map<string, CronFields>([
  ['@yearly', ['0', '0', '0', '1', '1', '*']],
  ['@annually', ['0', '0', '0', '1', '1', '*']],
  ['@monthly', ['0', '0', '0', '1', '*', '*']],
  ['@weekly', ['0', '0', '0', '*', '*', '0']],
  ['@daily', ['0', '0', '0', '*', '*', '*']],
  ['@midnight', ['0', '0', '0', '*', '*', '*']],
  ['@hourly', ['0', '0', '*', '*', '*', '*']],
])

const FIELD_HINTS: readonly (readonly [InvalidCronField, string])[] = [
  ['second', '0-59'],
  ['minute', '0-59'],
  ['hour', '0-23'],
  ['dayOfMonth', '1-31, L, LW, 15W'],
  ['month', '1-12 or JAN-DEC'],
  ['dayOfWeek', '0-7 or SUN-SAT, 5L, 5#3, + in front for AND'],
]

/**
 * Splits an expression into its six fields, 0 standing in for a missing second. Only what croner is too generous
 * about is refused here; whether each field makes sense is croner's to say.
 */
export function splitExpression(expression: string, seconds: boolean): CronFields {
  if (typeof expression !== 'string') {
    throw new InvalidCronError(
      'not_a_string',
      'expression',
      `A cron expression is a string, not "${typeof expression}"`,
    )
  }
  if (expression.length > MAX_EXPRESSION_CHARACTERS) {
    throw new InvalidCronError(
      'too_long',
      'expression',
      `A cron expression has at most "${MAX_EXPRESSION_CHARACTERS}" characters, not "${expression.length}"`,
    )
  }
  const text = expression.replace(/^[ \t]+|[ \t]+$/g, '')
  return text.startsWith('@') ? fieldsOfNickname(text) : fieldsOfText(text, seconds)
}

/**
 * Debian cron's distinction: a schedule that names its times of day keeps each of them over a clock change, one that
 * repeats keeps its distance.
 */
export function isFixed(fields: CronFields): boolean {
  return !/[*?/]/.test(fields[0] + fields[1] + fields[2])
}

/** The error for the field at `index`, with what may stand there. */
export function invalidField(fields: CronFields, index: number): InvalidCronError {
  const [field, values] = FIELD_HINTS[index] ?? ['expression', 'fields of a cron expression']
  return new InvalidCronError(
    'invalid_field',
    field,
    `Cannot read ${quote(fields[index] ?? '')} as ${field}: use ${values}; lists 1,3, rising ranges 1-5, steps */5 or 1-9/2`,
  )
}

function fieldsOfNickname(text: string): CronFields {
  const fields = NICKNAMES.get(text.toLowerCase())
  if (fields) return fields
  const known = [...NICKNAMES.keys()].join(' ')
  throw new InvalidCronError(
    'unknown_nickname',
    'expression',
    `Unknown nickname: use one of ${known}, and nothing after it`,
  )
}

function fieldsOfText(text: string, seconds: boolean): CronFields {
  const foreign = FOREIGN_CHARACTER.exec(text)
  if (foreign) {
    // By number: the character itself may be invisible, or turn the line it is printed in around.
    const code = (foreign[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')
    throw new InvalidCronError(
      'illegal_character',
      'expression',
      `Character "U+${code}" at position "${foreign.index + 1}" has no meaning in a cron expression`,
    )
  }
  const parts = text.split(/[ \t]+/)
  const [a = '', b = '', c = '', d = '', e = '', f = ''] = parts
  if (parts.length === 5) return ['0', a, b, c, d, e]
  if (parts.length === 6 && seconds) return [a, b, c, d, e, f]
  const found = text === '' ? 0 : parts.length
  const wanted = seconds ? '5 fields, or 6 with leading seconds' : '5 fields; seconds are switched off'
  throw new InvalidCronError('field_count', 'expression', `A cron expression has ${wanted}; found "${found}"`)
}
