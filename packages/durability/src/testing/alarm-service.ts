import type { AlarmInfo } from '../core/state.ts'
import type { SimulatedClock } from './clock.ts'
import { SimulatedCrash } from './errors.ts'
import type { Life } from './life.ts'
import { type DurableStore, NO_ALARM, type StoredAlarm } from './store.ts'
import type { TurnQueue } from './turns.ts'

/** A throwing `alarm()` is run again this often, then the alarm is dropped. */
const MAX_RETRIES = 6
const FIRST_RETRY_MS = 2_000
/** The longest pause after a constructor that throws; such failures are retried for ever. */
const MAX_PAUSE_MS = 128_000

export type SimulatedAlarmInfo = Required<AlarmInfo>

/** An instance that is ready to be given an alarm. */
export interface AlarmReceiver {
  readonly life: Life
  readonly blocked: boolean
  alarm(info: SimulatedAlarmInfo): unknown
}

export interface AlarmServiceParts {
  readonly clock: SimulatedClock
  readonly turns: TurnQueue
  readonly store: DurableStore
  /** The platform cuts an invocation after this time and treats it as failed. */
  readonly limitMs: number
  /** The living instance, made when there is none; throws what its constructor throws. */
  receiver(): AlarmReceiver
  isBlocked(): boolean
}

interface Invocation {
  readonly life: Life
  readonly startedMs: number
  readonly info: SimulatedAlarmInfo
}

/** The platform's side of one object's alarm: at least once, never two at a time, retried when `alarm()` throws. */
export class AlarmService {
  readonly #parts: AlarmServiceParts
  #running: Invocation | undefined
  #last: SimulatedAlarmInfo | undefined
  #retries = 0
  /** The alarm that `#retries` counts for; any other is a new one. */
  #failed: StoredAlarm | undefined
  #failedStarts = 0
  /** Neither a retry nor an alarm set meanwhile comes before this point of the clock's time line. */
  #notBeforeMs = 0
  #forced: 'early' | 'duplicate' | undefined

  constructor(parts: AlarmServiceParts) {
    this.#parts = parts
  }

  get running(): boolean {
    return this.#running !== undefined
  }

  /** When the service does something next, on the clock's time line; `undefined` when it has nothing to do. */
  get nextMs(): number | undefined {
    const { clock, store, limitMs, isBlocked } = this.#parts
    if (this.#running !== undefined) return this.#running.startedMs + limitMs
    if (isBlocked()) return undefined
    if (this.#forced !== undefined) return clock.elapsedMs
    const { at } = store.committedAlarm
    return at === null ? undefined : Math.max(clock.elapsedAtPlatform(at), this.#notBeforeMs, clock.elapsedMs)
  }

  /** Delivers the alarm that is due now, or cuts the invocation that has run for too long. */
  act(): void {
    if (this.#running !== undefined) {
      this.#finish(this.#running, false)
      return
    }
    const duplicate = this.#forced === 'duplicate'
    const scheduledTime = duplicate ? this.#last?.scheduledTime : this.#parts.store.committedAlarm.at
    this.#forced = undefined
    if (scheduledTime === undefined || scheduledTime === null) return
    const receiver = this.#start()
    // A constructor that blocks the object has the alarm wait; it is still stored, and due.
    if (receiver === undefined || receiver.blocked) return
    this.#deliver(receiver, scheduledTime, duplicate)
  }

  /** Makes the next delivery one that time would not bring. False when there is nothing to deliver. */
  force(how: 'due' | 'early' | 'duplicate'): boolean {
    const { clock, store } = this.#parts
    const { at } = store.committedAlarm
    if (how === 'due') return at !== null && clock.elapsedAtPlatform(at) <= clock.elapsedMs
    const possible = how === 'duplicate' ? this.#last !== undefined : at !== null
    if (possible) this.#forced = how
    return possible
  }

  /** Delays every delivery that would come before then. */
  holdBack(forMs: number): void {
    this.#notBeforeMs = this.#parts.clock.elapsedMs + forMs
  }

  /** The instance is gone: an alarm it was handling is delivered again, as if for the first time. */
  onDeath(life: Life): void {
    if (this.#running?.life !== life) return
    this.#running = undefined
    this.#giveBack()
  }

  #start(): AlarmReceiver | undefined {
    try {
      const receiver = this.#parts.receiver()
      this.#failedStarts = 0
      return receiver
    } catch (error) {
      // A planned crash, of which the platform knows nothing: it simply delivers again.
      if (error instanceof SimulatedCrash) return undefined
      // The runtime reports a throwing constructor to its log only, and tries again after a growing pause.
      this.holdBack(Math.min(FIRST_RETRY_MS * 2 ** this.#failedStarts++, MAX_PAUSE_MS))
      return undefined
    }
  }

  #deliver(receiver: AlarmReceiver, scheduledTime: number, duplicate: boolean): void {
    const { store, clock, turns } = this.#parts
    if (store.committedAlarm !== this.#failed) this.#retries = 0
    const retryCount = duplicate ? 0 : this.#retries
    const info = { scheduledTime, retryCount, isRetry: retryCount > 0 }
    const invocation: Invocation = { life: receiver.life, startedMs: clock.elapsedMs, info }
    this.#running = invocation
    this.#last = info
    if (!duplicate) store.commitAlarm({ at: scheduledTime, delivering: true })
    if (!receiver.life.passSeam('alarm')) return
    const end = (succeeded: boolean) => (): void => turns.post(() => this.#finish(invocation, succeeded))
    try {
      Promise.resolve(receiver.alarm(info)).then(end(true), end(false))
    } catch {
      // As in the runtime, the failure shows by the retry; a test that wants the error wraps its alarm().
      end(false)()
    }
  }

  #finish(invocation: Invocation, succeeded: boolean): void {
    if (this.#running !== invocation || !invocation.life.passSeam('alarm done')) return
    this.#running = undefined
    const { store } = this.#parts
    // Set anew or deleted by the handler: whether the handler succeeded makes no difference then.
    if (!store.committedAlarm.delivering) return
    if (succeeded || this.#retries === MAX_RETRIES) {
      store.commitAlarm(NO_ALARM)
    } else {
      this.holdBack(FIRST_RETRY_MS * 2 ** this.#retries++)
      this.#giveBack()
      this.#failed = store.committedAlarm
    }
  }

  #giveBack(): void {
    const { at, delivering } = this.#parts.store.committedAlarm
    if (delivering) this.#parts.store.commitAlarm({ at, delivering: false })
  }
}
