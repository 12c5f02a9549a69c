import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers'

declare global {
  namespace Cloudflare {
    interface Env {
      WORKFLOW: Workflow<unknown>
    }
  }
}

type Params = { readonly waits?: boolean; readonly throws?: string }

/**
 * A Workflow that does what its params say: it ends with an error of that message, or waits for the event `end` first,
 * whose payload is the message, or `null`. Its output is what it was started with.
 */
export class TestWorkflow extends WorkflowEntrypoint<unknown, Params> {
  override async run({ payload }: WorkflowEvent<Params>, step: WorkflowStep): Promise<Params> {
    const { waits, throws = null } = payload
    const message = waits
      ? (await step.waitForEvent<string | null>('waits', { type: 'end' })).payload
      : throws
    if (message !== null) throw new Error(message)
    return payload
  }
}
