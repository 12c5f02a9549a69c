import {
  DurabilityScheduleObject,
  type RunToStart,
  type ScheduleObjectOptions,
  type WorkflowLike,
} from '../../../src/schedules/index.ts'

type Handled = RunToStart & { readonly signal: AbortSignal }

/** What a test makes the objects do, and saw them do, over all their instances. */
export class Behaviour {
  /** Of every object's constructor. */
  options: ScheduleObjectOptions = {}
  workflows: Record<string, WorkflowLike> = {}
  /** The rest of the constructor of a subclass. */
  beside: (object: TestSchedules) => void = () => {}
  /** What the handler `work` does. */
  work: (run: Handled) => unknown = () => {}
  /** Thrown by every call of these objects. */
  readonly broken = new Set<string>()

  /** Run ids of which the handler was called. */
  readonly called: string[] = []
  /** Invocations of `alarm`, by the object's name. */
  readonly alarms: string[] = []

  reset(): void {
    Object.assign(this, new Behaviour())
  }
}

/** Test file and object share the modules' globals. */
export const behaviour: Behaviour = new Behaviour()

/** A subclass as a user writes one, which does what the test says. */
export class TestSchedules extends DurabilityScheduleObject {
  readonly name: string = this.ctx.id.name ?? ''

  constructor(ctx: DurableObjectState, env: Cloudflare.Env) {
    super(ctx, env)
    behaviour.beside(this)
  }

  /** What a subclass is given. */
  get parts() {
    const { ctx, engine, scheduler } = this
    return { ctx, engine, scheduler }
  }

  protected override workflows(): Record<string, WorkflowLike> {
    const work = (run: Handled) => {
      behaviour.called.push(run.runId)
      return behaviour.work(run)
    }
    return { work, ...behaviour.workflows }
  }

  protected override engineOptions(): ScheduleObjectOptions {
    return behaviour.options
  }

  override call(...args: Parameters<DurabilityScheduleObject['call']>) {
    if (behaviour.broken.has(this.name)) throw new Error('The object is down')
    return super.call(...args)
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    behaviour.alarms.push(this.name)
    return super.alarm(info)
  }
}
