import type { SimulatedObject } from '../../src/testing/index.ts'
import type { Subject } from './subject.ts'

export type StoredDefinition = {
  version: number | null
  expression: string | null
  jitterMs: number
  nextTime: number | null
  lastTime: number | null
  lastRunId: number
}

export type StoredRun = {
  id: number
  scheduledTime: number
  dueAt: number
  version: number
  state: number
  outcome: string
  attempts: number
  nextAttemptAt: number
  delivering: number
}

export type StoredAlarm = {
  name: string
  occurrence: string
  scheduledTime: number
  attempt: number
  nextAttemptAt: number
}

/** The states of a run's row. */
export const WAITING = 0
export const RUNNING = 1
export const COMPLETE = 2
export const ERRORED = 3

/** Everything that the object has stored. */
export interface Stored {
  readonly definition: StoredDefinition | undefined
  /** In the order of their keys. */
  readonly runs: readonly StoredRun[]
  readonly alarms: readonly StoredAlarm[]
}

/** Reads what is stored, again only when something may have been written since. */
export class Storage {
  readonly #object: SimulatedObject<Subject>
  readonly #hasAlarms: boolean
  #stored: Stored = { definition: undefined, runs: [], alarms: [] }
  #writes = 0
  /** A table that was there once is read without asking. */
  readonly #tables = new Set<string>()

  constructor(object: SimulatedObject<Subject>, hasAlarms: boolean) {
    this.#object = object
    this.#hasAlarms = hasAlarms
  }

  read(): Stored {
    const { writes } = this.#object.progress
    if (writes !== this.#writes) {
      this.#writes = writes
      this.#stored = {
        definition: this.#select<StoredDefinition>('durability_schedule')[0],
        runs: this.#select<StoredRun>('durability_schedule_runs', ' ORDER BY id'),
        alarms: this.#hasAlarms ? this.#select<StoredAlarm>('durability_alarms') : [],
      }
    }
    return this.#stored
  }

  /** The write of a dying turn is undone, and what was read meanwhile with it. */
  forget(): void {
    this.#writes = -1
  }

  #select<Row extends Record<string, string | number | null>>(table: string, rest = ''): Row[] {
    if (!this.#tables.has(table) && !this.#exists(table)) return []
    try {
      return this.#object.rows<Row>(`SELECT * FROM ${table}${rest}`)
    } catch (error) {
      if (!(error instanceof Error && error.message.includes('no such table'))) throw error
      this.#tables.delete(table)
      return []
    }
  }

  #exists(table: string): boolean {
    const exists = this.#object.rows('SELECT 1 AS one FROM sqlite_schema WHERE name = ?', table).length > 0
    if (exists) this.#tables.add(table)
    return exists
  }
}
