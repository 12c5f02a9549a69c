import { START_AT } from './expressions.ts'

/** An instant as a history shows it: seconds from the start. */
export function at(instant: number | null | undefined): string {
  return instant === null || instant === undefined ? 'never' : `${(instant - START_AT) / 1_000}s`
}

const ONE = 0x9e3779b9
const TWO = 0x85ebca6b

/** Everything mixed in, in order, as 64 bits: two hashes of 32, each with constants of its own. */
class Hash {
  #one = ONE
  #two = TWO

  mix(number: number): void {
    this.#one = Math.imul(this.#one ^ number, 0x9e3779b1)
    this.#one ^= this.#one >>> 15
    this.#two = Math.imul(this.#two ^ number, 0x85ebca77)
    this.#two ^= this.#two >>> 13
  }

  mixText(text: string): void {
    for (let index = 0; index < text.length; index += 1) this.mix(text.charCodeAt(index))
    this.mix(-1 - text.length)
  }

  mixHash(other: Hash): void {
    this.mix(other.#one)
    this.mix(other.#two)
  }

  reset(): void {
    this.#one = ONE
    this.#two = TWO
  }

  get value(): bigint {
    return (BigInt(this.#one >>> 0) << 32n) | BigInt(this.#two >>> 0)
  }
}

const numbers = new Map<string, number>()

/** A number for one of few texts, the same in every process: they come over and over. */
function numberOf(text: string): number {
  let number = numbers.get(text)
  if (number === undefined) {
    const hash = new Hash()
    hash.mixText(text)
    number = Number(hash.value & 0xffffffffn)
    numbers.set(text, number)
  }
  return number
}

/** Of one line at a time. */
const noted = new Hash()

/** How many of the last lines are kept, where not all are. */
const LINES_KEPT = 400

/**
 * What happened in one history, in order, each with its virtual time. It is always hashed, so that histories can be
 * told apart, and kept as text.
 */
export class Trace {
  readonly #now: () => number
  readonly #keepsAll: boolean
  readonly #all = new Hash()
  readonly #seen = new Hash()
  #lines: string[] = []

  constructor(now: () => number, keepsAll: boolean) {
    this.#now = now
    this.#keepsAll = keepsAll
  }

  /** Something that the outside, or a look at what is stored, can tell. */
  note(what: string): void {
    const now = this.#now()
    noted.reset()
    this.#mixTime(noted, now)
    noted.mixText(what)
    this.#seen.mixHash(noted)
    this.#all.mixHash(noted)
    this.#lines.push(`${at(now)} ${what}`)
    if (!this.#keepsAll && this.#lines.length >= 2 * LINES_KEPT) this.#lines = this.#lines.slice(-LINES_KEPT)
  }

  /** A point that the object came to, of which nothing is to be seen. */
  pass(what: string): void {
    this.#mixTime(this.#all, this.#now())
    this.#all.mix(numberOf(what))
  }

  /** An instant that something was set to. */
  passInstant(instant: number): void {
    this.#mixTime(this.#all, instant)
  }

  /** Of all that happened. */
  get hash(): bigint {
    return this.#all.value
  }

  /** Of what was noted: where it differs, the histories differ for somebody. */
  get seenHash(): bigint {
    return this.#seen.value
  }

  get lines(): readonly string[] {
    return this.#keepsAll ? this.#lines : this.#lines.slice(-LINES_KEPT)
  }

  #mixTime(hash: Hash, now: number): void {
    const since = now - START_AT
    hash.mix(since | 0)
    hash.mix(Math.floor(since / 2 ** 32))
  }
}
