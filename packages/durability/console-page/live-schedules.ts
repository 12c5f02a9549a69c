import { ApiError } from './api-error.ts'
import { RecentFailures } from './recent-failures.ts'
import type { RunDescription, ScheduleDescription, SchedulesPage } from './types.ts'

/** What is asked of the server. */
export interface SchedulesSource {
  page(query: { readonly limit: number; readonly cursor?: string }): Promise<SchedulesPage>
  /** `null` when it is gone. */
  one(id: string): Promise<ScheduleDescription | null>
  /** The newest. */
  runs(limit: number): Promise<readonly RunDescription[]>
}

export type LiveState = 'loading' | 'ready' | 'unauthenticated' | 'forbidden'

/** ms between two looks at what is due next, while somebody watches the list. */
const POLL_MS = 2_000
/** ms between them on a page that shows only how many there are. */
const SLOW_POLL_MS = 10_000
/** ms between them when nothing is heard. */
const MAX_WAIT_MS = 15_000
/** ms between them for a viewer who has never been let in. */
const FORBIDDEN_WAIT_MS = 30_000
/** Rows of such a look; it is also the first page, so that there is something to see soon. */
const SOONEST = 100
const PAGE = 1_000
/** Schedules that are asked for one by one in each look, because they have left the soonest. */
const ONE_BY_ONE = 10
/** Runs that are looked at for failures, after `RELOAD_MS` without such a look and in between. */
const MANY_RUNS = 1_000
const LATEST_RUNS = 100
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
  /** The parts that could not be asked, where schedules are spread over objects. */
  #silent: readonly string[] = []
  readonly #failures = new RecentFailures()
  #runsFailure: string | undefined
  #runsReadAt: number | undefined
  #manyRunsReadAt: number | undefined
  /** Whether the last `GET` of a single one was allowed. */
  #mayGet = true
  #sorted: readonly ScheduleDescription[] | undefined
  #readAllAt: number | undefined
  #life = 0
  #wake: (() => void) | undefined
  #watchers = 0

  state: LiveState = 'loading'
  /** What the server said when it refused; in the state `ready` that it refuses for the moment. */
  refusal: string | undefined
  /** The viewer has seen a page, and may have typed on it: it is kept, hidden, until they sign out. */
  hasPage = false
  /** Counts the viewers: what was read for one is not for the next. */
  viewer = 0
  /** Why nothing is heard from the server at the moment. */
  lost: string | undefined
  /** All have been read at least once. */
  isComplete = false

  constructor(source: SchedulesSource, now: () => number = Date.now) {
    this.#source = source
    this.#now = now
  }

  /** Soonest due first; finished, then paused ones last. */
  get rows(): readonly ScheduleDescription[] {
    this.#sorted ??= [...this.#rows.values()].sort(soonestFirst)
    return this.#sorted
  }

  /** What could not be asked for, where the rest could. */
  get failed(): readonly string[] {
    return this.#runsFailure === undefined ? this.#silent : [...this.#silent, this.#runsFailure]
  }

  get(id: string): ScheduleDescription | undefined {
    return this.#rows.get(id)
  }

  /** What the last run of a schedule failed with, where that was not long ago. */
  failureOf({ lastRunId }: ScheduleDescription): string | null {
    return lastRunId === null ? null : this.#failures.of(lastRunId)
  }

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** Looks often, at runs too, until the function that is returned is called. */
  watch(): () => void {
    this.#watchers += 1
    if (this.#watchers === 1) this.#wake?.()
    return () => {
      this.#watchers -= 1
    }
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

  /** Another viewer, or the same again: nothing that was read before is kept. */
  restart(): void {
    this.viewer += 1
    this.#rows.clear()
    this.#changedAt.clear()
    this.#missed = new Set()
    this.lost = undefined
    this.refusal = undefined
    this.#silent = []
    this.#failures.clear()
    this.#runsFailure = undefined
    this.#runsReadAt = undefined
    this.#manyRunsReadAt = undefined
    this.#readAllAt = undefined
    this.#mayGet = true
    this.isComplete = false
    this.state = 'loading'
    this.#tell()
    this.start()
  }

  /** What was typed is not kept either. */
  signOut(): void {
    this.hasPage = false
    this.restart()
  }

  async #live(life: number): Promise<void> {
    for (let failures = 0; life === this.#life; ) {
      try {
        await this.look()
        failures = 0
      } catch (error) {
        if (life !== this.#life) return
        failures += 1
        this.#fail(error)
        // Only another token helps.
        if (this.state === 'unauthenticated') return
      }
      if (life !== this.#life) return
      await this.#sleep(this.#waitMs(failures))
    }
  }

  #fail(error: unknown): void {
    const message = error instanceof Error ? error.message : String(error)
    const status = error instanceof ApiError ? error.status : 0
    this.lost = undefined
    this.refusal = undefined
    if (status === 401 || status === 403) this.refusal = message
    else this.lost = message
    if (status === 401) this.state = 'unauthenticated'
    // Who was let in before is probably let in again: what decides may have failed for a moment.
    else if (status === 403 && this.state !== 'ready') this.state = 'forbidden'
    this.#tell()
  }

  #waitMs(failures: number): number {
    if (this.state === 'forbidden') return FORBIDDEN_WAIT_MS
    if (failures > 0) return Math.min(POLL_MS * 2 ** Math.min(failures, 3), MAX_WAIT_MS)
    return this.#watchers > 0 ? POLL_MS : SLOW_POLL_MS
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  /** One look: at what is due next, at what has left it, and now and then at everything. */
  async look(): Promise<void> {
    const life = this.#life
    const changes = this.#changes
    const soonest = await this.#source.page({ limit: SOONEST })
    // The answer to another viewer, or to a look that was given up.
    if (life !== this.#life) return
    this.state = 'ready'
    this.hasPage = true
    this.lost = undefined
    this.refusal = undefined
    this.#silent = soonest.failed ?? []
    const seen = new Set<string>()
    this.#merge(soonest, changes, seen)
    this.#tell()
    await this.#readRuns(life)
    if (life !== this.#life) return
    if (soonest.cursor === null) {
      if (this.#silent.length === 0) this.#removeAllBut(seen, changes)
      this.#hasReadAll()
      return
    }
    // Where a part is silent its schedules have not moved: they cannot be asked for.
    const moved = this.#silent.length > 0 || !this.#mayGet ? [] : this.#movedOutOf(soonest.schedules, seen)
    const isDue = this.#readAllAt === undefined || this.#now() - this.#readAllAt >= RELOAD_MS
    if (isDue || moved.length > ONE_BY_ONE) {
      await this.#readOn(soonest.cursor, seen, life)
      return
    }
    // Few, so that each look costs little.
    await Promise.all(moved.map((id) => this.#readMoved(id)))
  }

  /** One that cannot be read, or may not be, is read with all the others. */
  async #readMoved(id: string): Promise<void> {
    try {
      await this.read(id)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error
      if (error.status === 403) this.#mayGet = false
    }
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
    const now = this.#now()
    const isLately = (at: number | undefined, ms: number) => at !== undefined && now - at < ms
    if (this.#runsReadAt !== undefined && this.#watchers === 0) return
    if (isLately(this.#runsReadAt, RUNS_MS)) return
    // After a night away the run that failed is far behind the latest.
    const hasMany = isLately(this.#manyRunsReadAt, RELOAD_MS)
    try {
      const runs = await this.#source.runs(hasMany ? LATEST_RUNS : MANY_RUNS)
      if (life !== this.#life) return
      this.#runsReadAt = now
      if (!hasMany) this.#manyRunsReadAt = now
      this.#runsFailure = undefined
      this.#failures.add(runs)
    } catch (error) {
      if (!(error instanceof ApiError) || error.status === 401) throw error
      if (life !== this.#life) return
      // The schedules are shown without them. Who may not see runs is asked for again with all the rest.
      const isRefused = error.status === 403
      this.#runsReadAt = isRefused ? now + RELOAD_MS - RUNS_MS : now
      this.#runsFailure = isRefused ? undefined : error.message
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
      this.#silent = [...new Set([...this.#silent, ...(page.failed ?? [])])]
      this.#merge(page, changes, seen)
      this.#tell()
      cursor = page.cursor
    }
    if (this.#silent.length > 0) {
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
    this.#mayGet = true
    this.#failures.keepOnly(new Set([...this.#rows.values()].map(({ lastRunId }) => lastRunId)))
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
