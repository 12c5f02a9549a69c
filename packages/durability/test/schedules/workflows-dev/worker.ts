import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers'
import { DurabilityEngine, memoryStore, workflow } from '../../../src/schedules/index.ts'

interface Env {
  readonly WORKFLOW: Workflow
}

/** Waits for the event `end`. Its output is what it was started with. */
export class Waiting extends WorkflowEntrypoint<Env> {
  override async run({ payload }: WorkflowEvent<unknown>, step: WorkflowStep): Promise<unknown> {
    await step.waitForEvent('end', { type: 'end' })
    return payload
  }
}

/** An engine that knows of no run, as one is that crashed before it wrote down that an instance was started. */
function forgetful(env: Env, seen: string[]) {
  const create = async (given: { readonly id: string; readonly params: unknown }) => {
    try {
      await env.WORKFLOW.create(given)
      seen.push('said nothing')
    } catch (error) {
      seen.push(String(error))
      throw error
    }
  }
  const binding = { create, get: (id: string) => env.WORKFLOW.get(id) }
  return new DurabilityEngine({ store: memoryStore(), workflows: { waits: workflow(binding) } })
}

export default {
  /** Two engines start one run, before and after its instance is over. */
  async fetch(request, env): Promise<Response> {
    const runId = new URL(request.url).searchParams.get('run')
    if (runId === null) return new Response('GET /?run=')
    const seen: string[] = []
    const start = (input: string) => forgetful(env, seen).start('waits', input, runId)
    const running = [await start('first'), await start('second')]
    const engine = forgetful(env, seen)
    await engine.start('waits', 'third', runId)
    const missing = await forgetful(env, seen).getRun(runId)
    const cancelled = await engine.cancelRun(runId)
    const over = await forgetful(env, seen).start('waits', 'fourth', runId)
    const asked = await engine.getRun(runId)
    return Response.json({ running, missing, cancelled, over, asked, seen })
  },
} satisfies ExportedHandler<Env>
