/** What an object has cost since its counters were last reset. An armed alarm is billed as one row written. */
export interface SimulatedCosts {
  readonly rowsRead: number
  readonly rowsWritten: number
  readonly alarmsSet: number
  readonly alarmsDeleted: number
  /** Turns that wrote something. */
  readonly commits: number
}

export class CostCounter {
  #costs = { ...NOTHING }

  get total(): SimulatedCosts {
    return { ...this.#costs }
  }

  add(name: keyof SimulatedCosts, amount: number): void {
    this.#costs[name] += amount
  }

  reset(): void {
    this.#costs = { ...NOTHING }
  }
}

const NOTHING: SimulatedCosts = { rowsRead: 0, rowsWritten: 0, alarmsSet: 0, alarmsDeleted: 0, commits: 0 }
