import { shown } from '../core/checks.ts'
import { checkOneOf } from './checks.ts'

/**
 * A point at which an object can stop and nothing of it goes on: a storage promise about to resolve, a timer or an
 * alarm about to fire, a commit about to happen, the platform about to note that an alarm is done, or one that a
 * scenario announces.
 */
export interface SimulatedSeam {
  readonly kind:
    | 'commit'
    | 'sync'
    | 'getAlarm'
    | 'setAlarm'
    | 'deleteAlarm'
    | 'deleteAll'
    | 'get'
    | 'put'
    | 'delete'
    | 'list'
    | 'transaction'
    | 'blockConcurrencyWhile'
    | 'timer'
    | 'alarm'
    | 'alarm done'
    | 'announced'
  /** What an announced seam was called. */
  readonly name?: string
  /** Counted from 1 over all instances of the object. */
  readonly number: number
}

/** Which of the object's durable writes, counted from 1, it crashes at, and on which side of their commit. */
export interface CrashAtWrite {
  readonly write: number
  /** `before`: the turn with the write is lost. `after`: the turn is kept, and nobody hears of it. */
  readonly when: 'before' | 'after'
}

/** How many durable writes and seams an object has come to: the numbers that crashes are planned by. */
export interface SimulatedProgress {
  readonly writes: number
  readonly seams: number
}

/** Counts where an object could crash, and knows where it shall. */
export class CrashPlan {
  #writes = 0
  #seams = 0
  readonly #atWrite = new Map<number, CrashAtWrite['when']>()
  readonly #atSeam = new Set<number>()
  readonly #onSeam: ((seam: SimulatedSeam) => void) | undefined

  constructor(onSeam?: (seam: SimulatedSeam) => void) {
    this.#onSeam = onSeam
  }

  get progress(): SimulatedProgress {
    return { writes: this.#writes, seams: this.#seams }
  }

  crashAtWrite({ write, when }: CrashAtWrite): void {
    refusePast('write', write, this.#writes)
    checkOneOf('when', when, ['before', 'after'])
    this.#atWrite.set(write, when)
  }

  crashAtSeam(seam: number): void {
    refusePast('seam', seam, this.#seams)
    this.#atSeam.add(seam)
  }

  /** Counts a durable write; tells whether, and when, to crash because of it. */
  write(): CrashAtWrite['when'] | undefined {
    this.#writes++
    return this.#atWrite.get(this.#writes)
  }

  /** Counts a seam; tells whether to crash at it. */
  seam(kind: SimulatedSeam['kind'], name?: string): boolean {
    this.#seams++
    this.#onSeam?.({ kind, number: this.#seams, ...(name === undefined ? {} : { name }) })
    return this.#atSeam.has(this.#seams)
  }
}

function refusePast(what: string, wanted: number, reached: number): void {
  if (Number.isSafeInteger(wanted) && wanted > reached) return
  throw new RangeError(
    `${what} must be an integer above ${reached}, the number of ${what}s so far, got ${shown(wanted)}`,
  )
}
