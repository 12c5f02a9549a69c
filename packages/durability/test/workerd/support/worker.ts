import { DurableObject } from 'cloudflare:workers'
import type { AlarmInfo } from '../../../src/index.ts'

export { TestSchedules } from './test-schedules.ts'

export { TestWorkflow } from './workflow.ts'

/** What a test puts into the object: made anew for each instance, as a class's constructor would. */
export interface Subject {
  alarm(info?: AlarmInfo): Promise<void>
}

type MakeSubject = (ctx: DurableObjectState, env: unknown) => Subject

/** Test file and object share the modules' globals: a test says here what its objects, by name, are made of. */
export const subjects: Map<string, MakeSubject> = new Map()

/** A Durable Object that is whatever the test registered under its name. */
export class TestObject extends DurableObject {
  readonly subject: Subject

  constructor(ctx: DurableObjectState, env: unknown) {
    super(ctx, env as Cloudflare.Env)
    const make = subjects.get(ctx.id.name ?? '')
    if (make === undefined) throw new Error(`No subject is registered for object ${String(ctx.id.name)}`)
    this.subject = make(ctx, env)
  }

  override alarm(info?: AlarmInfo): Promise<void> {
    return this.subject.alarm(info)
  }
}

export default {
  fetch: (): Response => new Response('This Worker only holds the objects of the tests.'),
}
