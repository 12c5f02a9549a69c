import { ApiError } from './api-error.ts'
import type { RunDescription, ScheduleDescription, SchedulesPage } from './types.ts'

/** What is asked of the server. */
export interface SchedulesSource {
  page(query: { readonly limit: number; readonly cursor?: string }): Promise<SchedulesPage>
  /** `null` when it is gone. */
  one(id: string): Promise<ScheduleDescription | null>
  /** The newest; none for a viewer who may not see them. */
  runs(limit: number): Promise<readonly RunDescription[]>
}

export type LiveState = 'loading' | 'ready' | 'unauthenticated' | 'forbidden'

/** ms between two looks at what is due next. */
const POLL_MS = 2_000
/** ms between them when nothing is heard. */
const MAX_WAIT_MS = 15_000
/** Rows of such a look; it is also the first page, so that there is something to see soon. */
const SOONEST = 100
const PAGE = 1_000
/** Schedules that are asked for one by one in each look, because they have left the soonest. */
const ONE_BY_ONE = 10
/** Runs that are looked at for failures, at first and from then on. */
const FIRST_RUNS = 1_000
const LATER_RUNS = 100
/** ms between two looks at the runs. */
const RUNS_MS = 5_000
/** ms after which everything is read again, for what others changed and did not fire. */
const RELOAD_MS = 60_000

/**
 * All schedules, kept up to date by looking at those that are due next: what fires is among them, and then is not any
 * more. Whatever else others change is seen when all are read again.
 */
export class LiveSchedules {
  readonly #source: SchedulesSource
  readonly #now: () => number
  readonly #rows = new Map<string, ScheduleDescription>()
  readonly #listeners = new Set<() => void>()
  /** Counts what the viewer changed, so that an answer which was under way meanwhile does not undo it. */
  #changes = 0
  readonly #changedAt = new Map<string, number>()
  /** What the last reading of all did not find. It may have moved meanwhile; twice not found is gone. */
  #missed: ReadonlySet<string> = new Set()
  /** What runs failed with, by their ids. */
  readonly #failures = new Map<string, string>()
  #runsReadAt: number | undefined
  #sorted: readonly ScheduleDescription[] | undefined
  #readAllAt: number | undefined
  #life = 0
  #wake: (() => void) | undefined

  state: LiveState = 'loading'
  /** What the server said when it refused. */
  refusal = ''
  /** Why nothing is heard from the server at the moment. */
  lost: string | undefined
  /** All have been read at least once. */
  isComplete = false
  /** The parts that could not be asked, where schedules are spread over objects. */
  failed: readonly string[] = []

  constructor(source: SchedulesSource, now: () => number = Date.now) {
    this.#source = source
    this.#now = now
  }

  /** Soonest due first; finished, then paused ones last. */
  get rows(): readonly ScheduleDescription[] {
    this.#sorted ??= [...this.#rows.values()].sort(soonestFirst)
    return this.#sorted
  }

  get(id: string): ScheduleDescription | undefined {
    return this.#rows.get(id)
  }

  /** What the last run of a schedule failed with, where that was not long ago. */
  failureOf({ lastRunId }: ScheduleDescription): string | null {
    return lastRunId === null ? null : (this.#failures.get(lastRunId) ?? null)
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What an action answered is shown at once. */
  put(schedule: ScheduleDescription): void {
    this.#markChanged(schedule.id)
    this.#rows.set(schedule.id, schedule)
    this.#tell()
  }

  remove(id: string): void {
    this.#markChanged(id)
    this.#rows.delete(id)
    this.#tell()
  }

  /** Looks now, and again and again until `stop`. */
  start(): void {
    this.stop()
    void this.#live(this.#life)
  }

  stop(): void {
    this.#life += 1
    this.#wake?.()
  }

  /** Another viewer: nothing of before is kept. */
  restart(): void {
    this.#rows.clear()
    this.#changedAt.clear()
    this.#missed = new Set()
    this.lost = undefined
    this.failed = []
    this.#failures.clear()
    this.#runsReadAt = undefined
    this.#readAllAt = undefined
    this.isComplete = false
    this.state = 'loading'
    this.#tell()
    this.start()
  }

  async #live(life: number): Promise<void> {
    for (let failures = 0; life === this.#life; ) {
      try {
        await this.look()
        failures = 0
      } catch (error) {
        if (life !== this.#life) return
        failures += 1
        if (error instanceof ApiError && (error.status === 401 || error.status === 403)) {
          this.state = error.status === 401 ? 'unauthenticated' : 'forbidden'
          this.refusal = error.message
          this.#tell()
          return
        }
        this.lost = error instanceof Error ? error.message : String(error)
        this.#tell()
      }
      const waitMs = Math.min(POLL_MS * 2 ** Math.min(failures, 3), MAX_WAIT_MS)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs)
        this.#wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  /** One look: at what is due next, at what has left it, and now and then at everything. */
  async look(): Promise<void> {
    const life = this.#life
    const changes = this.#changes
    const soonest = await this.#source.page({ limit: SOONEST })
    // The answer to another viewer, or to a look that was given up.
    if (life !== this.#life) return
    this.state = 'ready'
    this.lost = undefined
    this.failed = soonest.failed ?? []
    const seen = new Set<string>()
    this.#merge(soonest, changes, seen)
    this.#tell()
    await this.#readRuns(life)
    if (life !== this.#life) return
    if (soonest.cursor === null) {
      if (this.failed.length === 0) this.#removeAllBut(seen, changes)
      this.#hasReadAll()
      return
    }
    // Where a part is silent its schedules have not moved: they cannot be asked for.
    const moved = this.failed.length > 0 ? [] : this.#movedOutOf(soonest.schedules, seen)
    const isDue = this.#readAllAt === undefined || this.#now() - this.#readAllAt >= RELOAD_MS
    if (isDue || moved.length > ONE_BY_ONE) {
      await this.#readOn(soonest.cursor, seen, life)
      return
    }
    // Few, so that each look costs little.
    await Promise.all(moved.map((id) => this.read(id)))
  }

  /** Reads one and shows it; `null` when it is gone. */
  async read(id: string): Promise<ScheduleDescription | null> {
    const life = this.#life
    const changes = this.#changes
    const schedule = await this.#source.one(id)
    if (life !== this.#life) return schedule
    if (!this.#isOpenTo(id, changes)) return this.#rows.get(id) ?? null
    if (schedule === null) this.#rows.delete(id)
    else this.#rows.set(id, schedule)
    this.#tell()
    return schedule
  }

  async #readRuns(life: number): Promise<void> {
    if (this.#runsReadAt !== undefined && this.#now() - this.#runsReadAt < RUNS_MS) return
    const runs = await this.#source.runs(this.#runsReadAt === undefined ? FIRST_RUNS : LATER_RUNS)
    if (life !== this.#life) return
    this.#runsReadAt = this.#now()
    for (const { id, status, error } of runs) {
      if (status === 'errored' || status === 'interrupted') this.#failures.set(id, error ?? status)
      else this.#failures.delete(id)
    }
  }

  /** Those that were due before the last of the soonest, and are not among them any more. */
  #movedOutOf(soonest: readonly ScheduleDescription[], seen: ReadonlySet<string>): string[] {
    const last = soonest.at(-1)
    const horizon = last === undefined || last.paused ? null : last.nextFireAt
    return this.rows
      .filter(({ id, paused, nextFireAt }) => {
        if (paused || nextFireAt === null || seen.has(id)) return false
        return horizon === null || nextFireAt < horizon
      })
      .map(({ id }) => id)
  }

  async #readOn(first: string, seen: Set<string>, life: number): Promise<void> {
    let cursor: string | null = first
    while (cursor !== null) {
      const changes = this.#changes
      const page: SchedulesPage = await this.#source.page({ limit: PAGE, cursor })
      if (life !== this.#life) return
      this.failed = [...new Set([...this.failed, ...(page.failed ?? [])])]
      this.#merge(page, changes, seen)
      this.#tell()
      cursor = page.cursor
    }
    if (this.failed.length > 0) {
      this.#hasReadAll()
      return
    }
    const missed = this.rows.map(({ id }) => id).filter((id) => !seen.has(id))
    for (const id of missed) if (this.#missed.has(id)) this.#rows.delete(id)
    this.#missed = new Set(missed)
    this.#hasReadAll()
  }

  #hasReadAll(): void {
    this.#readAllAt = this.#now()
    this.isComplete = true
    this.#tell()
  }

  #merge({ schedules }: SchedulesPage, changes: number, seen: Set<string>): void {
    for (const schedule of schedules) {
      seen.add(schedule.id)
      if (this.#isOpenTo(schedule.id, changes)) this.#rows.set(schedule.id, schedule)
    }
  }

  #removeAllBut(seen: ReadonlySet<string>, changes: number): void {
    for (const id of this.#rows.keys()) {
      if (!seen.has(id) && this.#isOpenTo(id, changes)) this.#rows.delete(id)
    }
  }

  /** Whether the viewer has not changed it since an answer was asked for. */
  #isOpenTo(id: string, changes: number): boolean {
    return (this.#changedAt.get(id) ?? 0) <= changes
  }

  #markChanged(id: string): void {
    this.#changes += 1
    this.#changedAt.set(id, this.#changes)
  }

  #tell(): void {
    this.#sorted = undefined
    for (const listener of this.#listeners) listener()
  }
}

function soonestFirst(one: ScheduleDescription, other: ScheduleDescription): number {
  return (
    Number(one.paused) - Number(other.paused) ||
    (one.nextFireAt ?? Number.MAX_SAFE_INTEGER) - (other.nextFireAt ?? Number.MAX_SAFE_INTEGER) ||
    (one.id < other.id ? -1 : 1)
  )
}
