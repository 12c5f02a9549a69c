import {
  DurabilityScheduleObject,
  InvalidScheduleError,
  type RunToStart,
  remoteSchedules,
  ScheduleNotFoundError,
} from 'durability/schedules'

export interface Env {
  readonly TENANTS: DurableObjectNamespace<TenantSchedules>
}

type Message = { text: string; scheduledTime: number }

/** All of one tenant: the schedules its users made, their runs, and the one alarm that starts them. */
export class TenantSchedules extends DurabilityScheduleObject<Env> {
  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    ctx.storage.sql.exec(
      'CREATE TABLE IF NOT EXISTS outbox (runId TEXT PRIMARY KEY, text TEXT, scheduledTime INTEGER)',
    )
  }

  /** What a schedule of a user may start. Stored schedules name it: keep the names. */
  protected override workflows() {
    return { reminder: (run: RunToStart) => this.#remind(run) }
  }

  /** Strangers choose the times: none of them faster than once a minute. */
  protected override engineOptions() {
    return { minEveryMs: 60_000, seconds: false }
  }

  /** Stands for sending mail. A run is never repeated; its id is the key for whatever is called here. */
  #remind({ runId, input, scheduledTime }: RunToStart): void {
    const { text } = input as { text: string }
    if (text === '') throw new Error('There is nothing to say')
    this.ctx.storage.sql.exec('INSERT INTO outbox VALUES (?, ?, ?)', runId, text, scheduledTime)
  }

  /** What was sent so far. */
  outbox(): Message[] {
    const messages = this.ctx.storage.sql.exec<Message>(
      'SELECT text, scheduledTime FROM outbox ORDER BY scheduledTime',
    )
    return messages.toArray()
  }
}

export default {
  /** `/:tenant/outbox`, `/:tenant/schedules`, `/:tenant/schedules/:id` and `/:tenant/schedules/:id/:action`. */
  async fetch(request, env): Promise<Response> {
    try {
      return await answer(request, env)
    } catch (error) {
      if (error instanceof InvalidScheduleError) return refusal(400, error.message, error.field)
      if (error instanceof ScheduleNotFoundError) return refusal(404, error.message)
      console.error(error)
      return refusal(500, 'That failed')
    }
  },
} satisfies ExportedHandler<Env>

async function answer(request: Request, env: Env): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url)
  const [tenant = '', part, id, action] = pathname.slice(1).split('/').map(decoded)
  // In your Worker the tenant is who signed in, never what the address says.
  const object = env.TENANTS.getByName(tenant)
  const { schedules, listRuns } = remoteSchedules(object)

  if (part === 'outbox') return Response.json(await object.outbox())
  if (part !== 'schedules') return refusal(404, 'There is nothing here')
  if (id === undefined) {
    if (request.method !== 'GET') return refusal(405, 'Schedules are made by PUT /:tenant/schedules/:id')
    const cursor = searchParams.get('cursor')
    const page = await schedules.list({ limit: 100, ...(cursor !== null && { cursor }) })
    return Response.json({ schedules: page, cursor: page.cursor })
  }
  switch (`${request.method} ${action ?? ''}`) {
    case 'PUT ': {
      const body = await bodyOf(request)
      // The user chooses when and what; which workflow, and how it may fail, is up to you.
      return Response.json(
        await schedules.upsert({ ...body, id, workflow: 'reminder', pauseAfterFailures: 5 }),
      )
    }
    case 'GET ': {
      const schedule = await schedules.get(id)
      if (schedule === null) throw new ScheduleNotFoundError(id)
      return Response.json({ ...schedule, next: await schedules.preview(id, { count: 5 }) })
    }
    case 'DELETE ':
      return Response.json({ deleted: await schedules.delete(id) })
    case 'POST pause':
      return Response.json(await schedules.pause(id, searchParams.get('note') ?? undefined))
    case 'POST resume':
      return Response.json(await schedules.resume(id))
    case 'POST run':
      return Response.json(await schedules.trigger(id))
    case 'GET history':
      return Response.json({
        decisions: await schedules.history(id),
        runs: await listRuns({ scheduleId: id }),
      })
    default:
      return refusal(405, 'That cannot be done here')
  }
}

/** The library checks the schedule. The input is yours: it is checked here, so that the user hears of it now. */
async function bodyOf(request: Request) {
  const body = (await request.json().catch(() => null)) as { input?: { text?: unknown } } | null
  if (typeof body?.input?.text !== 'string')
    throw new InvalidScheduleError('input', 'must be { "text": "…" }')
  return body
}

/** Ids are users' text: they come URL-encoded, and may hold a slash. */
function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    throw new InvalidScheduleError('id', 'is not URL-encoded UTF-8')
  }
}

function refusal(status: number, message: string, field?: string): Response {
  return Response.json({ error: { ...(field !== undefined && { field }), message } }, { status })
}
