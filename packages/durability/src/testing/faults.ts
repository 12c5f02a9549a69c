import { shown } from '../core/checks.ts'
import { checkCount } from './checks.ts'

/** Which calls fail: `skip` matching ones succeed first (default 0), then `times` fail (default 1; `Infinity`: all). */
export interface SimulatedFault {
  readonly skip?: number
  readonly times?: number
  /** Default: an error that says that the storage is full. */
  readonly error?: Error
}

/** Errors that storage shall throw instead of doing what it is asked for. */
export class SimulatedFaults {
  #execs: PendingFault[] = []
  #alarms: PendingFault[] = []

  /**
   * Makes `sql.exec` throw for queries that match, and do nothing.
   *
   * @throws TypeError when `matching` is no regular expression, RangeError for counts below 0.
   */
  failExec(matching: RegExp, fault: SimulatedFault = {}): void {
    if (!(matching instanceof RegExp)) {
      throw new TypeError(`matching must be a regular expression, got ${shown(matching)}`)
    }
    this.#execs.push(new PendingFault(fault, 'database or disk is full: SQLITE_FULL', matching))
  }

  /**
   * Makes `setAlarm` fail: its promise rejects, and no alarm is set.
   *
   * @throws RangeError for counts below 0.
   */
  failSetAlarm(fault: SimulatedFault = {}): void {
    this.#alarms.push(new PendingFault(fault, 'The simulated alarm could not be set'))
  }

  /** Forgets what has not failed yet. */
  clear(): void {
    this.#execs = []
    this.#alarms = []
  }

  /** @internal */
  onExec(query: string): Error | undefined {
    return this.#execs.length === 0 ? undefined : firstError(this.#execs, query)
  }

  /** @internal */
  onSetAlarm(): Error | undefined {
    return this.#alarms.length === 0 ? undefined : firstError(this.#alarms, '')
  }
}

class PendingFault {
  readonly #matching: RegExp | undefined
  readonly #error: Error
  #skip: number
  #times: number

  constructor(fault: SimulatedFault, message: string, matching?: RegExp) {
    this.#matching = matching
    this.#error = fault.error ?? new Error(message)
    const { skip = 0, times = 1 } = fault
    checkCount('skip', skip)
    checkCount('times', times)
    this.#skip = skip
    this.#times = times
  }

  hit(query: string): Error | undefined {
    if (this.#times <= 0 || (this.#matching !== undefined && query.search(this.#matching) === -1))
      return undefined
    if (this.#skip-- > 0) return undefined
    this.#times--
    return this.#error
  }
}

function firstError(faults: readonly PendingFault[], query: string): Error | undefined {
  for (const fault of faults) {
    const error = fault.hit(query)
    if (error !== undefined) return error
  }
  return undefined
}
