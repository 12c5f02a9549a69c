import { LATE_MS } from './excuses.ts'
import type { KnownRun, OutsideWorld } from './outside-world.ts'
import type { Settings } from './settings.ts'
import { ERRORED, RUNNING, type StoredRun, WAITING } from './stored.ts'
import { at } from './trace.ts'

/** What the checks of runs look at besides the rows. */
export interface RunWatch {
  readonly outside: OutsideWorld
  readonly settings: Settings
  readonly now: number
  /** Why nothing may be late just now. */
  readonly latestAt: number | undefined
}

/** Follows each run's row from one committed turn to the next. */
export class RunInvariants {
  /** The highest key that was seen. */
  #lastId = 0
  #lastTime: number | undefined

  observe(rows: readonly StoredRun[], watch: RunWatch): void {
    const { outside } = watch
    let gone = outside.runs.size
    for (const row of rows) {
      const known = outside.runs.get(row.scheduledTime)
      if (known !== undefined && known.id === row.id) {
        gone -= 1
        if (known.row !== row) this.#checkChange(known, row, watch)
      } else this.#checkNew(row, watch)
    }
    if (gone === 0) return
    const stored = new Set(rows.map(({ scheduledTime }) => scheduledTime))
    for (const known of outside.runs.values())
      if (!stored.has(known.scheduledTime)) this.#checkGone(known, watch)
  }

  /** Other code removed the tables. */
  forget(): void {
    this.#lastId = 0
    this.#lastTime = undefined
  }

  #checkNew(row: StoredRun, { outside, now, latestAt }: RunWatch): void {
    const { id, scheduledTime, dueAt, state } = row
    const waits = state === WAITING
    outside.note(`run ${at(scheduledTime)} v${row.version} recorded${waits ? ', waits' : ''}`)
    if (id <= this.#lastId) outside.violate(`the row of ${at(scheduledTime)} came back`)
    if (this.#lastTime !== undefined && this.#lastTime >= scheduledTime) {
      outside.violate(`${at(scheduledTime)} was recorded after ${at(this.#lastTime)}`)
    }
    if (dueAt > now) outside.violate(`${at(scheduledTime)} was recorded before it was due`)
    if (latestAt !== undefined && now > Math.max(dueAt + LATE_MS, latestAt)) {
      outside.violate(`${at(scheduledTime)}, due at ${at(dueAt)}, was recorded late`)
    }
    this.#lastId = Math.max(this.#lastId, id)
    this.#lastTime = scheduledTime
    outside.runs.set(scheduledTime, {
      id,
      scheduledTime,
      recordedBy: outside.instances,
      recordedMs: outside.elapsedMs,
      waited: waits,
      row,
      invokedBy: undefined,
      startedMs: Number.POSITIVE_INFINITY,
      ended: undefined,
      deliveries: 0,
      received: undefined,
      acknowledged: false,
      cutOff: 0,
      // The insert itself was counted, before it was known whether it would be committed.
      writes: 1,
      troubles: new Set(),
    })
  }

  #checkChange(known: KnownRun, row: StoredRun, { outside }: RunWatch): void {
    const { row: before, scheduledTime } = known
    if (row.state < before.state)
      outside.violate(`${at(scheduledTime)} went from ${before.state} to ${row.state}`)
    if (row.state > ERRORED) outside.violate(`${at(scheduledTime)} is in state ${row.state}`)
    if (before.state > RUNNING && (before.state !== row.state || before.outcome !== row.outcome)) {
      outside.violate(`the stored outcome of ${at(scheduledTime)} changed`)
    }
    if (before.state <= RUNNING && row.state > RUNNING) {
      outside.note(`outcome of ${at(scheduledTime)} stored: ${row.outcome}`)
    }
    if (before.state === WAITING && row.state === RUNNING)
      outside.note(`run ${at(scheduledTime)} leaves the queue`)
    if (row.attempts !== before.attempts) {
      outside.note(`attempt ${row.attempts} of ${at(scheduledTime)} failed, next at ${at(row.nextAttemptAt)}`)
      if (row.attempts !== before.attempts + 1) {
        outside.violate(`attempts went from ${before.attempts} to ${row.attempts}`)
      }
      if (known.acknowledged && !known.troubles.has('crash')) {
        outside.violate(`an acknowledged delivery of ${at(scheduledTime)} counts as failed`)
      }
      known.troubles.add('delivery')
      outside.tally.failedDeliveries += 1
    }
    known.row = row
  }

  #checkGone(known: KnownRun, watch: RunWatch): void {
    const { outside, settings } = watch
    const { scheduledTime, row, troubles } = known
    outside.runs.delete(scheduledTime)
    outside.note(`the row of ${at(scheduledTime)} is gone`)
    const hasCrashed = troubles.has('crash')
    if (known.invokedBy === undefined && !hasCrashed && !outside.hasFailedSince(known)) {
      outside.violate(`${at(scheduledTime)} was never started`)
    }
    if (settings.hasReceiver) this.#checkAcknowledged(known, watch)
    else if (!this.#isSettled(known, outside)) {
      outside.violate(`the row of ${at(scheduledTime)} went away before its run had ended`)
    }
    if (!hasCrashed && !outside.hasFailedSince(known)) {
      const { waited, writes } = known
      const most = (settings.hasReceiver ? 3 : 2) + (waited ? 1 : 0) + row.attempts
      if (writes > most)
        outside.violate(`${writes} writes of the row of ${at(scheduledTime)}, ${most} are right`)
    }
    outside.tally.ticks += 1
    if (troubles.size > 0) outside.tally.troubled += 1
    for (const kind of troubles) outside.tally.by[kind] += 1
  }

  #checkAcknowledged(known: KnownRun, { outside, settings }: RunWatch): void {
    if (known.acknowledged) return
    const { attempts, delivering } = known.row
    known.troubles.add('delivery')
    outside.tally.failedDeliveries += 1
    // A marked delivery that a crash cut off counts as an attempt, also when the receiver was not reached.
    const wasTried = known.deliveries > 0 || delivering === 1
    if (attempts + 1 >= settings.maxAttempts && wasTried) return
    outside.violate(
      `the row of ${at(known.scheduledTime)} went away unacknowledged after ${attempts} attempts`,
    )
  }

  #isSettled(known: KnownRun, outside: OutsideWorld): boolean {
    if (known.ended !== undefined || known.row.state > RUNNING) return true
    return outside.isOrphan(known, outside.instances) || outside.isTimedOut(known)
  }
}
