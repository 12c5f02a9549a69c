import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers'
import {
  DurabilityScheduleObject,
  InvalidScheduleError,
  type RunToStart,
  remoteSchedules,
  ScheduleNotFoundError,
  workflow,
} from 'durability/schedules'

export interface Env {
  readonly BRIEFS: DurableObjectNamespace<Briefs>
  readonly MORNING_BRIEF: Workflow<BriefParams>
}

type BriefParams = { user: string; topic: string; runId: string; scheduledTime: number }
type Brief = { user: string; text: string }

/** Writes one brief. Each step is tried until it succeeds, and its result is kept: a crash repeats the last one only. */
export class MorningBrief extends WorkflowEntrypoint<Env, BriefParams> {
  override async run({ payload }: WorkflowEvent<BriefParams>, step: WorkflowStep): Promise<string> {
    const { user, topic, runId, scheduledTime } = payload
    const text = await step.do('write', async () => {
      const day = new Date(scheduledTime).toISOString().slice(0, 10)
      return `Good morning ${user}, this is ${day} in ${topic}.`
    })
    // A step may be repeated though it had succeeded: the run's id says which brief it is.
    await step.do('deliver', () => this.env.BRIEFS.getByName('all').deliver(runId, user, text))
    return text
  }
}

/** Who wants a brief when, and the alarm that starts it. Here it also stands for the mailboxes. */
export class Briefs extends DurabilityScheduleObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    ctx.storage.sql.exec('CREATE TABLE IF NOT EXISTS mailbox (runId TEXT PRIMARY KEY, user TEXT, text TEXT)')
  }

  protected override workflows() {
    return { 'morning-brief': workflow(this.env.MORNING_BRIEF, { params: paramsOf }) }
  }

  async deliver(runId: string, user: string, text: string): Promise<void> {
    this.ctx.storage.sql.exec(
      'INSERT INTO mailbox VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      runId,
      user,
      text,
    )
  }

  mailbox(user: string): Brief[] {
    return this.ctx.storage.sql.exec<Brief>('SELECT user, text FROM mailbox WHERE user = ?', user).toArray()
  }
}

/** By default an instance gets the schedule's input. This one wants to know of which run and time it is as well. */
function paramsOf({ input, runId, scheduleId, scheduledTime }: RunToStart): BriefParams {
  const { topic } = input as { topic: string }
  return { user: scheduleId ?? '', topic, runId, scheduledTime: scheduledTime ?? 0 }
}

export default {
  /** `?user=`: `PUT &cron=&timezone=&topic=` sets it, `POST` writes one now, `DELETE` ends it; `GET` shows what there is. */
  async fetch(request, env): Promise<Response> {
    const { searchParams } = new URL(request.url)
    // In your Worker this is who signed in.
    const user = searchParams.get('user') ?? ''
    const object = env.BRIEFS.getByName('all')
    const { schedules, listRuns } = remoteSchedules(object)
    try {
      switch (request.method) {
        case 'PUT':
          return Response.json(
            await schedules.upsert({
              id: user,
              workflow: 'morning-brief',
              input: { topic: searchParams.get('topic') ?? 'your town' },
              cron: searchParams.get('cron') ?? '0 9 * * *',
              timezone: searchParams.get('timezone') ?? 'UTC',
              // Today's is left out while yesterday's is still being written; after three that failed it is paused.
              overlap: 'skip',
              pauseAfterFailures: 3,
            }),
          )
        case 'POST':
          return Response.json(await schedules.trigger(user))
        case 'DELETE':
          return Response.json({ deleted: await schedules.delete(user) })
        default: {
          if (user === '') return Response.json(await schedules.list())
          const schedule = await schedules.get(user)
          const runs = await listRuns({ scheduleId: user, limit: 10 })
          return Response.json({ schedule, runs, mailbox: await object.mailbox(user) })
        }
      }
    } catch (error) {
      if (error instanceof InvalidScheduleError) return new Response(error.message, { status: 400 })
      if (error instanceof ScheduleNotFoundError) return new Response(error.message, { status: 404 })
      throw error
    }
  },
} satisfies ExportedHandler<Env>
