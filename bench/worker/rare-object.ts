import { DurableObject } from 'cloudflare:workers'
import { DurabilityAlarms, DurabilityScheduler } from 'durability'
import { DurabilitySchedule } from 'durability/experimental'
import { BenchClock } from './bench-clock.ts'
import { type Cost, countIn, takeFrom } from './cost.ts'
import { nextOccurrence } from './times.ts'

const START_AT = Date.UTC(2027, 0, 1)
const HOUR_MS = 3_600_000
const DAILY = `${24 * HOUR_MS} 0`
/** Further away than `alarmMinDelayMs`, so that nothing is held until then. */
const RETRY_MS = 60_000

/** What is not part of an ordinary run: each method answers what it cost, from the first write to the last. */
export class RareObject extends DurableObject {
  readonly #cost: Cost = countIn(this.ctx.storage)
  readonly #clock = new BenchClock()
  readonly #scheduler = new DurabilityScheduler({ context: this.ctx, clock: this.#clock })
  #failures = 0
  readonly #schedule = new DurabilitySchedule({
    scheduler: this.#scheduler,
    nextOccurrence,
    run: () => {},
    onOutcome: () => this.#fail(),
    outcomeRetries: { delay: () => RETRY_MS },
  })
  readonly #alarms = new DurabilityAlarms({
    scheduler: this.#scheduler,
    handlers: { named: () => this.#fail() },
    retries: { delay: () => RETRY_MS },
  })

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }

  /** A run whose first `failures` deliveries fail. */
  async run(failures: number): Promise<Cost> {
    await this.#setSchedule()
    return this.#costFrom(START_AT + 24 * HOUR_MS, failures)
  }

  /** A named alarm from its `set` to its end, alone or beside a schedule; the first `failures` attempts fail. */
  async named(options: { readonly failures: number; readonly besideSchedule: boolean }): Promise<Cost> {
    this.#clock.moveTo(START_AT)
    if (options.besideSchedule) await this.#setSchedule()
    // The first one ever also creates the table.
    await this.#alarms.set('named', START_AT + HOUR_MS)
    await this.#alarms.cancel('named')
    takeFrom(this.#cost)
    await this.#alarms.set('named', START_AT + HOUR_MS)
    return this.#costFrom(START_AT + HOUR_MS, options.failures, false)
  }

  async #setSchedule(): Promise<void> {
    this.#clock.moveTo(START_AT)
    await this.#schedule.set({ expression: DAILY, version: 1 })
    await this.ctx.storage.sync()
  }

  async #costFrom(at: number, failures: number, isNew = true): Promise<Cost> {
    if (isNew) takeFrom(this.#cost)
    this.#failures = failures
    for (let attempt = 0; attempt <= failures; attempt += 1) {
      this.#clock.moveTo(at + attempt * (RETRY_MS + 1_000))
      await this.alarm()
      await this.ctx.storage.sync()
    }
    return takeFrom(this.#cost)
  }

  #fail(): void {
    this.#failures -= 1
    if (this.#failures >= 0) throw new Error('Not yet')
  }
}
