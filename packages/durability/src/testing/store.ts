import { SimulatedDatabase } from './database.ts'
import type { Life } from './life.ts'
import type { TurnQueue } from './turns.ts'

/** The alarm as storage holds it. While `delivering`, the platform has handed it over and waits for `alarm()` to end. */
export interface StoredAlarm {
  readonly at: number | null
  readonly delivering: boolean
}

export const NO_ALARM: StoredAlarm = { at: null, delivering: false }

interface Turn {
  readonly life: Life
  wrote: boolean
  crashAfterCommit: boolean
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
    const turn: Turn = { life, wrote: false, crashAfterCommit: false }
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

  /** The platform's own change of the alarm, outside of any turn: it is durable at once. */
  commitAlarm(alarm: StoredAlarm): void {
    this.#alarm = alarm
    this.#committedAlarm = alarm
  }

  transaction<T>(life: Life, write: () => T): T {
    this.begin(life)
    const turn = this.#turn
    const alarm = this.#alarm
    const savepoint = `s${++this.#savepoints}`
    this.database.control(`SAVEPOINT ${savepoint}`)
    try {
      const result = write()
      if (this.#turn === turn) this.database.control(`RELEASE ${savepoint}`)
      return result
    } catch (error) {
      if (this.#turn === turn) {
        this.database.control(`ROLLBACK TO ${savepoint}`)
        this.database.control(`RELEASE ${savepoint}`)
        this.#alarm = alarm
      }
      throw error
    } finally {
      this.#savepoints--
    }
  }

  /**
   * Dooms the turn of an instance that has just died. What the instance still does in this turn goes on in a
   * transaction that will be rolled back: code cannot be stopped in the middle, but nothing of it is kept.
   */
  doom(life: Life): void {
    this.begin(life)
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
    if (this.#turn !== turn) return
    if (turn.wrote && !turn.life.dead) turn.life.passSeam('commit')
    if (turn.life.dead) {
      this.#rollBack(turn)
      return
    }
    this.database.control('COMMIT')
    this.#turn = undefined
    this.#committedAlarm = this.#alarm
    if (turn.wrote) turn.life.committed()
    if (turn.crashAfterCommit) turn.life.kill()
  }

  #rollBack(turn: Turn): void {
    this.database.closeCursors()
    this.database.control('ROLLBACK')
    this.#turn = undefined
    this.#alarm = this.#committedAlarm
    turn.life.bury()
  }
}
