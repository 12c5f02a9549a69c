import { env } from 'cloudflare:workers'
import {
  DurabilityEngine,
  DurabilityScheduleObject,
  d1Store,
  dispatch,
  shardedSchedules,
} from '../../../src/schedules/index.ts'

interface Env {
  readonly SCHEDULES: DurableObjectNamespace<Schedules>
  readonly DB: D1Database
  readonly SELF: Fetcher
}

const { SCHEDULES, DB, SELF } = env as unknown as Env

/** What the requests wait for, until one of them has been cut off. */
let isHeld = false
let isWaiting = false

async function release(): Promise<void> {
  isWaiting = true
  while (isHeld) await scheduler.wait(10)
}

export class Schedules extends DurabilityScheduleObject<Env> {
  constructor(ctx: DurableObjectState, environment: Env) {
    super(ctx, environment)
    ctx.blockConcurrencyWhile(release)
  }

  protected override workflows() {
    return { quick: () => undefined }
  }
}

// One for all requests, as users make them.
const sharded = shardedSchedules(SCHEDULES, { shards: 2 })
const engine = new DurabilityEngine({
  store: d1Store(DB),
  workflows: { send: dispatch(release) },
  startTimeoutMs: 1_000,
})

export default {
  async fetch(request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    switch (pathname) {
      case '/count':
        return Response.json(await sharded.schedules.count())
      case '/create':
        return Response.json(await engine.schedules.create({ id: 'a', workflow: 'send', every: '1m' }))
      case '/tick':
        return Response.json(await engine.schedules.tick(Number(searchParams.get('at'))))
      case '/cut':
        return cut(searchParams.get('path') ?? '')
      default:
        return new Response('There is /count, /create, /tick and /cut')
    }
  },
} satisfies ExportedHandler<Env>

/** Makes a request, and cuts it off while it waits: with it goes all that it waits for. */
async function cut(path: string): Promise<Response> {
  isHeld = true
  isWaiting = false
  const controller = new AbortController()
  const answered = SELF.fetch(`https://self${path}`, { signal: controller.signal }).then(
    () => 'answered',
    () => 'cut',
  )
  while (!isWaiting) await scheduler.wait(10)
  controller.abort()
  const how = await answered
  isHeld = false
  return new Response(how)
}
