import { ApiError } from '../api-error.ts'
import { LiveSchedules, type SchedulesSource } from '../live-schedules.ts'
import type { RunDescription, ScheduleDescription, SchedulesPage } from '../types.ts'
import { described, type Failure, NOW } from './described.ts'

/** A server in memory: answers in the order of the API, and counts what it is asked. */
export class FakeServer implements SchedulesSource {
  readonly rows = new Map<string, ScheduleDescription>()
  failures: readonly Failure[] = []
  readonly asked: string[] = []
  /** Thrown instead of any answer. */
  down: Error | undefined
  /** Ids whose shard does not answer. */
  silent: ReadonlySet<string> = new Set()
  /** Held before an answer that was already made is given. */
  held: Promise<void> | undefined
  /** What may not be done, or fails, while the list is answered. */
  withoutGet: Error | undefined
  withoutRuns: Error | undefined

  put(...schedules: readonly ScheduleDescription[]): void {
    for (const schedule of schedules) this.rows.set(schedule.id, schedule)
  }

  async page({ limit, cursor = '0' }: { limit: number; cursor?: string }): Promise<SchedulesPage> {
    this.asked.push(`page ${limit} from ${cursor}`)
    if (this.down !== undefined) throw this.down
    const from = Number(cursor)
    const heard = this.inOrder().filter(({ id }) => !this.silent.has(id))
    const schedules = heard.slice(from, from + limit)
    await this.held
    return {
      schedules,
      cursor: from + limit < heard.length ? String(from + limit) : null,
      ...(this.silent.size > 0 && { failed: ['schedules-1 does not answer'] }),
    }
  }

  async one(id: string): Promise<ScheduleDescription | null> {
    this.asked.push(`one ${id}`)
    if (this.withoutGet !== undefined) throw this.withoutGet
    if (this.silent.has(id)) throw new ApiError(502, 'schedules-1 does not answer')
    const schedule = this.rows.get(id) ?? null
    await this.held
    return schedule
  }

  async runs(limit: number): Promise<readonly RunDescription[]> {
    this.asked.push(`runs ${limit}`)
    if (this.withoutRuns !== undefined) throw this.withoutRuns
    // The page looks at these members of a run only.
    return (this.failures as readonly RunDescription[]).slice(0, limit)
  }

  inOrder(): ScheduleDescription[] {
    const due = ({ paused, nextFireAt }: ScheduleDescription) =>
      paused ? Number.MAX_VALUE : (nextFireAt ?? Number.MAX_SAFE_INTEGER)
    return [...this.rows.values()].sort((one, other) => due(one) - due(other) || (one.id < other.id ? -1 : 1))
  }
}

interface Setup {
  readonly server: FakeServer
  readonly live: LiveSchedules
  ids(): readonly string[]
  moveBy(ms: number): void
}

export function setup(count = 0): Setup {
  const server = new FakeServer()
  let now = NOW
  for (let index = 0; index < count; index += 1) {
    server.put(described(`s${String(index).padStart(5, '0')}`, { nextFireAt: NOW + (index + 1) * 1_000 }))
  }
  const live = new LiveSchedules(server, () => now)
  live.watch()
  const ids = () => live.rows.map(({ id }) => id)
  const moveBy = (ms: number) => {
    now += ms
  }
  return { server, live, ids, moveBy }
}

/** A held answer: the server has made it, and the page waits for it. */
export function hold(server: FakeServer): () => void {
  const gate = Promise.withResolvers<void>()
  server.held = gate.promise
  return () => {
    server.held = undefined
    gate.resolve()
  }
}
