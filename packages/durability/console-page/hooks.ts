import { useCallback, useEffect, useReducer, useRef, useState } from 'preact/hooks'
import { ApiError } from './api-error.ts'
import type { LiveSchedules } from './live-schedules.ts'
import { live } from './session.ts'

/** The live schedules; the component is drawn again whenever they change. */
export function useLive(): LiveSchedules {
  const [, draw] = useReducer((count: number) => count + 1, 0)
  useEffect(() => live.subscribe(() => draw(undefined as never)), [])
  return live
}

/** The current time, a second at a time. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

export interface Polled<Value> {
  readonly value: Value | undefined
  readonly error: Error | undefined
  refresh(): void
}

const POLL_MS = 3_000

/** Reads again and again, and at once when one of `inputs` changes. What was read is kept while a reading fails. */
export function usePolled<Value>(read: () => Promise<Value>, inputs: readonly unknown[]): Polled<Value> {
  const [state, setState] = useState<{ readonly value?: Value; readonly error?: Error }>({})
  const again = useRef(() => {})
  useEffect(() => {
    let isOver = false
    let timer: ReturnType<typeof setTimeout>
    let asked = 0
    const look = async () => {
      clearTimeout(timer)
      asked += 1
      const own = asked
      // The answer to an earlier question may come after that to a later one.
      const isOvertaken = () => isOver || own !== asked
      try {
        const value = await read()
        if (!isOvertaken()) setState({ value })
      } catch (error) {
        if (isOvertaken()) return
        const thrown = error instanceof Error ? error : new Error(String(error))
        // What is gone is not shown any more.
        const isGone = thrown instanceof ApiError && thrown.status === 404
        setState(({ value }) =>
          isGone || value === undefined ? { error: thrown } : { value, error: thrown },
        )
      }
      if (!isOvertaken()) timer = setTimeout(look, document.hidden ? POLL_MS * 10 : POLL_MS)
    }
    setState({})
    void look()
    again.current = () => void look()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, inputs)
  const refresh = useCallback(() => again.current(), [])
  return { value: state.value, error: state.error, refresh }
}
