import { introspectWorkflowInstance } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import {
  d1Store,
  type WorkflowBinding,
  type WorkflowOptions,
  workflow,
} from '../../../src/schedules/index.ts'
import { instanceIdOf } from '../../../src/schedules/instance-id.ts'
import { MINUTE_MS, type SetupOptions, START_AT, setup } from './setup.ts'

export const WAITS = { waits: true }

interface Options extends SetupOptions {
  readonly binding?: Partial<WorkflowBinding>
  readonly workflow?: WorkflowOptions
}

/** An engine over D1 that starts instances of the Workflow. `binding` says what is not the real one's. */
export function workflowSetup({ binding, workflow: options, ...engine }: Options = {}) {
  const asked: string[] = []
  const real: WorkflowBinding = {
    create: (given) => env.WORKFLOW.create(given),
    get(id) {
      asked.push(id)
      return env.WORKFLOW.get(id)
    },
  }
  const bundle = setup({
    store: d1Store(env.SCHEDULES_DB),
    workflows: { brief: workflow(binding === undefined ? env.WORKFLOW : { ...real, ...binding }, options) },
    ...engine,
  })
  return {
    ...bundle,
    /** Instance ids of which the status was asked. */
    asked,
    every: (id: string, more: object = {}) =>
      bundle.schedules.create({ id, workflow: 'brief', every: '1m', input: WAITS, ...more }),
  }
}

/** The instance's state, as the platform gives it. */
export async function instanceOf(runId: string) {
  const instance = await env.WORKFLOW.get(await instanceIdOf(runId))
  const { status, output, error } = await instance.status()
  return { status, output, error }
}

/** Ends an instance that waits; with an error of that message, when there is one. */
export async function end(runId: string, error: string | null = null): Promise<void> {
  const id = await instanceIdOf(runId)
  const instance = await env.WORKFLOW.get(id)
  await instance.sendEvent({ type: 'end', payload: error })
  await over(runId, error === null ? 'complete' : 'errored')
}

export async function over(runId: string, status: 'complete' | 'errored' | 'terminated'): Promise<void> {
  const instance = await introspectWorkflowInstance(env.WORKFLOW, await instanceIdOf(runId))
  await instance.waitForStatus(status)
}

/** The run of the nth window after the start. */
export const runOf = (id: string, window = 1) => `sched:${id}:${START_AT + window * MINUTE_MS}`
