import type { ComponentChildren } from 'preact'
import { useEffect, useId, useMemo, useState } from 'preact/hooks'
import { api, scheduleAt } from './api.ts'
import { ApiError } from './api-error.ts'
import { definitionOf, EMPTY, FieldError, type FormValues, fieldOf, valuesOf } from './definition-form.ts'
import { useLive, useNow, usePolled } from './hooks.ts'
import { Instant, Notice, Text } from './parts.tsx'
import { addressOf, go } from './route.ts'
import { live } from './session.ts'
import { say } from './toasts.tsx'
import type { PreviewedWindow, ScheduleDescription, Windows } from './types.ts'
import { cadenceInWords } from './words.ts'

export function EditPage({ id }: { readonly id: string }) {
  const known = useLive().get(id)
  const read = usePolled(() => api<ScheduleDescription>(scheduleAt(id)), [id])
  // Not drawn anew by each reading: what is being typed stays.
  const [first, setFirst] = useState(known)
  if (first === undefined || first.id !== id) {
    if (read.value !== undefined) setFirst(read.value)
    return read.error === undefined ? (
      <p class="quiet">Reading…</p>
    ) : (
      <Notice kind="bad">{read.error.message}</Notice>
    )
  }
  return <Editor key={id} schedule={first} />
}

interface Problem {
  readonly field: string | undefined
  readonly message: string
}

function problemOf(error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error)
  const field = error instanceof ApiError || error instanceof FieldError ? error.field : undefined
  return { field: field === undefined ? undefined : fieldOf(field), message }
}

const PREVIEWED = 10
const TYPING_MS = 250
const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]

/** Creates a schedule, or changes one; shows its next times while it is typed. */
export function Editor({ schedule }: { readonly schedule?: ScheduleDescription }) {
  const isNew = schedule === undefined
  const [values, setValues] = useState<FormValues>(() =>
    schedule === undefined ? EMPTY : valuesOf(schedule),
  )
  const [problem, setProblem] = useState<Problem>()
  const [isSaving, setSaving] = useState(false)
  const preview = usePreview(values, schedule)
  const { rows } = useLive()
  const workflows = useMemo(() => [...new Set(rows.map(({ workflow }) => workflow))].sort(), [rows])
  const shown = problem ?? preview.problem

  const save = async (event: { readonly currentTarget: HTMLElement; preventDefault(): void }) => {
    event.preventDefault()
    const form = event.currentTarget
    setSaving(true)
    try {
      if (values.id === '') throw new FieldError('id', 'id is needed')
      const body = definitionOf(values, schedule)
      const saved = await api<ScheduleDescription>(scheduleAt(values.id), { method: 'PUT', body, isNew })
      live.put(saved)
      say(`${isNew ? 'Created' : 'Saved'} ${values.id}`)
      go({ page: 'schedule', id: values.id })
    } catch (error) {
      setProblem(problemOf(error))
      setSaving(false)
      requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
    }
  }

  const set = (name: keyof FormValues, value: string | boolean) => {
    setProblem(undefined)
    setValues((all) => ({ ...all, [name]: value }))
  }
  const text = (name: Exclude<keyof FormValues, 'paused'>) => ({
    value: values[name],
    onInput: (event: { currentTarget: { value: string } }) => set(name, event.currentTarget.value),
  })

  return (
    <form class="editor" onSubmit={save} noValidate>
      <p>
        <a href={addressOf(isNew ? { page: 'list' } : { page: 'schedule', id: schedule.id })}>← Back</a>
      </p>
      <h1>{isNew ? 'New schedule' : <Text>{`Edit ${schedule.id}`}</Text>}</h1>
      <div class="columns">
        <div class="fields">
          <Field name="id" label="Id" problem={shown} hint="Stable and unique; part of the id of every run">
            {(props) => <input {...props} {...text('id')} type="text" readOnly={!isNew} maxLength={200} />}
          </Field>
          <Field name="workflow" label="Workflow" problem={shown}>
            {(props) => <input {...props} {...text('workflow')} type="text" list="workflows" />}
          </Field>
          <datalist id="workflows">
            {workflows.map((name) => (
              <option key={name} value={name} />
            ))}
          </datalist>
          <fieldset class="kinds">
            <legend>Cadence</legend>
            {(['cron', 'every'] as const).map((kind) => (
              <label key={kind}>
                <input
                  type="radio"
                  name="kind"
                  checked={values.kind === kind}
                  onChange={() => set('kind', kind)}
                />
                {kind === 'cron' ? 'Cron' : 'Interval'}
              </label>
            ))}
          </fieldset>
          {values.kind === 'cron' ? (
            <>
              <Field name="cron" label="Cron" problem={shown} hint={cronHint(values)}>
                {(props) => (
                  <input {...props} {...text('cron')} type="text" placeholder="0 9 * * 1-5" class="mono" />
                )}
              </Field>
              <Field name="timezone" label="Time zone" problem={shown}>
                {(props) => <input {...props} {...text('timezone')} type="text" list="zones" />}
              </Field>
              <datalist id="zones">
                {zones.map((zone) => (
                  <option key={zone} value={zone} />
                ))}
              </datalist>
            </>
          ) : (
            <Field name="every" label="Every" problem={shown} hint="Such as 15m, 1h30m, or ms">
              {(props) => <input {...props} {...text('every')} type="text" placeholder="15m" class="mono" />}
            </Field>
          )}
          <Field name="input" label="Input, as JSON" problem={shown}>
            {(props) => <textarea {...props} {...text('input')} rows={3} class="mono" />}
          </Field>
          <Field name="note" label="Note" problem={shown}>
            {(props) => <textarea {...props} {...text('note')} rows={2} />}
          </Field>
          <label class="check">
            <input
              type="checkbox"
              checked={values.paused}
              onChange={(event) => set('paused', event.currentTarget.checked)}
            />
            Paused
          </label>
          <details open={isUnusual(values) || (shown !== undefined && !USUAL.has(shown.field ?? 'id'))}>
            <summary>Policies, bounds and labels</summary>
            <Field name="overlap" label="While the last run is still going" problem={shown}>
              {(props) => (
                <Options {...props} value={values.overlap} onChange={(value) => set('overlap', value)}>
                  {{ allow: 'run beside it', skip: 'skip the window' }}
                </Options>
              )}
            </Field>
            <Field name="catchup" label="After an outage" problem={shown}>
              {(props) => (
                <Options {...props} value={values.catchup} onChange={(value) => set('catchup', value)}>
                  {{ latest: 'run the latest missed window once', skip: 'drop what is late' }}
                </Options>
              )}
            </Field>
            <Field
              name="jitter"
              label="Jitter"
              problem={shown}
              hint="Each window is put off by a stable part of this, such as 5m"
            >
              {(props) => <input {...props} {...text('jitter')} type="text" class="mono" />}
            </Field>
            <div class="pair">
              <Field name="startAt" label="Not before (your time)" problem={shown}>
                {(props) => <input {...props} {...text('startAt')} type="datetime-local" step={1} />}
              </Field>
              <Field name="endAt" label="Not at or after" problem={shown}>
                {(props) => <input {...props} {...text('endAt')} type="datetime-local" step={1} />}
              </Field>
            </div>
            <div class="pair">
              <Field name="maxRuns" label="Fires at most" problem={shown}>
                {(props) => <input {...props} {...text('maxRuns')} type="text" inputMode="numeric" />}
              </Field>
              <Field name="pauseAfterFailures" label="Pause after failures in a row" problem={shown}>
                {(props) => (
                  <input {...props} {...text('pauseAfterFailures')} type="text" inputMode="numeric" />
                )}
              </Field>
            </div>
            <div class="pair">
              <Field name="concurrency" label="Concurrency key" problem={shown}>
                {(props) => <input {...props} {...text('concurrencyKey')} type="text" />}
              </Field>
              <Field name="concurrencyLimit" label="At most at once" problem={shown}>
                {(props) => (
                  <input {...props} {...text('concurrencyLimit')} type="text" inputMode="numeric" />
                )}
              </Field>
            </div>
            <Field name="priority" label="Priority" problem={shown} hint="Waiting runs start highest first">
              {(props) => <input {...props} {...text('priority')} type="text" inputMode="numeric" />}
            </Field>
            <Field name="namespace" label="Namespace" problem={shown}>
              {(props) => (
                <input
                  {...props}
                  {...text('namespace')}
                  type="text"
                  placeholder="default"
                  readOnly={!isNew}
                />
              )}
            </Field>
            <Field name="tags" label="Tags, one a line" problem={shown}>
              {(props) => <textarea {...props} {...text('tags')} rows={2} />}
            </Field>
            <Field name="searchAttributes" label="Search attributes, as JSON" problem={shown}>
              {(props) => <textarea {...props} {...text('searchAttributes')} rows={2} class="mono" />}
            </Field>
          </details>
          {shown !== undefined && !isShownBesideIts(shown) && <Notice kind="bad">{shown.message}</Notice>}
          <p class="buttons">
            <a
              class="button"
              href={addressOf(isNew ? { page: 'list' } : { page: 'schedule', id: schedule.id })}
            >
              Cancel
            </a>
            <button type="submit" class="primary" disabled={isSaving}>
              {isNew ? 'Create' : 'Save'}
            </button>
          </p>
        </div>
        <NextTimes values={values} windows={preview.windows} />
      </div>
    </form>
  )
}

const USUAL: ReadonlySet<string> = new Set([
  'id',
  'workflow',
  'cron',
  'timezone',
  'every',
  'input',
  'note',
  'paused',
])
const FIELDS: ReadonlySet<string> = new Set(Object.keys(EMPTY).concat('concurrency'))

function isShownBesideIts({ field }: Problem): boolean {
  return field !== undefined && FIELDS.has(field) && field !== 'paused'
}

/** Whether something is set that the first fields do not show. */
function isUnusual(values: FormValues): boolean {
  return Object.entries(EMPTY).some(([name, empty]) => {
    const isHidden = !USUAL.has(name) && name !== 'kind' && name !== 'namespace'
    return isHidden && values[name as keyof FormValues] !== empty
  })
}

function cronHint({ cron, timezone }: FormValues): string {
  if (cron.trim() === '')
    return 'Minute, hour, day of the month, month, day of the week; seconds may come first'
  return cadenceInWords({ cron, everyMs: null, timezone })
}

interface Preview {
  readonly windows: readonly PreviewedWindow[] | undefined
  readonly problem: Problem | undefined
}

/** Asks for the next times when the typing pauses. Nothing is wrong yet with what has not been typed. */
function usePreview(values: FormValues, schedule: ScheduleDescription | undefined): Preview {
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

function NextTimes({
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

interface FieldProps {
  readonly name: string
  readonly label: string
  readonly problem: Problem | undefined
  readonly hint?: string
  readonly children: (props: ControlProps) => ComponentChildren
}

interface ControlProps {
  readonly id: string
  readonly name: string
  readonly 'aria-invalid': boolean
  readonly 'aria-describedby': string | undefined
}

function Field({ name, label, problem, hint, children }: FieldProps) {
  const id = useId()
  const wrong = problem?.field === name ? problem.message : undefined
  const isDescribed = wrong !== undefined || hint !== undefined
  return (
    <div class={wrong === undefined ? 'field' : 'field wrong'}>
      <label for={id}>{label}</label>
      {children({
        id,
        name,
        'aria-invalid': wrong !== undefined,
        'aria-describedby': isDescribed ? `${id}-said` : undefined,
      })}
      {isDescribed && (
        <p
          id={`${id}-said`}
          class={wrong === undefined ? 'quiet' : 'error'}
          role={wrong === undefined ? undefined : 'alert'}
        >
          <bdi>{wrong ?? hint}</bdi>
        </p>
      )}
    </div>
  )
}

interface OptionsProps extends ControlProps {
  readonly value: string
  onChange(value: string): void
  readonly children: Readonly<Record<string, string>>
}

function Options({ value, onChange, children, ...props }: OptionsProps) {
  return (
    <select {...props} value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {Object.entries(children).map(([option, words]) => (
        <option key={option} value={option}>
          {option}: {words}
        </option>
      ))}
    </select>
  )
}
