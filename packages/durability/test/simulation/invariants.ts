import type { SimulatedObject } from '../../src/testing/index.ts'
import { nextOccurrence, tickAfter } from './expressions.ts'
import { at, type OutsideWorld } from './outside-world.ts'
import type { Subject } from './subject.ts'

type DefinitionRow = {
  version: number | null
  expression: string | null
  jitterMs: number
  nextTime: number | null
  lastTime: number | null
  lastRunId: number
}

type RunRow = {
  id: number
  scheduledTime: number
  dueAt: number
  version: number
  state: number
  errorName: string | null
  errorMessage: string | null
  attempts: number
  nextAttemptAt: number | null
  delivering: number
}

interface SeenRun {
  readonly scheduledTime: number
  outcome: string | undefined
  attempts: number
  /** A delivery of it was about to begin when it was last seen. */
  marked: boolean
  gone: boolean
}

export interface InvariantOptions {
  readonly minDelayMs: number
  readonly maxAttempts: number
  readonly hasReceiver: boolean
  readonly hasAlarms: boolean
  /** A helper that failed is left out for a while, and so is what it has to do. */
  readonly hasFaults: boolean
}

const RUNNING = 1

/** Watches what is committed, from one turn to the next, and knows what may follow what. */
export class Invariants {
  readonly runs: Map<number, SeenRun> = new Map()
  /** The alarm was changed from outside, or a clock was set: where it stands says nothing until the next call or pass. */
  excusesAlarm = false
  /** How often that happened. */
  excuses = 0
  #definition: DefinitionRow | undefined
  readonly #object: SimulatedObject<Subject>
  readonly #outside: OutsideWorld
  readonly #options: InvariantOptions

  constructor(object: SimulatedObject<Subject>, outside: OutsideWorld, options: InvariantOptions) {
    this.#object = object
    this.#outside = outside
    this.#options = options
  }

  rowOf(scheduledTime: number): RunRow | undefined {
    return this.#select<RunRow>(
      `SELECT * FROM durability_schedule_runs WHERE scheduledTime = ${scheduledTime}`,
    )[0]
  }

  excuseAlarm(): void {
    this.excusesAlarm = true
    this.excuses += 1
  }

  /** Rows that other code removed are nobody's debt any more. */
  excuseRows(): void {
    this.runs.clear()
    this.#definition = undefined
  }

  /** Compares what is stored with what was stored before. Call it only where the last turn is committed. */
  observe(): void {
    const definition = this.#select<DefinitionRow>('SELECT * FROM durability_schedule')[0]
    const rows = this.#select<RunRow>('SELECT * FROM durability_schedule_runs ORDER BY id')
    this.#checkRuns(rows)
    this.#checkDefinition(definition, rows)
    this.#definition = definition
  }

  /** Invariant 6, where everything has settled: what is not done will be, however the object dies. */
  checkAlarm(): void {
    if (this.#object.inAlarm && this.#object.alarmAt === null) return
    const now = this.#object.world.clock.now()
    const wantedAt = this.#wantedAt(now)
    const { alarmAt } = this.#object
    if (wantedAt === undefined || this.excusesAlarm) return
    if (now <= this.#outside.refusedAt + this.#options.minDelayMs) return
    if (alarmAt === null) {
      this.#outside.violate(`no alarm is armed, one is wanted at ${at(wantedAt)}`)
    } else if (alarmAt > Math.max(wantedAt, now + 1)) {
      this.#outside.violate(`the alarm at ${at(alarmAt)} is too late, it is wanted at ${at(wantedAt)}`)
    }
  }

  /** Without a crash every recorded run was started, when it was due or as soon as a slot was free. */
  checkAllInvoked(): void {
    const invoked = new Set(this.#outside.invocations.map(({ scheduledTime }) => scheduledTime))
    for (const { scheduledTime } of this.runs.values()) {
      if (!invoked.has(scheduledTime)) this.#outside.violate(`${at(scheduledTime)} was never started`)
    }
  }

  /** Nothing is left to do: what was recorded has been reported, and no trace of it remains. */
  checkEnd(): void {
    for (const { scheduledTime, gone } of this.runs.values()) {
      if (!gone) this.#outside.violate(`the row of ${at(scheduledTime)} is still there`)
    }
    const { alarmAt, inAlarm, world } = this.#object
    if (alarmAt !== null) this.#outside.violate(`an alarm is left at ${at(alarmAt)}`)
    if (inAlarm) this.#outside.violate('a pass is left open')
    if (world.clock.pendingTimers > 0) this.#outside.violate('a timer is left')
    if (this.#pendingAlarms().length > 0) this.#outside.violate('a named alarm is left')
  }

  #checkRuns(rows: readonly RunRow[]): void {
    const stored = new Set<number>()
    for (const row of rows) {
      stored.add(row.id)
      const outcome = row.state <= RUNNING ? undefined : `${row.state} ${row.errorName} ${row.errorMessage}`
      const seen = this.runs.get(row.id)
      if (seen === undefined) {
        this.#outside.note(`run ${at(row.scheduledTime)} recorded${row.state === 0 ? ', waits' : ''}`)
        this.#checkNewRun(row)
        const { attempts } = row
        this.runs.set(row.id, {
          scheduledTime: row.scheduledTime,
          outcome,
          attempts,
          marked: false,
          gone: false,
        })
        continue
      }
      if (seen.gone) this.#outside.violate(`the row of ${at(row.scheduledTime)} came back`)
      if (seen.outcome !== undefined && seen.outcome !== outcome) {
        this.#outside.violate(`the stored outcome of ${at(row.scheduledTime)} changed`)
      }
      if (row.attempts < seen.attempts || row.attempts > seen.attempts + 1) {
        this.#outside.violate(`attempts went from ${seen.attempts} to ${row.attempts}`)
      }
      seen.outcome = outcome
      seen.attempts = row.attempts
      seen.marked = row.delivering === 1
    }
    for (const [id, seen] of this.runs) if (!stored.has(id) && !seen.gone) this.#checkGone(seen)
  }

  #checkNewRun(row: RunRow): void {
    const ids = [...this.runs.keys()]
    const previous = ids.length === 0 ? undefined : this.runs.get(Math.max(...ids))
    if (previous !== undefined && previous.scheduledTime >= row.scheduledTime) {
      this.#outside.violate(`${at(row.scheduledTime)} was recorded after ${at(previous.scheduledTime)}`)
    }
    if (row.dueAt > this.#object.world.clock.now()) {
      this.#outside.violate(`${at(row.scheduledTime)} was recorded before it was due`)
    }
  }

  #checkGone(seen: SeenRun): void {
    seen.gone = true
    const { scheduledTime } = seen
    if (!this.#options.hasReceiver) return
    const deliveries = this.#outside.deliveries.filter((other) => other.scheduledTime === scheduledTime)
    if (deliveries.some((delivery) => delivery.acknowledged)) return
    // A marked delivery that a crash cut off counts as an attempt, also when the receiver was not reached.
    const wasTried = deliveries.length > 0 || seen.marked
    if (seen.attempts + 1 >= this.#options.maxAttempts && wasTried) return
    this.#outside.violate(
      `the row of ${at(scheduledTime)} went away unacknowledged after ${seen.attempts} attempts`,
    )
  }

  #checkDefinition(definition: DefinitionRow | undefined, rows: readonly RunRow[]): void {
    const before = this.#definition
    if (before === undefined) return
    if (definition === undefined) {
      this.#outside.violate('the schedule is gone')
      return
    }
    const now = this.#object.world.clock.now()
    const recorded = rows.filter((row) => row.id > before.lastRunId)
    const first = recorded[0]
    if (definition.lastRunId > before.lastRunId && first === undefined) {
      this.#outside.violate(`run ${definition.lastRunId} was recorded and removed in one turn`)
    }
    if ((definition.lastTime ?? 0) < (before.lastTime ?? 0)) this.#outside.violate('nominal times went back')
    if (first !== undefined && first.scheduledTime !== before.nextTime) {
      this.#outside.violate(`${at(first.scheduledTime)} was recorded, the cursor was ${at(before.nextTime)}`)
    }
    const isSame = definition.version === before.version && definition.expression === before.expression
    const wasDue = before.nextTime !== null && before.nextTime + before.jitterMs <= now
    const version = isSame || wasDue ? before.version : definition.version
    if (first !== undefined && first.version !== version) {
      this.#outside.violate(`${at(first.scheduledTime)} has version ${first.version}, right is ${version}`)
    }
    if (isSame) this.#checkCursor(before, definition, now)
    // A tick of the new definition may follow in the same turn: it has moved the cursor then.
    else if (recorded.length === (wasDue ? 1 : 0)) this.#checkChange(before, definition, now)
    else if (recorded.length === 0) this.#outside.violate(`the due tick ${at(before.nextTime)} was dropped`)
  }

  /** The same definition: its cursor moves by a tick only. */
  #checkCursor(before: DefinitionRow, { nextTime, lastTime }: DefinitionRow, now: number): void {
    let expected = before.nextTime ?? undefined
    if (lastTime !== before.lastTime && before.nextTime !== null && before.expression !== null) {
      expected = tickAfter(before.expression, before.nextTime, before.jitterMs, now)
    }
    if ((nextTime ?? undefined) !== expected) {
      this.#outside.violate(`the cursor is ${at(nextTime)}, right is ${at(expected)}`)
    }
  }

  /** Another definition: a due tick of the old one is recorded, one within its jitter is kept or dropped. */
  #checkChange(before: DefinitionRow, definition: DefinitionRow, now: number): void {
    const { nextTime: passed, jitterMs } = before
    const isDue = passed !== null && passed + jitterMs <= now
    const { expression } = definition
    if (expression === null) {
      if (definition.nextTime !== null) this.#outside.violate('a cancelled schedule has a next tick')
      return
    }
    const last = definition.lastTime ?? Number.NEGATIVE_INFINITY
    let expected = nextOccurrence(expression, Math.max(now, last))
    if (expression === before.expression && passed !== null && passed <= now) {
      const kept = isDue ? tickAfter(expression, passed, jitterMs, now) : passed
      if (kept === undefined || kept <= now) expected = kept
    }
    if ((definition.nextTime ?? undefined) !== expected) {
      this.#outside.violate(`the new cursor is ${at(definition.nextTime)}, right is ${at(expected)}`)
    }
  }

  /** The latest time at which an alarm still keeps every promise, should the object die now. */
  #wantedAt(now: number): number | undefined {
    const { minDelayMs, hasFaults } = this.#options
    const definition = this.#select<DefinitionRow>('SELECT * FROM durability_schedule')[0]
    const nextTime = definition?.nextTime ?? undefined
    const tickAt = nextTime === undefined ? undefined : nextTime + (definition?.jitterMs ?? 0)
    const wanted = [tickAt === undefined || !hasFaults ? tickAt : Math.max(tickAt, now + minDelayMs)]
    for (const row of this.#select<RunRow>('SELECT * FROM durability_schedule_runs ORDER BY id')) {
      // Within a pass, and after it was cut off, the next tick is soon enough; work outside one is held sooner.
      const heldOutside = this.#object.alive && this.#object.instance.openPasses === 0
      if (tickAt === undefined || heldOutside) {
        wanted.push(Math.max(row.nextAttemptAt ?? now, now + minDelayMs))
      }
    }
    for (const row of this.#pendingAlarms()) {
      // While a pass is held, what comes due waits for its end.
      wanted.push(Math.max(row.nextAttemptAt, now + minDelayMs))
    }
    return wanted.reduce<number | undefined>(
      (earliest, time) => (time === undefined ? earliest : Math.min(earliest ?? time, time)),
      undefined,
    )
  }

  #pendingAlarms(): { nextAttemptAt: number }[] {
    if (!this.#options.hasAlarms) return []
    return this.#select('SELECT nextAttemptAt FROM durability_alarms')
  }

  #select<Row extends Record<string, string | number | null>>(query: string): Row[] {
    try {
      return this.#object.rows<Row>(query)
    } catch (error) {
      if (error instanceof Error && error.message.includes('no such table')) return []
      throw error
    }
  }
}
