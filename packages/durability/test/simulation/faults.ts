/** What the platform refuses to do, and when: `skip` calls succeed first, then `times` fail. */
interface Refusal {
  skip: number
  times: number
}

/** Storage that is full, alarms that are refused and expressions that cannot be read, on purpose. */
export class Faults {
  /** How many calls failed. */
  hits = 0
  readonly #writes: Refusal[] = []
  readonly #throwingAlarms: Refusal[] = []
  readonly #rejectedAlarms: Refusal[] = []
  readonly #searches: Refusal[] = []

  /** Storage is full from the write after the next `skip` on, for `times` of them. */
  failWrites(skip: number, times: number): void {
    this.#writes.push({ skip, times })
  }

  /** `setAlarm` fails: by throwing in the turn of the call, or by a rejection after it. */
  failAlarms(how: 'throws' | 'rejects', skip: number, times: number): void {
    const alarms = how === 'throws' ? this.#throwingAlarms : this.#rejectedAlarms
    alarms.push({ skip, times })
  }

  /** `nextOccurrence` throws. */
  failSearches(skip: number, times: number): void {
    this.#searches.push({ skip, times })
  }

  clear(): void {
    for (const refusals of [this.#writes, this.#throwingAlarms, this.#rejectedAlarms, this.#searches]) {
      refusals.length = 0
    }
  }

  onWrite(): void {
    if (this.#hit(this.#writes)) throw new Error('database or disk is full: SQLITE_FULL')
  }

  onSearch(): void {
    if (this.#hit(this.#searches)) throw new Error('nextOccurrence() throws')
  }

  /** Answers why the alarm is refused by a rejection. */
  onSetAlarm(): Error | undefined {
    if (this.#hit(this.#throwingAlarms)) throw new Error('setAlarm() throws')
    return this.#hit(this.#rejectedAlarms) ? new Error('setAlarm() rejects') : undefined
  }

  /** Of several refusals each counts the calls that the ones before it let pass. */
  #hit(refusals: Refusal[]): boolean {
    for (const refusal of refusals) {
      if (refusal.times <= 0) continue
      if (refusal.skip > 0) {
        refusal.skip -= 1
        continue
      }
      refusal.times -= 1
      this.hits += 1
      return true
    }
    return false
  }
}
