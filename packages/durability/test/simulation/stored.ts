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

/** Where each part of it is kept. */
const TABLES = {
  definition: 'durability_schedule',
  runs: 'durability_schedule_runs',
  alarms: 'durability_alarms',
}

type Part = keyof Stored

/** Reads what is stored, each part again only when it may have been written since. */
export class Storage {
  readonly #object: SimulatedObject<Subject>
  readonly #hasAlarms: boolean
  #stored: Stored = { definition: undefined, runs: [], alarms: [] }
  /** Writes of the object when it was last read, and those since that are known to be of one table. */
  #writes = 0
  #knownWrites = 0
  readonly #written = new Set<Part>()
  /** A table that was there once is read without asking. */
  readonly #tables = new Set<string>()

  constructor(object: SimulatedObject<Subject>, hasAlarms: boolean) {
    this.#object = object
    this.#hasAlarms = hasAlarms
  }

  /** A statement was run that counts as so many writes. */
  wrote(statement: string, writes: number): void {
    this.#knownWrites += writes
    for (const part of partsOf(statement)) this.#written.add(part)
  }

  read(): Stored {
    const { writes } = this.#object.progress
    if (writes === this.#writes) return this.#stored
    // Someone else wrote too, or a turn was undone.
    const isAll = writes !== this.#writes + this.#knownWrites
    const isRead = (part: Part) => isAll || this.#written.has(part)
    if (isAll || this.#written.size > 0) {
      const { definition, runs, alarms } = this.#stored
      this.#stored = {
        definition: isRead('definition') ? this.#select<StoredDefinition>('definition')[0] : definition,
        runs: isRead('runs') ? this.#select<StoredRun>('runs', ' ORDER BY id') : runs,
        alarms: isRead('alarms') && this.#hasAlarms ? this.#select<StoredAlarm>('alarms') : alarms,
      }
    }
    this.#writes = writes
    this.#knownWrites = 0
    this.#written.clear()
    return this.#stored
  }

  /** The write of a dying turn is undone, and what was read meanwhile with it. */
  forget(): void {
    this.#writes = -1
  }

  #select<Row extends Record<string, string | number | null>>(part: Part, rest = ''): Row[] {
    const table = TABLES[part]
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

const parts = new Map<string, readonly Part[]>()

/** What a statement writes; it is one of few. */
function partsOf(statement: string): readonly Part[] {
  let written = parts.get(statement)
  if (written === undefined) {
    const words = new Set(statement.split(/\W+/))
    written = (['definition', 'runs', 'alarms'] as const).filter((part) => words.has(TABLES[part]))
    parts.set(statement, written)
  }
  return written
}
