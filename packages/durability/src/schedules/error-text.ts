import { describeThrown } from '../core/thrown.ts'
import { MAX_ERROR_LENGTH } from './limits.ts'

export function errorText(error: unknown): string {
  const { name, message } = describeThrown(error)
  const text = `${name}: ${message}`
  return text.length > MAX_ERROR_LENGTH ? `${text.slice(0, MAX_ERROR_LENGTH - 1)}…` : text
}
