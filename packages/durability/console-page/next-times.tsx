import { useEffect, useState } from 'preact/hooks'
import { api } from './api.ts'
import { definitionOf, type FormValues } from './definition-form.ts'
import { type Problem, problemOf } from './fields.tsx'
import { useNow } from './hooks.ts'
import { Instant } from './parts.tsx'
import type { PreviewedWindow, ScheduleDescription, Windows } from './types.ts'

const PREVIEWED = 10
const TYPING_MS = 250

export interface Preview {
  readonly windows: readonly PreviewedWindow[] | undefined
  readonly problem: Problem | undefined
}

/** Asks for the next times when the typing pauses. Nothing is wrong yet with what has not been typed. */
export function usePreview(values: FormValues, schedule: ScheduleDescription | undefined): Preview {
  const [preview, setPreview] = useState<Preview>({ windows: undefined, problem: undefined })
  useEffect(() => {
    const isEmpty = (values.kind === 'cron' ? values.cron : values.every).trim() === ''
    if (isEmpty) {
      setPreview({ windows: undefined, problem: undefined })
      return
    }
    const asked = new AbortController()
    const timer = setTimeout(async () => {
      try {
        const definition = definitionOf(values, schedule)
        const body = { ...definition, id: values.id || 'new', workflow: values.workflow || 'workflow' }
        const { windows } = await api<Windows>('/preview', {
          method: 'POST',
          query: { count: PREVIEWED },
          body,
          signal: asked.signal,
        })
        setPreview({ windows, problem: undefined })
      } catch (error) {
        if (!asked.signal.aborted) setPreview({ windows: undefined, problem: problemOf(error) })
      }
    }, TYPING_MS)
    return () => {
      clearTimeout(timer)
      asked.abort()
    }
  }, [values, schedule])
  return preview
}

export function NextTimes({
  values,
  windows,
}: {
  readonly values: FormValues
  readonly windows: Preview['windows']
}) {
  const now = useNow()
  const zone = values.kind === 'cron' ? values.timezone : null
  return (
    <aside class="preview" aria-label="The next times" aria-live="polite">
      <h2>The next times</h2>
      {windows === undefined && <p class="quiet">They show here as soon as the cadence can be read.</p>}
      {windows?.length === 0 && <p class="quiet">None: its bounds leave no window.</p>}
      <ol>
        {windows?.map(({ scheduledTime, dueAt }) => (
          <li key={scheduledTime}>
            <Instant at={dueAt} now={now} zone={zone} />
          </li>
        ))}
      </ol>
    </aside>
  )
}
