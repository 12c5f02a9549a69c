import { MINUTE_MS } from '../expressions.ts'
import type { Model, ModelOptions } from '../model.ts'

/** A small history: one thing that can happen to a schedule. */
export interface Scenario {
  readonly name: string
  readonly options?: ModelOptions
  /** Two crashes are made in a short one also by `npm test`, in a long one only by `npm run simulate -- --deep`. */
  readonly length?: 'short' | 'long'
  readonly script: (model: Model) => Promise<void>
}

export const EVERY_MINUTE = 'every:60000'
export const EVERY_HOUR = 'every:3600000'
export const HOUR_MS: number = 60 * MINUTE_MS
