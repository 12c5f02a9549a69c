import { vi } from 'vitest'
import {
  DurabilityEngine,
  type DurabilityEngineOptions,
  ScheduleAlreadyExistsError,
} from '../../../src/schedules/index.node.ts'
import { type AuditOptions, audit } from './audit.ts'
import { type Death, type DyingStore, dyingStore } from './dying.ts'
import { Outside } from './outside.ts'
import { START_AT } from './setup.ts'
import type { OpenStore } from './stores.ts'

export interface Step {
  /** ms after the start. */
  readonly at: number
  /** What a client asks, again when its engine died; `outside` as it is then. */
  readonly ask?: (engine: DurabilityEngine) => Promise<unknown>
  /** What happens elsewhere. */
  readonly happens?: (outside: Outside) => void
}

export interface Scenario extends Omit<AuditOptions, 'id' | 'now' | 'got'> {
  readonly name: string
  readonly options?: Partial<DurabilityEngineOptions>
  /** Starts that fail first. */
  readonly failures?: number
  /** Of instances when they are created. Default `complete`. */
  readonly status?: string
  readonly steps: readonly Step[]
  /** Starts fail no more when the steps are over. */
  readonly endsAfterFailures?: boolean
  /** Windows that have a run at the end, in any history. */
  readonly fired?: readonly number[]
}

interface Played {
  readonly problems: readonly string[]
  /** Store calls of each engine. */
  readonly calls: readonly number[]
}

const SCHEDULE = 'a'
/** Looks of the last engine, late enough for starts that nobody answered. */
const LOOKS_AFTER = [1_000, 100_000, 200_000, 300_000]

/** Plays a scenario with engines of which each dies as told; the next one goes on where its client asks again. */
export async function play(
  scenario: Scenario,
  open: OpenStore,
  deaths: readonly Death[] = [],
): Promise<Played> {
  const outside = new Outside()
  outside.failures = scenario.failures ?? 0
  outside.status = scenario.status ?? 'complete'
  const lives: DyingStore[] = []
  const errors: string[] = []
  let now = START_AT
  let engine: DurabilityEngine | undefined

  const ask = async (request: (engine: DurabilityEngine) => Promise<unknown>): Promise<void> => {
    for (;;) {
      const death = deaths[lives.length]
      const current =
        engine === undefined ? dyingStore(open.store, death === undefined ? [] : [death]) : lives.at(-1)
      if (current === undefined) throw new Error('no life')
      if (engine === undefined) {
        lives.push(current)
        engine = new DurabilityEngine({
          store: current.store,
          workflows: outside.workflows((call) => current.outside(call)),
          clock: () => now,
          ...scenario.options,
        })
      }
      const answered = request(engine).catch((error: unknown) => {
        // Asked again, for the first answer was not heard.
        if (!(error instanceof ScheduleAlreadyExistsError)) errors.push(`an ask was refused: ${error}`)
      })
      await Promise.race([answered, current.died])
      if (!current.dead) return
      engine = undefined
    }
  }

  for (const { at, ask: request, happens } of scenario.steps) {
    now = START_AT + at
    happens?.(outside)
    if (request !== undefined) await ask(request)
  }
  const end = now
  if (scenario.endsAfterFailures) outside.failures = 0
  for (const after of LOOKS_AFTER) {
    now = end + after
    await ask(({ schedules }) => schedules.tick())
  }
  // Workflows are asked what became of them.
  await ask((last) => last.listRuns({ scheduleId: SCHEDULE, limit: 1_000 }))
  const { windows, live, fired = [], mayBeUnanswered = false } = scenario
  const problems = await audit(open.store, {
    id: SCHEDULE,
    now,
    got: [...outside.got.keys()],
    mayBeUnanswered,
    ...(windows && { windows }),
    ...(live && { live }),
  })
  for (const window of fired) {
    const run = await open.store.getRun(`sched:${SCHEDULE}:${window}`)
    if (run?.counted !== true) problems.push(`${window} was not fired`)
  }
  return { problems: [...errors, ...problems], calls: lives.map(({ calls }) => calls) }
}

/** No timer of an engine that died is waited for. */
export function withoutTimers(): void {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
}
