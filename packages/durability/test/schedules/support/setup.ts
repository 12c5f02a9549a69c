import { vi } from 'vitest'
import {
  DurabilityEngine,
  type DurabilityEngineOptions,
  memoryStore,
  type RunToStart,
  type ScheduleStore,
} from '../../../src/schedules/index.node.ts'

export const START_AT: number = Date.UTC(2026, 0, 1)
export const MINUTE_MS = 60_000
export const HOUR_MS = 3_600_000
export const DAY_MS = 86_400_000

export type Handled = RunToStart & { readonly signal: AbortSignal }

/** A handler whose runs end when the test says so. */
export class Handler {
  readonly runs: Handled[] = []
  readonly #ends = new Map<string, PromiseWithResolvers<void>>()
  /** Runs end at once. */
  instant = true

  readonly handle = async (run: Handled): Promise<void> => {
    this.runs.push(run)
    if (this.instant) return
    const end = Promise.withResolvers<void>()
    this.#ends.set(run.runId, end)
    await end.promise
  }

  end(runId: string, error?: Error): void {
    const end = this.#ends.get(runId)
    if (error === undefined) end?.resolve()
    else end?.reject(error)
  }

  get windows(): (number | null)[] {
    return this.runs.map(({ scheduledTime }) => scheduledTime)
  }
}

export interface SetupOptions extends Partial<DurabilityEngineOptions> {
  readonly startAt?: number
}

/** An engine over memory, at a time that the test moves. */
export function setup({ startAt = START_AT, ...options }: SetupOptions = {}) {
  const handler = new Handler()
  let now = startAt
  const store: ScheduleStore = options.store ?? memoryStore()
  const clock = () => now
  const workflows = { brief: handler.handle, ...options.workflows }
  const engineWith = (other: Partial<DurabilityEngineOptions> = {}) =>
    new DurabilityEngine({ store, clock, ...options, workflows, ...other })
  const engine = engineWith()
  return {
    engine,
    schedules: engine.schedules,
    store,
    handler,
    engineWith,
    now: clock,
    moveTo(at: number) {
      now = at
    },
    /** Moves time on and ticks; resolves to the windows that were fired, once their handlers have had their turn. */
    async tickIn(ms: number): Promise<string[]> {
      now += ms
      const runIds = await engine.schedules.tick()
      await settled()
      return runIds
    },
    async decisions(id: string): Promise<(readonly [string, number | null])[]> {
      const history = await engine.schedules.history(id)
      return history.map(({ decision, scheduledTime }) => [decision, scheduledTime] as const)
    },
  }
}

/** Lets everything run that waits for no time. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve()
}

/** What the package reports while a test makes it fail. */
export function silenceReports() {
  return vi.spyOn(console, 'error').mockImplementation(() => undefined)
}
