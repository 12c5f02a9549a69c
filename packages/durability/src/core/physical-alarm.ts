import { report } from './report.ts'
import type { ObjectStorage } from './state.ts'

/**
 * The object's one physical alarm, and the only code that sets or deletes it. What it was last seen or set to is
 * remembered, so that an unchanged alarm is not written (and billed) again.
 */
export class PhysicalAlarm {
  readonly #storage: ObjectStorage
  readonly #onRefused: (error: unknown) => void
  #writes = 0
  /** Epoch ms; `null` when no alarm is armed, `undefined` while this instance does not know. */
  armedAt: number | null | undefined
  /** Settles when the platform has taken or refused the last write. */
  taken: Promise<void> = Promise.resolve()

  constructor(storage: ObjectStorage, onRefused: (error: unknown) => void) {
    this.#storage = storage
    this.#onRefused = onRefused
  }

  /**
   * Reads the alarm as it really is: other code may have moved or deleted it. Answers whether it still was what this
   * instance believed. An alarm that was written during the read is newer than the answer, and wins; one that cannot be
   * read is unknown, and will be written anew.
   */
  async refresh(): Promise<boolean> {
    const writes = this.#writes
    const believed = this.armedAt
    let armedAt: number | null | undefined
    try {
      armedAt = await this.#storage.getAlarm()
    } catch (error) {
      report('alarm_unreadable', error)
    }
    if (writes !== this.#writes) return false
    this.armedAt = armedAt
    return armedAt === believed
  }

  /** Must run in the turn that wrote the rows it stands for, so nothing is awaited here. `null` deletes the alarm. */
  write(at: number | null): void {
    this.forget()
    this.taken = Promise.resolve(at === null ? this.#storage.deleteAlarm() : this.#storage.setAlarm(at))
    this.armedAt = at
    this.taken.catch((error: unknown) => {
      this.forget()
      this.#onRefused(error)
    })
  }

  /** What is believed no longer holds: a transaction that wrote the alarm was rolled back. */
  forget(): void {
    this.#writes += 1
    this.armedAt = undefined
    this.taken = Promise.resolve()
  }
}
