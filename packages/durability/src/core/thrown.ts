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
  const looksLikeError = typeof thrown === 'object' && thrown !== null && hasText(thrown, 'message')
  if (!looksLikeError) return { name: 'NonError', message: cut(textOf(thrown), MAX_ERROR_MESSAGE_LENGTH) }
  return {
    name: cut(readText(thrown, 'name') || 'Error', MAX_ERROR_NAME_LENGTH),
    message: cut(readText(thrown, 'message'), MAX_ERROR_MESSAGE_LENGTH),
  }
}

function hasText(value: object, key: string): boolean {
  try {
    return typeof Reflect.get(value, key) === 'string'
  } catch {
    return true
  }
}

function readText(value: object, key: string): string {
  try {
    const text: unknown = Reflect.get(value, key)
    return typeof text === 'string' ? text : textOf(text)
  } catch {
    return `(its ${key} cannot be read)`
  }
}

function textOf(value: unknown): string {
  try {
    if (typeof value === 'object' && value !== null) return JSON.stringify(value) ?? String(value)
    return String(value)
  } catch {
    return '(a value that cannot be shown)'
  }
}

/** SQLite ends a text at NUL, and half a surrogate pair does not survive UTF-8: both become U+FFFD. */
function cut(text: string, maxLength: number): string {
  const short = text.length > maxLength ? `${text.slice(0, maxLength - 1)}…` : text
  return short.replaceAll('\0', '\uFFFD').toWellFormed()
}
