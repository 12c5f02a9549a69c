/** What is wrong with a schedule's text or options; stable, so that a caller can branch on it. */
export type InvalidCronCode =
  | 'not_a_string'
  | 'too_long'
  | 'illegal_character'
  | 'unknown_nickname'
  | 'field_count'
  | 'invalid_field'
  | 'invalid_timezone'
  | 'invalid_option'
  | 'never_fires'

/** The part of the input the error is about. */
export type InvalidCronField =
  | 'expression'
  | 'second'
  | 'minute'
  | 'hour'
  | 'dayOfMonth'
  | 'month'
  | 'dayOfWeek'
  | 'timezone'
  | 'options'

/** Long enough for a reason and a hint, short enough to store and to show in a table. */
const MAX_MESSAGE_CHARACTERS = 200

const MAX_QUOTED_CHARACTERS = 40

/**
 * The one error of `durability/cron` for a schedule that cannot be used, whoever typed it. The message is at most
 * 200 characters and never repeats the whole expression, so it may be logged and shown; it is text, not HTML.
 */
export class InvalidCronError extends Error {
  override readonly name: string = 'InvalidCronError'
  readonly code: InvalidCronCode
  readonly field: InvalidCronField

  constructor(code: InvalidCronCode, field: InvalidCronField, message: string) {
    super(cut(message, MAX_MESSAGE_CHARACTERS))
    this.code = code
    this.field = field
  }
}

/** A value as it may stand in a message: in quotes, control characters escaped, cut before it is looked at. */
export function quote(value: string): string {
  return JSON.stringify(cut(value, MAX_QUOTED_CHARACTERS))
}

function cut(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text
}
