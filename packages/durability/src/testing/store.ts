import { SimulatedDatabase } from './database.ts'
import type { Life } from './life.ts'
import { sqlError } from './sql-errors.ts'
import type { TurnQueue } from './turns.ts'

/** The alarm as storage holds it. While `delivering`, the platform has handed it over and waits for `alarm()` to end. */
export interface StoredAlarm {
  readonly at: number | null
  readonly delivering: boolean
  /** Left over in storage, unknown to the platform: it is seen by `getAlarm()` and never delivered. */
  readonly isStale?: boolean
}

export const NO_ALARM: StoredAlarm = { at: null, delivering: false }

interface Turn {
  readonly life: Life
  wrote: boolean
  crashAfterCommit: boolean
  /** An asynchronous transaction keeps it open over many turns of the event loop. */
  isHeld: boolean
}

/** A part of a turn that can be undone. */
export interface Savepoint {
  release(): void
  rollBack(): void
}

/**
 * What outlives an instance: the database and the alarm. All writes of one turn are one transaction; it is committed
 * when the turn is over, or lost whole when the instance dies before that.
 */
export class DurableStore {
  readonly database: SimulatedDatabase = new SimulatedDatabase()
  readonly #turns: TurnQueue
  #alarm = NO_ALARM
  #committedAlarm = NO_ALARM
  #turn: Turn | undefined
  #savepoints = 0
  #synchronous = 0
  #waiting: (() => void)[] = []

  constructor(turns: TurnQueue) {
    this.#turns = turns
  }

  /** The alarm as the running turn sees it. */
  get alarm(): StoredAlarm {
    return this.#alarm
  }

  /** The alarm that the platform knows of. */
  get committedAlarm(): StoredAlarm {
    return this.#committedAlarm
  }

  /** Starts the instance's transaction, unless this turn has one already. */
  begin(life: Life): void {
    if (this.#turn !== undefined) return
    this.database.control('BEGIN')
    const turn: Turn = { life, wrote: false, crashAfterCommit: false, isHeld: false }
    this.#turn = turn
    this.#turns.atTurnEnd(() => this.#end(turn))
  }

  /** Notes that the turn holds a write, and whether the instance is to die right after its commit. */
  wrote(crashAfterCommit: boolean): void {
    if (this.#turn === undefined) return
    this.#turn.wrote = true
    this.#turn.crashAfterCommit ||= crashAfterCommit
  }

  setAlarm(alarm: StoredAlarm): void {
    this.#alarm = alarm
  }

  /** The platform's own change of the alarm: it is durable at once, but for what an open turn has done to it. */
  commitAlarm(alarm: StoredAlarm): void {
    if (this.#alarm === this.#committedAlarm) this.#alarm = alarm
    this.#committedAlarm = alarm
  }

  /** Runs `write` as one unit within the turn. */
  transaction<T>(life: Life, write: () => T): T {
    const { delivering, at } = this.#alarm
    const before = this.#alarm
    const savepoint = this.savepoint(life)
    let isRunning = true
    this.#synchronous++
    try {
      const result = write()
      isRunning = false
      savepoint.release()
      return result
    } catch (error) {
      if (!isRunning) throw error
      const changedAlarm = this.#alarm !== before
      savepoint.rollBack()
      // The runtime forgets then that it is delivering this one: it stays in storage when `alarm()` has ended.
      if (delivering && changedAlarm) this.#alarm = { at, delivering, isStale: true }
      throw error
    } finally {
      this.#synchronous--
    }
  }

  get isInTransactionSync(): boolean {
    return this.#synchronous > 0
  }

  savepoint(life: Life): Savepoint {
    this.begin(life)
    const turn = this.#turn
    const alarm = this.#alarm
    const name = `s${++this.#savepoints}`
    this.database.control(`SAVEPOINT ${name}`)
    const end = (...statements: string[]): boolean => {
      // A turn that is over has taken its savepoints with it.
      if (this.#turn !== turn) return false
      this.#savepoints--
      try {
        for (const statement of statements) this.database.control(`${statement} ${name}`)
      } catch (error) {
        // As in the runtime, an object whose transaction can neither be kept nor undone cannot go on.
        life.kill(error)
        throw error
      }
      return true
    }
    return {
      release: () => void end('RELEASE'),
      rollBack: () => {
        if (end('ROLLBACK TO', 'RELEASE')) this.#alarm = alarm
      },
    }
  }

  /** Keeps what is written from now on uncommitted, until the returned function is called. */
  hold(life: Life): () => void {
    this.begin(life)
    const turn = this.#turn
    if (turn === undefined || turn.isHeld) return () => undefined
    turn.isHeld = true
    return () => {
      turn.isHeld = false
      this.#turns.atTurnEnd(() => this.#end(turn))
    }
  }

  /** Whether an asynchronous transaction is going on. */
  get isHeld(): boolean {
    return this.#turn?.isHeld === true
  }

  /** Removes everything, durably at once; with the turn's commit only where the instance is dead already. */
  deleteAll(life: Life): void {
    this.begin(life)
    this.database.dropAll()
    this.#alarm = NO_ALARM
    if (!life.dead) this.#commit()
  }

  /** Calls `then` once everything written so far is committed: now, when nothing is open. */
  whenCommitted(then: () => void): void {
    if (this.#turn?.wrote) this.#waiting.push(then)
    else then()
  }

  /**
   * Dooms the turn of an instance that has just died. What the instance still does in this turn goes on in a
   * transaction that will be rolled back: code cannot be stopped in the middle, but nothing of it is kept.
   */
  doom(life: Life): void {
    this.begin(life)
    const turn = this.#turn
    if (!turn?.isHeld) return
    turn.isHeld = false
    this.#turns.atTurnEnd(() => this.#end(turn))
  }

  /** Ends a doomed turn early, because someone looks at storage or a new instance starts. */
  bury(): void {
    if (this.#turn?.life.dead) this.#rollBack(this.#turn)
  }

  close(): void {
    this.#turn = undefined
    this.database.close()
  }

  #end(turn: Turn): void {
    if (this.#turn !== turn || turn.isHeld) return
    if (turn.wrote && !turn.life.dead) turn.life.passSeam('commit')
    if (turn.life.dead) {
      this.#rollBack(turn)
      return
    }
    try {
      this.#commit()
    } catch (error) {
      turn.life.kill(commitError(error))
      this.#rollBack(turn)
      return
    }
    if (turn.crashAfterCommit) turn.life.kill()
    const waiting = this.#waiting
    if (waiting.length === 0) return
    this.#waiting = []
    for (const then of waiting) then()
  }

  #commit(): void {
    this.database.control('COMMIT')
    const turn = this.#turn
    this.#turn = undefined
    this.#savepoints = 0
    this.#committedAlarm = this.#alarm
    if (turn?.wrote) turn.life.committed()
  }

  #rollBack(turn: Turn): void {
    this.database.closeCursors()
    this.database.control('ROLLBACK')
    this.database.reconnect()
    this.#turn = undefined
    this.#savepoints = 0
    this.#waiting = []
    this.#alarm = this.#committedAlarm
    turn.life.bury()
  }
}

/** Some constraints may be left for the end of the turn. */
function commitError(cause: unknown): unknown {
  const error = sqlError(cause)
  if (!(error instanceof Error && error.message.includes('SQLITE_CONSTRAINT'))) return error
  return new Error(
    `Durable Object was reset and rolled back to its last known good state because the application left the database in a state where constraints were violated: ${error.message}`,
    { cause },
  )
}
