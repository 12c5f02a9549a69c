import {
  abortAllDurableObjects,
  evictDurableObject,
  reset,
  runDurableObjectAlarm,
  runInDurableObject,
} from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, vi } from 'vitest'
import { type DurabilityEngine, remoteSchedules } from '../../../src/schedules/index.ts'
import { behaviour, type TestSchedules } from './test-schedules.ts'

declare global {
  namespace Cloudflare {
    interface Env {
      SCHEDULES: DurableObjectNamespace<TestSchedules>
    }
  }
}

afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  // In this order: after an abort nothing is wiped.
  await reset()
  await abortAllDurableObjects()
  behaviour.reset()
})

/** One object, from outside. A stub from before a crash is broken: each use makes its own. */
export function scheduleObject(name = 'tenant') {
  const stub = () => env.SCHEDULES.getByName(name)
  const inside = <T>(work: (object: TestSchedules) => T | Promise<T>): Promise<T> =>
    runInDurableObject<TestSchedules, T>(stub(), work)
  return {
    stub,
    inside,
    remote: () => remoteSchedules(stub()),
    ask: <T>(work: (engine: DurabilityEngine) => Promise<T>) => inside(({ parts }) => work(parts.engine)),
    alarmAt: () => inside(({ parts }) => parts.ctx.storage.getAlarm()),
    /** Runs the physical alarm now and waits for it. */
    fireAlarm: () => runDurableObjectAlarm(stub()),
    evict: () => evictDurableObject(stub()),
    /** Runs it and does not wait: the pass is to be held, or to be cut off by a crash. */
    startAlarm() {
      runDurableObjectAlarm(stub()).catch(() => {})
    },
    /** Lets the alarm fire whenever it is due, on a clock that stands still, until then. */
    async passTime(until: number) {
      for (;;) {
        const at = await this.alarmAt()
        if (at === null || at > until) break
        vi.setSystemTime(Math.max(at, Date.now()))
        await this.fireAlarm()
      }
      vi.setSystemTime(until)
    },
  }
}
