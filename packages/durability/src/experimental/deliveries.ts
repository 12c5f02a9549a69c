import { delayAfter } from '../core/delays.ts'
import type { SchedulerPort } from '../core/helper.ts'
import { Permits } from '../core/permits.ts'
import { persist } from '../core/persist.ts'
import { type DescribedError, describeThrown } from '../core/thrown.ts'
import { waitUntil, within } from '../core/timers.ts'
import { OutcomeDeliveryError } from './errors.ts'
import type { ScheduleSettings } from './options.ts'
import type { RunOutcome } from './outcome.ts'
import type { RunEvents } from './run-events.ts'
import type { RecordedRun, RunTable, StartedRun } from './run-table.ts'

/** An outcome that is stored and not yet acknowledged. */
interface Undelivered {
  readonly run: RecordedRun
  /** Failed deliveries so far. */
  attempts: number
  /** Epoch ms; `undefined` before the first delivery. */
  nextAttemptAt: number | undefined
  /** Under way in this instance: delivering, waiting for a slot, or for a retry that is near. */
  busy: boolean
  /** Left by an instance that is gone: delivered alone and under a mark, for it may be what killed it. */
  inherited: boolean
  /** That instance died while it delivered this outcome. */
  cutOff: boolean
  /** Kept for the first delivery only; afterwards it is read from its row. */
  outcome: RunOutcome | undefined
}

interface DeliveriesContext {
  readonly port: SchedulerPort
  readonly table: RunTable
  readonly events: RunEvents
  readonly settings: ScheduleSettings
}

/** Delivers stored outcomes until each is acknowledged or given up. */
export class Deliveries {
  readonly #context: DeliveriesContext
  readonly #slots: Permits
  readonly #alone = new Permits(1)
  readonly #undelivered = new Map<number, Undelivered>()

  constructor(context: DeliveriesContext) {
    this.#context = context
    this.#slots = new Permits(context.settings.maxConcurrentDeliveries)
  }

  get count(): number {
    return this.#undelivered.size
  }

  get isBusy(): boolean {
    for (const item of this.#undelivered.values()) if (item.busy) return true
    return false
  }

  /** The earliest time an outcome that is not under way is to be delivered; 0 for at once. */
  nextAt(): number | undefined {
    let earliest: number | undefined
    for (const { busy, nextAttemptAt = 0 } of this.#undelivered.values()) {
      if (!busy && (earliest === undefined || nextAttemptAt < earliest)) earliest = nextAttemptAt
    }
    return earliest
  }

  /** Delivers an outcome that this instance has just stored. */
  deliver(run: RecordedRun, outcome: RunOutcome): void {
    const item = {
      run,
      attempts: 0,
      nextAttemptAt: undefined,
      busy: true,
      inherited: false,
      cutOff: false,
      outcome,
    }
    this.#undelivered.set(run.id, item)
    this.#start(item)
  }

  /** Takes over an outcome that an instance before this one stored. */
  inherit({ id, scheduledTime, dueAt, version, attempts, nextAttemptAt, delivering }: StartedRun): void {
    if (this.#undelivered.has(id)) return
    const run = { id, scheduledTime, dueAt, version }
    const rest = { busy: false, inherited: true, cutOff: delivering, outcome: undefined }
    this.#undelivered.set(id, { run, attempts, nextAttemptAt, ...rest })
  }

  startDue(now: number): void {
    for (const item of this.#undelivered.values()) {
      if (!item.busy && (item.nextAttemptAt ?? 0) <= now) this.#start(item)
    }
  }

  /** The tables were removed: what was not under way ends here. */
  dropAll(): void {
    for (const item of this.#undelivered.values()) if (!item.busy) this.#gone(item)
  }

  #start(item: Undelivered): void {
    item.busy = true
    const delivery = this.#untilSettled(item).catch((error: unknown) => {
      item.busy = false
      throw error
    })
    this.#context.port.hold(delivery)
  }

  /** A retry that is near is waited for here; a far one is left to the alarm. */
  async #untilSettled(item: Undelivered): Promise<void> {
    for (;;) {
      const goOn = item.inherited ? await this.#alone.acquire() : undefined
      const release = await this.#slots.acquire()
      try {
        await this.#step(item)
      } finally {
        release()
        goOn?.()
      }
      if (!item.busy || item.nextAttemptAt === undefined || !this.#holds(item)) return
      await waitUntil(this.#context.port.clock, item.nextAttemptAt)
    }
  }

  /** One delivery and the record of what came of it. */
  async #step(item: Undelivered): Promise<void> {
    const { port, settings, table } = this.#context
    const stored = item.outcome ?? table.find(item.run.id)?.outcome
    item.outcome = undefined
    if (stored === undefined) return this.#gone(item)
    if (settings.onOutcome === undefined) {
      return this.#deadLetter(
        item,
        stored,
        describeThrown(new OutcomeDeliveryError('There is no onOutcome to receive it')),
      )
    }
    if (item.cutOff) {
      item.cutOff = false
      return this.#failed(
        item,
        stored,
        new OutcomeDeliveryError('The instance died while it delivered the outcome'),
      )
    }
    if (item.attempts >= settings.maxAttempts) {
      return this.#deadLetter(
        item,
        stored,
        describeThrown(new OutcomeDeliveryError('It has no attempts left')),
      )
    }
    if (item.inherited) await persist(port, 'The mark of a delivery', () => table.markDelivering(item.run))
    // The receiver must never learn of an outcome that a crash could still take back.
    await port.context.storage.sync()
    const failure = await this.#call(item, stored, settings.onOutcome)
    item.inherited = false
    if (failure !== undefined) return this.#failed(item, stored, failure.error)
    await persist(port, 'The acknowledgement of an outcome', () => {
      table.delete(item.run)
      this.#forget(item)
    })
  }

  async #call(
    item: Undelivered,
    outcome: RunOutcome,
    onOutcome: NonNullable<ScheduleSettings['onOutcome']>,
  ): Promise<{ readonly error: unknown } | undefined> {
    const { port, events, settings } = this.#context
    const run = { ...events.identityOf(item.run), attempt: item.attempts + 1 }
    try {
      const ended = await within(
        port.clock,
        settings.outcomeTimeoutMs,
        (async () => onOutcome(run, outcome))(),
      )
      if (!ended.late) return undefined
      return {
        error: new OutcomeDeliveryError(
          `onOutcome exceeded its outcomeTimeoutMs of ${settings.outcomeTimeoutMs}`,
        ),
      }
    } catch (error) {
      return { error }
    }
  }

  /** Records a failed delivery: one row, with the alarm when the next one is far away. */
  async #failed(item: Undelivered, outcome: RunOutcome, thrown: unknown): Promise<void> {
    const { port, events, settings, table } = this.#context
    const error = describeThrown(thrown)
    item.attempts += 1
    if (item.attempts >= settings.maxAttempts) return this.#deadLetter(item, outcome, error)
    const delayMs = delayAfter('outcomeRetries.delay', settings.delay, item.attempts)
    const nextAttemptAt = port.clock.now() + delayMs
    const isNear = delayMs <= port.alarmMinDelayMs
    const kept = await persist(port, 'A failed delivery', () => {
      const write = () => {
        item.nextAttemptAt = nextAttemptAt
        item.busy = isNear
        return table.retry(item.run, item.attempts, nextAttemptAt)
      }
      try {
        return isNear ? write() : port.transaction(write)
      } catch (failure) {
        item.busy = true
        throw failure
      }
    })
    if (kept) events.outcomeRetry(item.run, item.attempts, error, nextAttemptAt)
    else this.#gone(item, outcome)
  }

  async #deadLetter(item: Undelivered, outcome: RunOutcome, error: DescribedError): Promise<void> {
    await persist(this.#context.port, 'A dead letter', () => {
      this.#context.table.delete(item.run)
      this.#forget(item)
    })
    this.#context.events.deadLettered(item.run, outcome, item.attempts, error)
  }

  /** Its row was removed by other means: `deleteAll()`, or a migration. */
  #gone(item: Undelivered, outcome?: RunOutcome): void {
    this.#forget(item)
    const error = describeThrown(new OutcomeDeliveryError('The row of the run is gone'))
    this.#context.events.deadLettered(item.run, outcome, item.attempts, error)
  }

  #holds(item: Undelivered): boolean {
    return this.#undelivered.get(item.run.id) === item
  }

  #forget(item: Undelivered): void {
    if (this.#holds(item)) this.#undelivered.delete(item.run.id)
  }
}
