import type { OutsideWorld } from './outside-world.ts'
import type { StoredAlarm } from './stored.ts'
import { at } from './trace.ts'

interface KnownAlarm {
  row: StoredAlarm
  /** Attempts that reached the handler. */
  calls: number
  completed: boolean
  crashed: boolean
}

/** Follows the occurrences of named alarms: each runs at least once, up to its attempts, and none after its row went. */
export class NamedAlarms {
  readonly #known = new Map<string, KnownAlarm>()
  readonly #outside: OutsideWorld
  /** Requests that set or cancel, and may have removed what was pending. */
  #requests = 0

  constructor(outside: OutsideWorld) {
    this.#outside = outside
  }

  /** A request that replaces or removes what is pending has been made. */
  requested(): void {
    this.#requests += 1
  }

  crashed(): void {
    for (const known of this.#known.values()) known.crashed = true
  }

  /** The handler is called. Answers what to call when it has returned. */
  called(info: { readonly idempotencyKey: string; readonly attempt: number }, now: number): () => void {
    const occurrence = info.idempotencyKey.slice(info.idempotencyKey.lastIndexOf(':') + 1)
    const known = this.#known.get(occurrence)
    this.#outside.note(`ping, attempt ${info.attempt}`)
    if (known === undefined) {
      this.#outside.violate('an alarm without a row is run')
      return () => undefined
    }
    const { attempt, scheduledTime } = known.row
    if (attempt !== info.attempt) this.#outside.violate(`attempt ${info.attempt} runs, ${attempt} is stored`)
    if (attempt === 1 && scheduledTime > now)
      this.#outside.violate(`the alarm for ${at(scheduledTime)} is run too early`)
    if (known.completed && !known.crashed)
      this.#outside.violate('an alarm is run again after it had completed')
    known.calls += 1
    return () => {
      known.completed = true
    }
  }

  observe(rows: readonly StoredAlarm[], maxAttempts: number): void {
    const stored = new Set<string>()
    for (const row of rows) {
      stored.add(row.occurrence)
      const known = this.#known.get(row.occurrence)
      if (known === undefined) {
        this.#outside.note(`alarm for ${at(row.scheduledTime)} stored`)
        this.#known.set(row.occurrence, { row, calls: 0, completed: false, crashed: false })
        // It may have been due when it was set: its first attempt began in the turns since.
        if (row.attempt > 1) this.#outside.violate(`a new alarm has ${row.attempt} attempts behind it`)
      } else {
        if (row.attempt < known.row.attempt || row.attempt > known.row.attempt + 1) {
          this.#outside.violate(`attempts of an alarm went from ${known.row.attempt} to ${row.attempt}`)
        }
        if (row.attempt > maxAttempts) this.#outside.violate(`an alarm has ${row.attempt} attempts`)
        known.row = row
      }
    }
    for (const [occurrence, known] of this.#known) {
      if (!stored.has(occurrence)) this.#checkGone(occurrence, known, maxAttempts)
    }
  }

  /** The request has been answered: what goes from now on has run. */
  answered(): void {
    this.#requests = 0
  }

  #checkGone(occurrence: string, { row, completed, crashed, calls }: KnownAlarm, maxAttempts: number): void {
    this.#known.delete(occurrence)
    this.#outside.note(`the alarm for ${at(row.scheduledTime)} is gone`)
    if (completed || this.#requests > 0) return
    if (row.attempt >= maxAttempts && (calls > 0 || crashed)) return
    this.#outside.violate(`the alarm for ${at(row.scheduledTime)} went away after ${row.attempt} attempts`)
  }
}
