import type { SchedulerPort } from '../core/helper.ts'
import { persist } from '../core/persist.ts'
import { describeThrown } from '../core/thrown.ts'
import { wait, within } from '../core/timers.ts'
import { ScheduledRunTimeoutError } from './errors.ts'
import type { ScheduleSettings } from './options.ts'
import type { RunOutcome } from './outcome.ts'
import type { RunEvents } from './run-events.ts'
import type { RecordedRun, RunTable } from './run-table.ts'

interface RunsContext {
  readonly port: SchedulerPort
  readonly table: RunTable
  readonly events: RunEvents
  readonly settings: ScheduleSettings
  /** The outcome of a run is stored and can be delivered. */
  readonly settled: (run: RecordedRun, outcome: RunOutcome) => void
  /** A slot is free: runs that wait can start. */
  readonly slotFreed: () => void
  /** A recorded run could not be started; its row must be looked at again. */
  readonly lost: () => void
}

/**
 * The handlers in flight in this instance. A slot is taken when a run is recorded as started and given back when its
 * handler settles, however late: a timed-out handler still uses the object.
 */
export class Runs {
  readonly #context: RunsContext
  /** Runs of this instance that have no outcome yet, by the key of their row. */
  readonly #live = new Map<number, RecordedRun>()
  #slots = 0
  #stuck = 0

  constructor(context: RunsContext) {
    this.#context = context
  }

  get live(): number {
    return this.#live.size
  }

  get stuck(): number {
    return this.#stuck
  }

  get freeSlots(): number {
    return this.#context.settings.maxConcurrentRuns - this.#slots
  }

  isLive(id: number): boolean {
    return this.#live.has(id)
  }

  /** Takes a slot for a run that is about to be recorded as started. */
  reserve(run: RecordedRun): void {
    this.#slots += 1
    this.#live.set(run.id, run)
  }

  /** The record was rolled back. */
  abandon(run: RecordedRun): void {
    this.#slots -= 1
    this.#forget(run)
  }

  /** Calls the handler once the record of its start is durable, and keeps the object alive until it has an outcome. */
  launch(run: RecordedRun): void {
    this.#context.port.hold(this.#execute(run))
  }

  async #execute(run: RecordedRun): Promise<void> {
    const { port, events, settings } = this.#context
    await this.#recorded(run)
    events.started(run)
    const startedAt = port.clock.now()
    const controller = new AbortController()
    const handler = outcomeOf(() => settings.run({ ...events.identityOf(run), signal: controller.signal }))
    const ended = await within(port.clock, settings.runTimeoutMs, handler)
    if (!ended.late) {
      const settling = this.#settle(run, ended.value, port.clock.now() - startedAt)
      try {
        this.#freeSlot()
      } finally {
        await settling
      }
      return
    }
    this.#stuck += 1
    let returned = false
    handler.then(() => {
      returned = true
      this.#stuck -= 1
      port.hold((async () => this.#freeSlot())())
    })
    const timeout = new ScheduledRunTimeoutError(settings.runTimeoutMs)
    const settling = this.#settle(
      run,
      { status: 'errored', error: describeThrown(timeout) },
      port.clock.now() - startedAt,
    )
    controller.abort(timeout)
    await wait(port.clock, 0)
    if (!returned) events.stuck(run)
    await settling
  }

  /** Never call a handler in the turn that wrote its row: if it killed the object, the row would be lost with it. */
  async #recorded(run: RecordedRun): Promise<void> {
    const { port, lost } = this.#context
    try {
      await Promise.all([port.context.storage.sync(), port.alarmTaken()])
    } catch (error) {
      this.abandon(run)
      lost()
      throw error
    }
  }

  async #settle(run: RecordedRun, outcome: RunOutcome, durationMs: number): Promise<void> {
    const { port, events, settled, settings, table } = this.#context
    const isReported = settings.onOutcome !== undefined
    const stored = await persist(port, 'The outcome of a run', () => {
      const written = isReported ? table.settle(run, outcome) : table.delete(run)
      this.#forget(run)
      return written
    })
    events.settled(run, outcome, Math.max(durationMs, 0))
    if (!isReported) return
    if (stored) settled(run, outcome)
    else
      events.deadLettered(run, outcome, 0, {
        name: 'OutcomeDeliveryError',
        message: 'The row of the run is gone',
      })
  }

  #freeSlot(): void {
    this.#slots -= 1
    this.#context.slotFreed()
  }

  #forget(run: RecordedRun): void {
    if (this.#live.get(run.id) === run) this.#live.delete(run.id)
  }
}

/** Calls the handler now; never rejects. */
async function outcomeOf(handler: () => unknown): Promise<RunOutcome> {
  try {
    await handler()
    return { status: 'complete' }
  } catch (error) {
    return { status: 'errored', error: describeThrown(error) }
  }
}
