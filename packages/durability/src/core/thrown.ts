import { MAX_ERROR_MESSAGE_LENGTH, MAX_ERROR_NAME_LENGTH } from './limits.ts'

/** A thrown value as it is stored and passed on: plain, bounded text. */
export interface DescribedError {
  readonly name: string
  readonly message: string
}

/**
 * Describes whatever was thrown. The value may be hostile (getters that throw, proxies, objects without a prototype):
 * it is never trusted to answer.
 */
export function describeThrown(thrown: unknown): DescribedError {
  const error = Object(thrown) as { name?: unknown; message?: unknown } // any value, as an object to ask
  const message = text(() => error.message)
  return {
    name: cut(message === undefined ? 'NonError' : text(() => error.name) || 'Error', MAX_ERROR_NAME_LENGTH),
    message: cut(
      message ?? text(() => (typeof thrown === 'object' ? JSON.stringify(thrown) : String(thrown))) ?? '',
      MAX_ERROR_MESSAGE_LENGTH,
    ),
  }
}

/** The text that `read` answers, `undefined` for any other answer; a sentence when it throws. */
function text(read: () => unknown): string | undefined {
  try {
    const value = read()
    return typeof value === 'string' ? value : undefined
  } catch {
    return '(unreadable)'
  }
}

/** SQLite ends a text at NUL, and half a surrogate pair does not survive UTF-8: both become U+FFFD. */
function cut(value: string, maxLength: number): string {
  const short = value.length > maxLength ? `${value.slice(0, maxLength - 1)}…` : value
  return short.replace(/[\0\p{Cs}]/gu, '\uFFFD')
}
