import { ApiError } from './api-error.ts'
import type { Decisions, RunsPage, ScheduleDescription, Windows } from './types.ts'

/** What is asked of the server about one schedule. */
export interface ScheduleSource {
  /** `null` when it is gone. */
  description(): Promise<ScheduleDescription | null>
  runs(): Promise<RunsPage>
  history(): Promise<Decisions>
  next(): Promise<Windows>
}

/** One part of the page. What was read is kept while a reading fails. */
export interface PartOf<Value> {
  readonly value?: Value
  readonly error?: Error
}

interface Parts {
  readonly description: PartOf<ScheduleDescription | null>
  readonly runs: PartOf<RunsPage>
  readonly history: PartOf<Decisions>
  readonly next: PartOf<Windows>
}

type PartName = keyof Parts

const PARTS: readonly PartName[] = ['description', 'runs', 'history', 'next']

/** ms between two looks at the description. */
const POLL_MS = 3_000
/** ms between them when nothing is heard. */
const MAX_WAIT_MS = 15_000
/** ms after which all parts are read, whatever the description says. */
const ALL_MS = 30_000

/**
 * One schedule, kept up to date: its description is read often, the rest when that has changed or a run is going on. Each
 * part is read, refused and fails by itself.
 */
export class ScheduleWatch {
  readonly #source: ScheduleSource
  readonly #now: () => number
  readonly #listeners = new Set<() => void>()
  #life = 0
  #timer: ReturnType<typeof setTimeout> | undefined
  /** Of the description that the other parts were last read for. */
  #stamp = ''
  #allReadAt: number | undefined
  #failures = 0

  parts: Parts = { description: {}, runs: {}, history: {}, next: {} }

  constructor(source: ScheduleSource, now: () => number = Date.now) {
    this.#source = source
    this.#now = now
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Reads everything now, and goes on until `stop`. */
  start(): void {
    this.stop()
    this.#allReadAt = undefined
    void this.#live(this.#life)
  }

  /** An answer that is under way is not shown any more. */
  stop(): void {
    this.#life += 1
    clearTimeout(this.#timer)
  }

  async #live(life: number): Promise<void> {
    await this.look()
    if (life !== this.#life) return
    const waitMs = Math.min(POLL_MS * 2 ** Math.min(this.#failures, 3), MAX_WAIT_MS)
    this.#timer = setTimeout(() => void this.#live(life), waitMs)
  }

  /** One look: at the description, and at what may have changed with it. */
  async look(): Promise<void> {
    const life = this.#life
    const now = this.#now()
    if (this.#allReadAt === undefined || now - this.#allReadAt >= ALL_MS) {
      this.#allReadAt = now
      await Promise.all(PARTS.map((name) => this.#read(name)))
      if (life === this.#life) this.#stamp = stampOf(this.parts.description.value)
    } else {
      // What is refused is refused for longer than a few seconds.
      if (!isRefusal(this.parts.description.error)) await this.#read('description')
      if (life !== this.#life) return
      await Promise.all(this.#changedParts().map((name) => this.#read(name)))
    }
    if (life !== this.#life) return
    this.#failures = PARTS.some((name) => this.#hasFailed(name)) ? this.#failures + 1 : 0
  }

  #changedParts(): readonly PartName[] {
    const { description, runs } = this.parts
    if (description.value === null) return []
    const stamp = stampOf(description.value)
    const hasChanged = stamp !== this.#stamp
    this.#stamp = stamp
    return PARTS.filter((name) => {
      if (name === 'description') return false
      return hasChanged || this.#hasFailed(name) || (name === 'runs' && hasLiveRun(runs.value))
    })
  }

  async #read(name: PartName): Promise<void> {
    const life = this.#life
    let part: PartOf<unknown>
    try {
      part = { value: await this.#source[name]() }
      if (name === 'runs') refuseSilence(part.value as RunsPage)
    } catch (thrown) {
      const error = thrown instanceof Error ? thrown : new Error(String(thrown))
      const { value } = this.parts[name]
      // What is gone is not shown any more.
      part = isGone(error) || value === undefined ? { error } : { value, error }
    }
    if (life !== this.#life) return
    this.parts = { ...this.parts, [name]: part }
    for (const listener of this.#listeners) listener()
  }

  #hasFailed(name: PartName): boolean {
    const { error } = this.parts[name]
    return error !== undefined && !isRefusal(error) && !isGone(error)
  }
}

export function isRefusal(error: Error | undefined): boolean {
  return error instanceof ApiError && error.status === 403
}

function isGone(error: Error): boolean {
  return error instanceof ApiError && error.status === 404
}

/** No runs, and not all that hold runs were heard, is no answer. */
function refuseSilence({ runs, failed = [] }: RunsPage): void {
  if (runs.length === 0 && failed.length > 0) throw new Error(failed.join('; '))
}

/** Changes whenever something was decided or changed. */
function stampOf(schedule: ScheduleDescription | null | undefined): string {
  if (schedule === null || schedule === undefined) return ''
  return [schedule.lastRunId, schedule.updatedAt, schedule.nextFireAt].join(' ')
}

function hasLiveRun(page: RunsPage | undefined): boolean {
  return page?.runs.some(({ finishedAt }) => finishedAt === null) ?? false
}
