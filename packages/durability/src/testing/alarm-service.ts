import type { SimulatedClock } from './clock.ts'
import { SimulatedCrash } from './errors.ts'
import type { Life } from './life.ts'
import type { SimulatedAlarmInfo } from './object-options.ts'
import { type DurableStore, NO_ALARM, type StoredAlarm } from './store.ts'
import type { TurnQueue } from './turns.ts'

/** A throwing `alarm()` is run again this often, then the alarm is dropped. */
const MAX_RETRIES = 6
const FIRST_RETRY_MS = 2_000
/** The longest pause after a constructor that throws; such failures are retried for ever. */
const MAX_PAUSE_MS = 128_000

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
  /** The retry of an alarm that another has replaced meanwhile: if it fails too, the other is delivered at once. */
  readonly isOvertaken: boolean
}

/** The platform's side of one object's alarm: at least once, never two at a time, retried when `alarm()` throws. */
export class AlarmService {
  readonly #parts: AlarmServiceParts
  #running: Invocation | undefined
  #last: SimulatedAlarmInfo | undefined
  #retries = 0
  /** The alarm that `#retries` counts for; any other is a new one. */
  #failed: StoredAlarm | undefined
  #failedInfo: SimulatedAlarmInfo | undefined
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
    const { at, isStale } = store.committedAlarm
    return at === null || isStale
      ? undefined
      : Math.max(clock.elapsedAtPlatform(at), this.#notBeforeMs, clock.elapsedMs)
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
    const { at, isStale } = store.committedAlarm
    if (isStale && how !== 'duplicate') return false
    if (how === 'due') return at !== null && clock.elapsedAtPlatform(at) <= clock.elapsedMs
    const possible = how === 'duplicate' ? this.#last !== undefined : at !== null
    if (possible) this.#forced = how
    return possible
  }

  /** Delays every delivery that would come before then. */
  holdBack(forMs: number): void {
    this.#notBeforeMs = this.#parts.clock.elapsedMs + forMs
  }

  /**
   * The instance is gone: an alarm it was handling is delivered again, as if for the first time. If the object itself
   * was the reason, the alarm has failed, and is retried like any other.
   */
  onDeath(life: Life): void {
    const running = this.#running
    if (running?.life !== life) return
    this.#running = undefined
    if (life.reason === undefined) this.#giveBack()
    else this.#fail(running)
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
    const isOvertaken = !duplicate && this.#isOvertaken(scheduledTime)
    if (store.committedAlarm !== this.#failed && !isOvertaken) this.#retries = 0
    const retryCount = duplicate ? 0 : this.#retries
    const info = {
      scheduledTime: (isOvertaken && this.#failedInfo?.scheduledTime) || scheduledTime,
      retryCount,
      isRetry: retryCount > 0,
    }
    const invocation: Invocation = { life: receiver.life, startedMs: clock.elapsedMs, info, isOvertaken }
    this.#running = invocation
    this.#last = info
    if (!duplicate) this.#failed = undefined
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
    const { delivering, isStale, at } = store.committedAlarm
    if (!delivering) return
    if (succeeded) store.commitAlarm(isStale ? { at, delivering: false, isStale } : NO_ALARM)
    else this.#fail(invocation)
  }

  #fail({ info, isOvertaken }: Invocation): void {
    const { store } = this.#parts
    if (!store.committedAlarm.delivering) return
    if (isOvertaken) {
      this.#giveBack()
    } else if (this.#retries === MAX_RETRIES) {
      store.commitAlarm(NO_ALARM)
    } else {
      this.holdBack(FIRST_RETRY_MS * 2 ** this.#retries++)
      this.#giveBack()
      this.#failed = store.committedAlarm
      this.#failedInfo = info
    }
  }

  /** The alarm was set during the pause before a retry, for a time within it: the retry comes in its place. */
  #isOvertaken(scheduledTime: number): boolean {
    const { clock, store } = this.#parts
    return (
      this.#failed !== undefined &&
      store.committedAlarm !== this.#failed &&
      clock.elapsedAtPlatform(scheduledTime) < this.#notBeforeMs
    )
  }

  #giveBack(): void {
    const { at, delivering } = this.#parts.store.committedAlarm
    if (delivering) this.#parts.store.commitAlarm({ at, delivering: false })
  }
}
