import { useEffect, useMemo, useReducer, useState } from 'preact/hooks'
import { api, scheduleAt, serverClock } from './api.ts'
import type { LiveSchedules } from './live-schedules.ts'
import { ScheduleWatch } from './schedule-watch.ts'
import { isSignedOut, live } from './session.ts'
import type { Decisions, RunsPage, Windows } from './types.ts'

/** Draws the component again whenever it is told to. */
function useTold(subscribe: (listener: () => void) => () => void, inputs: readonly unknown[]): void {
  const [, draw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => subscribe(() => draw(undefined as never)), inputs)
}

/** The live schedules; the component is drawn again whenever they change. */
export function useLive(): LiveSchedules {
  useTold((listener) => live.subscribe(listener), [])
  return live
}

/** The same, looked at often while the component is there. */
export function useWatchedLive(): LiveSchedules {
  useEffect(() => live.watch(), [])
  return useLive()
}

/** The server's current time, a second at a time. */
export function useNow(): number {
  const [now, setNow] = useState(() => serverClock.at(Date.now()))
  useEffect(() => {
    const timer = setInterval(() => setNow(serverClock.at(Date.now())), 1_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

const KEPT = 50

async function signedIn<Answer>(asked: Promise<Answer>): Promise<Answer> {
  try {
    return await asked
  } catch (error) {
    isSignedOut(error)
    throw error
  }
}

/** What is known about one schedule, kept up to date while the page is seen and the viewer is signed in. */
export function useSchedule(id: string): ScheduleWatch {
  const { viewer, state, lost, refusal } = useLive()
  const isSignedIn = state !== 'unauthenticated' && state !== 'forbidden'
  // What is heard again by one is worth asking by the other.
  const isHeard = lost === undefined && refusal === undefined
  const watch = useMemo(
    () =>
      new ScheduleWatch({
        description: () => signedIn(live.read(id)),
        runs: () => signedIn(api<RunsPage>('/runs', { query: { scheduleId: id, limit: KEPT } })),
        history: () => signedIn(api<Decisions>(`${scheduleAt(id)}/history`, { query: { limit: KEPT } })),
        next: () => signedIn(api<Windows>(`${scheduleAt(id)}/preview`, { query: { count: 10 } })),
      }),
    [id, viewer],
  )
  useTold((listener) => watch.subscribe(listener), [watch])
  useEffect(() => {
    const look = () => {
      if (document.hidden || !isSignedIn) watch.stop()
      else watch.start()
    }
    look()
    document.addEventListener('visibilitychange', look)
    addEventListener('online', look)
    return () => {
      document.removeEventListener('visibilitychange', look)
      removeEventListener('online', look)
      watch.stop()
    }
  }, [watch, isSignedIn, isHeard])
  return watch
}
