import { check } from '../core/checks.ts'
import { describeThrown } from '../core/thrown.ts'
import { instanceIdOf } from './instance-id.ts'
import type { OutsideStatus, RegisteredOutside, RunToStart, ValidateInput } from './registered.ts'

/** The part of a Cloudflare Workflows binding that is used; `Workflow` of the platform has this shape. */
export interface WorkflowBinding<Params = unknown> {
  create(options: { readonly id: string; readonly params: Params }): Promise<unknown>
  get(id: string): Promise<WorkflowInstanceLike>
}

export interface WorkflowInstanceLike {
  status(): Promise<{ readonly status: string; readonly error?: unknown }>
  terminate(): Promise<void>
}

export interface WorkflowOptions<Params = unknown> {
  /** Throws to refuse an input. */
  readonly validate?: ValidateInput
  /** What the instance gets as its params. Default: the input. */
  readonly params?: (run: RunToStart) => Params
}

/**
 * Starts an instance of a Cloudflare Workflow for each run, under an id made of the run's. An instance that exists
 * already counts as started.
 *
 * @throws TypeError for what is no binding.
 */
export function workflow<Params = unknown>(
  binding: WorkflowBinding<Params>,
  options: WorkflowOptions<NoInfer<Params>> = {},
): RegisteredOutside {
  check('binding', binding, 'object')
  // What an input is, `validate` says.
  const { validate, params = (run: RunToStart) => run.input as Params } = options
  const get = async (runId: string) => binding.get(await instanceIdOf(runId))
  return {
    kind: 'workflow',
    validate,

    async start(run) {
      const id = await instanceIdOf(run.runId)
      try {
        await binding.create({ id, params: params(run) })
      } catch (error) {
        if (!isAlreadyThere(error)) throw error
      }
      return 'running'
    },

    async status(runId) {
      try {
        const instance = await get(runId)
        const { status, error } = await instance.status()
        return { status: runStatusOf(status), error: error == null ? null : textOf(error) }
      } catch (error) {
        if (isNotThere(error)) return { status: 'unknown', error: null }
        throw error
      }
    },

    async cancel(runId) {
      try {
        const instance = await get(runId)
        await instance.terminate()
      } catch (error) {
        if (!isNotThere(error)) throw error
      }
    },
  }
}

/** Errors cross an RPC: only their text is to be trusted. */
function isAlreadyThere(error: unknown): boolean {
  return /instance\.already_exists/.test(describeThrown(error).message)
}

function isNotThere(error: unknown): boolean {
  return /instance\.not_found/.test(describeThrown(error).message)
}

/** As the platform names them. A paused or waiting instance is not over. */
function runStatusOf(status: string): OutsideStatus['status'] {
  switch (status) {
    case 'queued':
      return 'queued'
    case 'complete':
      return 'complete'
    case 'errored':
      return 'errored'
    case 'terminated':
      return 'cancelled'
    case 'unknown':
      return 'unknown'
    default:
      return 'running'
  }
}

function textOf(error: unknown): string {
  const { name, message } = describeThrown(error)
  return name === 'NonError' ? message : `${name}: ${message}`
}
