export const INTERNAL_ERROR = 'internal error'

/** Texts for what a program sees, the same for the same thing wherever it was seen. */
export function formatValue(value: unknown): string {
  if (value instanceof ArrayBuffer) return `x${hex(new Uint8Array(value))}`
  if (ArrayBuffer.isView(value)) {
    return `${value.constructor.name}:${hex(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))}`
  }
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'string') return formatText(value)
  if (Array.isArray(value)) return `[${value.map(formatValue).join(',')}]`
  if (value instanceof Map) return `Map{${[...value].map(([key, item]) => `${key}:${formatValue(item)}`)}}`
  if (value instanceof Date) return `Date(${value.getTime()})`
  if (value instanceof Set) return `Set{${[...value].map(formatValue)}}`
  if (value instanceof RegExp) return String(value)
  if (value instanceof Error) return formatError(value)
  if (typeof value === 'object' && value !== null) return formatRow(value)
  return String(value)
}

/**
 * The class and the message, without what is not the same for a good reason: the place in the query, which node:sqlite
 * does not tell; on which of two objects a method was called; and what SQLite has refused behind the runtime's back,
 * an "internal error" there, which the simulation tells as it is.
 */
export function formatError(error: unknown): string {
  if (!(error instanceof Error)) return `throws ${formatValue(error)}`
  if (/^internal error; reference = |SQL statements in progress/.test(error.message)) return INTERNAL_ERROR
  const message = error.message.replace(/ at offset \d+/, '').replace('ObjectTransaction', 'ObjectStorage')
  return `${error.constructor.name}: ${message}`
}

/** Coarse: what is set for "now", or an hour ahead, is some seconds old when it is looked at. */
export function formatInstant(at: number, now: number): string {
  const hours = Math.round((at - now) / 3_600_000)
  return hours === 0 ? 'now' : `in ${hours} h`
}

function formatRow(row: object): string {
  const columns = Object.entries(row).map(([name, value]) => `${name}:${formatValue(value)}`)
  const isPlain = Object.getPrototypeOf(row) === Object.prototype
  return `${isPlain ? '' : 'not plain '}{${columns.join(',')}}`
}

function formatText(text: string): string {
  return text.length <= 60 ? JSON.stringify(text) : `${JSON.stringify(text.slice(0, 20))}..${text.length}`
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')
}
