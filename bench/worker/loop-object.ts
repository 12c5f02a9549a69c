import { BenchObject, SLOTS } from './bench-object.ts'
import { nextOccurrence } from './times.ts'

type Cursor = { readonly expression: string; readonly nextTime: number; readonly lastId: number }
type Run = { readonly id: number; readonly scheduledTime: number }

const WAITING = 0
const RUNNING = 1
const COMPLETE = 2
const ERRORED = 3

/**
 * What one writes by hand: a row for the cursor, a row per run, tick and alarm in one transaction, the outcome stored
 * before it is passed on, the row deleted after that. Runs that find no slot wait in their rows, in order. It has no
 * more than that: no versions, no limits of time, no retries, and what a crash leaves nobody looks at.
 */
export class LoopObject extends BenchObject {
  #inFlight = 0
  /** The keys of the first run that waits, or of the next one, and of the last one; `undefined` in a new instance. */
  #nextToStart: number | undefined
  #lastId = 0

  override async alarm(): Promise<void> {
    const run = this.#tick()
    if (run) await this.#finishFrom(run)
    else if (this.#inFlight === 0) await this.#finishWaiting()
  }

  #tick(): Run | undefined {
    const { storage } = this.ctx
    return storage.transactionSync(() => {
      const { expression, nextTime, lastId } = this.#readCursor()
      if (nextTime > this.clock.now()) {
        // An alarm can come early, and is then gone.
        void storage.setAlarm(nextTime)
        return undefined
      }
      const next = nextOccurrence(expression, nextTime)
      const id = lastId + 1
      const isWaiting = this.#inFlight >= SLOTS || this.#nextToStart !== id
      const state = isWaiting ? WAITING : RUNNING
      storage.sql.exec('UPDATE loop_cursor SET nextTime = ?, lastId = ? WHERE id = 1', next, id)
      storage.sql.exec(
        'INSERT INTO loop_runs (id, scheduledTime, state) VALUES (?, ?, ?)',
        id,
        nextTime,
        state,
      )
      void storage.setAlarm(next)
      this.#lastId = id
      if (isWaiting) return undefined
      this.#nextToStart = id + 1
      return { id, scheduledTime: nextTime }
    })
  }

  #readCursor(): Cursor {
    const { sql } = this.ctx.storage
    const cursor = sql.exec<Cursor>('SELECT expression, nextTime, lastId FROM loop_cursor WHERE id = 1').one()
    if (this.#nextToStart === undefined) {
      const [first] = sql.exec<Run>('SELECT * FROM loop_runs WHERE state = ? ORDER BY id LIMIT 1', WAITING)
      this.#lastId = cursor.lastId
      this.#nextToStart = first?.id ?? cursor.lastId + 1
    }
    return cursor
  }

  /** Finishes a run, and in its slot those that wait, one after the other. */
  async #finishFrom(first: Run): Promise<void> {
    this.#inFlight += 1
    for (let run: Run | undefined = first; run; run = this.#startNext()) await this.#finish(run)
    this.#inFlight -= 1
  }

  async #finish({ id, scheduledTime }: Run): Promise<void> {
    let outcome: { status: 'complete' | 'errored'; error?: string } = { status: 'complete' }
    try {
      await this.handlers.run(scheduledTime)
    } catch (error) {
      outcome = { status: 'errored', error: String(error) }
    }
    const { sql } = this.ctx.storage
    const state = outcome.status === 'complete' ? COMPLETE : ERRORED
    sql.exec('UPDATE loop_runs SET state = ?, outcome = ? WHERE id = ?', state, JSON.stringify(outcome), id)
    await this.handlers.note(scheduledTime, outcome)
    sql.exec('DELETE FROM loop_runs WHERE id = ?', id)
  }

  #startNext(): Run | undefined {
    const id = this.#nextToStart ?? 0
    if (id > this.#lastId) return undefined
    const { sql } = this.ctx.storage
    const run = sql.exec<Run>('SELECT id, scheduledTime FROM loop_runs WHERE id = ?', id).one()
    sql.exec('UPDATE loop_runs SET state = ? WHERE id = ?', RUNNING, id)
    this.#nextToStart = id + 1
    return run
  }

  async #finishWaiting(): Promise<void> {
    const finishing: Promise<void>[] = []
    for (let slot = 0; slot < SLOTS; slot += 1) {
      const run = this.#startNext()
      if (run) finishing.push(this.#finishFrom(run))
    }
    await Promise.all(finishing)
  }

  protected override schedule(expression: string): Promise<void> {
    const { storage } = this.ctx
    storage.sql.exec(
      `CREATE TABLE IF NOT EXISTS loop_cursor (id INTEGER PRIMARY KEY, expression, nextTime, lastId);
       CREATE TABLE IF NOT EXISTS loop_runs (id INTEGER PRIMARY KEY, scheduledTime, state, outcome)`,
    )
    const next = nextOccurrence(expression, this.clock.now())
    storage.sql.exec('REPLACE INTO loop_cursor VALUES (1, ?, ?, 0)', expression, next)
    return storage.setAlarm(next)
  }

  protected override tickBeside(): void {
    this.ctx.waitUntil(this.alarm())
  }

  protected override addWaiting(count: number): void {
    const { storage } = this.ctx
    const { sql } = storage
    storage.transactionSync(() => {
      const { lastId } = this.#readCursor()
      for (let id = lastId + 1; id <= lastId + count; id += 1)
        sql.exec('INSERT INTO loop_runs (id, scheduledTime, state) VALUES (?, ?, ?)', id, id, WAITING)
      sql.exec('UPDATE loop_cursor SET lastId = ?', lastId + count)
      this.#lastId = lastId + count
    })
  }

  override unfinished(): number {
    const { count } = this.ctx.storage.sql
      .exec<{ count: number }>('SELECT count(*) AS count FROM loop_runs')
      .one()
    return count
  }
}
