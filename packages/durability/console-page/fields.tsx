import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'
import { ApiError } from './api-error.ts'
import { FieldError, fieldOf } from './definition-form.ts'

export interface Problem {
  readonly field: string | undefined
  readonly message: string
}

export function problemOf(error: unknown): Problem {
  const message = error instanceof Error ? error.message : String(error)
  const field = error instanceof ApiError || error instanceof FieldError ? error.field : undefined
  return { field: field === undefined ? undefined : fieldOf(field), message }
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

export function Field({ name, label, problem, hint, children }: FieldProps) {
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

export function Options({ value, onChange, children, ...props }: OptionsProps) {
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
