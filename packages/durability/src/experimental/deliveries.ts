import { delayAfter } from '../core/delays.ts'
import { DurabilityError } from '../core/errors.ts'
import type { SchedulerPort } from '../core/helper.ts'
import { Permits } from '../core/permits.ts'
import { persist } from '../core/persist.ts'
import { describeThrown } from '../core/thrown.ts'
import { waitUntil, within } from '../core/timers.ts'
import { type EmitRunEvent, identityOf } from './events.ts'
import type { ScheduleSettings } from './options.ts'
import { outcomeOf, type Run, type RunTable } from './run-table.ts'

/** What the parts of a schedule share. */
export interface ScheduleParts {
  readonly port: SchedulerPort
  readonly settings: ScheduleSettings
  readonly table: RunTable
  readonly emit: EmitRunEvent
}

/** Delivers stored outcomes until each is acknowledged or given up. */
export class Deliveries {
  readonly #parts: ScheduleParts
  readonly #slots: Permits
  readonly #alone = new Permits(1)
  /** Left by an instance that is gone: delivered alone and under a mark, for it may be what killed it. */
  readonly #inherited = new Set<Run>()

  constructor(parts: ScheduleParts) {
    this.#parts = parts
    this.#slots = new Permits(parts.settings.maxConcurrentDeliveries)
  }

  inherit(run: Run): void {
    this.#inherited.add(run)
  }

  /** Delivers an outcome until it is settled or its next attempt is far away: that one is left to the alarm. */
  async deliver(run: Run): Promise<void> {
    const { port } = this.#parts
    for (;;) {
      const goOn = this.#inherited.has(run) ? await this.#alone.acquire() : undefined
      const release = await this.#slots.acquire()
      const isNear = await this.#deliverOnce(run).finally(() => {
        release()
        goOn?.()
      })
      if (!isNear) return
      await waitUntil(port.clock, run.nextAttemptAt ?? 0)
    }
  }

  /** One delivery and the record of what came of it. Answers whether another one is near. */
  async #deliverOnce(run: Run): Promise<boolean> {
    const { port, table } = this.#parts
    try {
      await this.#call(run)
    } catch (error) {
      return this.#failed(run, error)
    }
    await persist(port, () => table.delete(run))
    return false
  }

  async #call(run: Run): Promise<void> {
    const { port, settings, table } = this.#parts
    const { onOutcome, outcomeTimeoutMs } = settings
    if (this.#isOver(run) || onOutcome === undefined)
      throw deliveryError('There is no onOutcome, or no attempt left')
    if (run.delivering === 1) throw deliveryError('The object died while it delivered')
    if (this.#inherited.has(run)) await persist(port, () => table.update(run, { delivering: 1 }))
    // The receiver must never learn of an outcome that a crash could still take back.
    await port.context.storage.sync()
    const delivering = (async () =>
      onOutcome({ ...identityOf(port, run), attempt: run.attempts + 1 }, outcomeOf(run)))()
    const late = () =>
      Promise.reject(deliveryError(`onOutcome exceeded its outcomeTimeoutMs of ${outcomeTimeoutMs}`))
    // From here on the instance has survived it: what comes next is counted as it comes.
    await within(port.clock, outcomeTimeoutMs, delivering, late).finally(() => this.#inherited.delete(run))
  }

  /** Records a failed delivery: one row, with the alarm when the next one is far away. Answers whether it is near. */
  async #failed(run: Run, thrown: unknown): Promise<boolean> {
    const { port, settings, table, emit } = this.#parts
    const error = describeThrown(thrown)
    const attempts = this.#isOver(run) ? run.attempts : run.attempts + 1
    if (attempts < settings.maxAttempts && settings.onOutcome !== undefined) {
      const delayMs = delayAfter(settings.delay, attempts)
      const nextAttemptAt = port.clock.now() + delayMs
      const isNear = delayMs <= port.alarmMinDelayMs
      const kept = await persist(port, () => {
        const write = () => table.update(run, { attempts, nextAttemptAt, delivering: 0 })
        return isNear ? write() : table.leaving(run, () => port.transaction(write))
      })
      if (kept) {
        emit(run, { type: 'outcome_retry', attempt: attempts, error, nextAttemptAt })
        return isNear
      }
    }
    run.attempts = attempts
    await this.giveUp(run, thrown)
    return false
  }

  /** The last resort: the row goes, and the loss is told. */
  async giveUp(run: Run, thrown: unknown): Promise<void> {
    const { port, table, emit } = this.#parts
    await persist(port, () => table.delete(run))
    emit(run, {
      type: 'dead_lettered',
      outcome: outcomeOf(run),
      attempts: run.attempts,
      error: describeThrown(thrown),
    })
  }

  #isOver(run: Run): boolean {
    return this.#parts.settings.onOutcome === undefined || run.attempts >= this.#parts.settings.maxAttempts
  }
}

function deliveryError(message: string): DurabilityError {
  return new DurabilityError('OutcomeDeliveryError', 'outcome_delivery', message)
}
