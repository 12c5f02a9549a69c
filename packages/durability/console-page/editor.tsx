import { useEffect, useMemo, useState } from 'preact/hooks'
import { api, scheduleAt } from './api.ts'
import { definitionOf, EMPTY, FieldError, type FormValues, valuesOf } from './definition-form.ts'
import { Field, Options, type Problem, problemOf } from './fields.tsx'
import { useLive } from './hooks.ts'
import { NextTimes, usePreview } from './next-times.tsx'
import { Notice, Text } from './parts.tsx'
import { addressOf, go } from './route.ts'
import { type Revision, saveDefinition } from './save-definition.ts'
import { isSignedOut, live, readSchedule } from './session.ts'
import { say } from './toasts.tsx'
import type { ScheduleDescription } from './types.ts'
import { cadenceInWords } from './words.ts'

const RETRY_MS = 5_000

/** Begins with what the server holds now: the row of the list may be a minute old. */
export function EditPage({ id }: { readonly id: string }) {
  const { viewer } = useLive()
  const [schedule, setSchedule] = useState<ScheduleDescription>()
  const [said, setSaid] = useState('')
  useEffect(() => {
    // Not filled anew: what is being typed stays.
    if (schedule !== undefined) return
    let isOver = false
    let timer: ReturnType<typeof setTimeout>
    const look = async () => {
      try {
        const read = await readSchedule(id)
        if (isOver) return
        if (read === null) setSaid('There is no such schedule, or no more.')
        else setSchedule(read)
      } catch (error) {
        if (isOver) return
        setSaid(error instanceof Error ? error.message : String(error))
        if (!isSignedOut(error)) timer = setTimeout(look, RETRY_MS)
      }
    }
    void look()
    return () => {
      isOver = true
      clearTimeout(timer)
    }
  }, [id, viewer, schedule])
  if (schedule !== undefined) {
    return <Editor key={schedule.revision} schedule={schedule} onReload={() => setSchedule(undefined)} />
  }
  return said === '' ? <p class="quiet">Reading…</p> : <Notice kind="bad">{said}</Notice>
}

const zones: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone')]

interface EditorProps {
  readonly schedule?: ScheduleDescription
  /** Begins again with what is saved. */
  onReload?(): void
}

/** Creates a schedule, or changes one; shows its next times while it is typed. */
export function Editor({ schedule, onReload }: EditorProps) {
  const isNew = schedule === undefined
  const [values, setValues] = useState<FormValues>(() =>
    schedule === undefined ? EMPTY : valuesOf(schedule),
  )
  const [problem, setProblem] = useState<Problem>()
  const [isSaving, setSaving] = useState(false)
  /** What somebody else has saved meanwhile. */
  const [theirs, setTheirs] = useState<Revision>()
  const preview = usePreview(values, schedule)
  const { rows } = useLive()
  const workflows = useMemo(() => [...new Set(rows.map(({ workflow }) => workflow))].sort(), [rows])
  const shown = problem ?? preview.problem

  const save = async (form: HTMLElement, expected: Revision | 'new') => {
    setSaving(true)
    setTheirs(undefined)
    try {
      const { id } = values
      if (id === '') throw new FieldError('id', 'id is needed')
      const saved = await saveDefinition(
        {
          read: () => readSchedule(id),
          write: (isNew) => {
            const body = definitionOf(values, schedule, isNew)
            return api<ScheduleDescription>(scheduleAt(id), { method: 'PUT', body, isNew })
          },
        },
        expected,
      )
      if (saved.kind === 'changed') {
        setTheirs(saved.revision)
        setSaving(false)
        requestAnimationFrame(() => form.querySelector<HTMLElement>('.theirs button')?.focus())
        return
      }
      live.put(saved.schedule)
      say(`${isNew ? 'Created' : 'Saved'} ${id}`)
      go({ page: 'schedule', id })
    } catch (error) {
      isSignedOut(error)
      setProblem(problemOf(error))
      setSaving(false)
      requestAnimationFrame(() => form.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
    }
  }
  const onSubmit = (event: { readonly currentTarget: HTMLElement; preventDefault(): void }) => {
    event.preventDefault()
    void save(event.currentTarget, schedule?.revision ?? 'new')
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
    <form class="editor" onSubmit={onSubmit} noValidate>
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
          {theirs !== undefined && schedule !== undefined && (
            <Theirs
              opened={schedule.revision}
              revision={theirs}
              onSave={(form) => void save(form, theirs)}
              onReload={onReload}
            />
          )}
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

interface TheirsProps {
  readonly opened: number
  readonly revision: Revision
  onSave(form: HTMLElement): void
  readonly onReload: (() => void) | undefined
}

/** Somebody else has saved, or deleted, what the form is about to replace. */
function Theirs({ opened, revision, onSave, onReload }: TheirsProps) {
  return (
    <div class="theirs">
      <Notice kind="bad">
        {revision === null
          ? 'It was deleted while this form was open. Saving creates it again.'
          : `It was changed while this form was open: revision ${opened} was opened, and ${revision} is saved. Saving undoes what was changed.`}
      </Notice>
      <p class="buttons">
        {revision !== null && (
          <button type="button" onClick={onReload}>
            Begin again with what is saved
          </button>
        )}
        <button
          type="button"
          class="bad"
          onClick={({ currentTarget }) => {
            if (currentTarget.form !== null) onSave(currentTarget.form)
          }}
        >
          {revision === null ? 'Create it again' : 'Save over it'}
        </button>
      </p>
    </div>
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
