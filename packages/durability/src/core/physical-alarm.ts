import { report } from './report.ts'
import type { ObjectStorage } from './state.ts'

/**
 * The object's one physical alarm, and the only code that sets or deletes it. What it was last seen or set to is
 * remembered, so that an unchanged alarm is not written (and billed) again.
 */
export class PhysicalAlarm {
  readonly #storage: ObjectStorage
  readonly #onLost: (error: unknown) => void
  #armedAt: number | null | undefined
  #writes = 0
  #pending: Promise<unknown> = Promise.resolve()

  constructor(storage: ObjectStorage, onLost: (error: unknown) => void) {
    this.#storage = storage
    this.#onLost = onLost
  }

  /** Epoch ms; `null` when no alarm is armed, `undefined` while this instance does not know. */
  get armedAt(): number | null | undefined {
    return this.#armedAt
  }

  /**
   * Reads the alarm as it really is: other code may have moved or deleted it. Answers whether it still was what this
   * instance believed. An alarm that was written during the read is newer than the answer, and wins.
   */
  async refresh(): Promise<boolean> {
    const writes = this.#writes
    const believed = this.#armedAt
    const armedAt = await this.#read()
    if (writes !== this.#writes) return false
    this.#armedAt = armedAt
    return armedAt === believed
  }

  /** An alarm that cannot be read is unknown, and written anew. */
  async #read(): Promise<number | null | undefined> {
    try {
      return await this.#storage.getAlarm()
    } catch (error) {
      report('durability.alarm_unreadable', 'The alarm could not be read; it is written anew', error)
      return undefined
    }
  }

  /** Must run in the turn that wrote the rows it stands for. Throws when the platform refuses. */
  set(at: number): void {
    this.#write(at, () => this.#storage.setAlarm(at))
  }

  delete(): void {
    this.#write(null, () => this.#storage.deleteAlarm())
  }

  /** What is believed no longer holds: a transaction that wrote the alarm was rolled back. */
  forget(): void {
    this.#writes += 1
    this.#armedAt = undefined
  }

  /** Resolves when the last write of the alarm was taken, rejects when it was refused. */
  taken(): Promise<unknown> {
    return this.#pending
  }

  #write(armedAt: number | null, write: () => Promise<void>): void {
    this.forget()
    // The promise is not awaited here: an await would part the alarm from its rows.
    const pending = Promise.resolve(write())
    this.#armedAt = armedAt
    this.#pending = pending
    pending.catch((error) => {
      this.forget()
      this.#onLost(error)
    })
  }
}
