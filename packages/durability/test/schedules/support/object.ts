import type { Clock, Timer } from '../../../src/core/clock.ts'
import { DurabilityScheduler } from '../../../src/index.ts'
import {
  DurabilityEngine,
  type DurabilityEngineOptions,
  durableObjectStore,
  type RunToStart,
} from '../../../src/schedules/index.node.ts'
import { type SimulatedObjectOptions, simulateObject } from '../../../src/testing/index.ts'

export interface Behaviour {
  /** ms of simulated time. */
  readonly takesMs?: number
  readonly throws?: string
  /** Goes on after its signal is aborted. */
  readonly ignoresAbort?: boolean
}

export interface ObjectSetup extends Partial<Omit<DurabilityEngineOptions, 'store' | 'scheduler'>> {
  readonly behaviour?: (run: RunToStart) => Behaviour
  readonly object?: SimulatedObjectOptions
  readonly withoutScheduler?: boolean
  /** Stands before each timer that the package sets. */
  readonly setTimer?: (set: () => Timer) => Timer
}

/** An engine in a simulated object, driven by its alarm; what its handlers do is told by the test. */
export function objectSetup({
  behaviour = () => ({}),
  object: objectOptions,
  withoutScheduler,
  setTimer = (set) => set(),
  ...options
}: ObjectSetup = {}) {
  /** Calls of handlers that began, and that ended, as the outside world saw them. */
  const calls: { readonly runId: string; readonly at: number; readonly signal: AbortSignal }[] = []
  const ended: string[] = []
  const object = simulateObject((ctx, clock, life) => {
    const given: Clock = {
      now: () => clock.now(),
      setTimer: (fire, delayMs) => setTimer(() => clock.setTimer(fire, delayMs)),
    }
    const scheduler = withoutScheduler ? undefined : new DurabilityScheduler({ context: ctx, clock: given })
    const handler = life.guard(async (run: RunToStart & { readonly signal: AbortSignal }) => {
      calls.push({ runId: run.runId, at: clock.now(), signal: run.signal })
      const { takesMs = 0, throws, ignoresAbort } = behaviour(run)
      await new Promise<void>((resolve) => {
        const timer = clock.setTimer(resolve, takesMs)
        if (ignoresAbort) return
        run.signal.addEventListener('abort', () => {
          timer.cancel()
          resolve()
        })
      })
      ended.push(run.runId)
      if (throws !== undefined) throw new Error(throws)
    })
    const engine = new DurabilityEngine({
      store: durableObjectStore(ctx.storage),
      ...(scheduler === undefined ? { clock: () => clock.now() } : { scheduler, persistedSchedules: true }),
      ...options,
      workflows: { brief: handler, ...options.workflows },
    })
    return { engine, alarm: (info: object) => scheduler?.alarm(info) }
  }, objectOptions)
  return {
    object,
    calls,
    ended,
    now: () => object.world.clock.now(),
    schedules: () => object.instance.engine.schedules,
    /** A request to the engine. */
    ask: <T>(request: (engine: DurabilityEngine) => Promise<T>) =>
      object.call(({ engine }) => request(engine as unknown as DurabilityEngine)),
  }
}
