import { bearerToken, createConsole, READ_ACTIONS } from 'durability/console'
import { DurabilityScheduleObject, shardedSchedules } from 'durability/schedules'

interface Env {
  readonly SCHEDULES: DurableObjectNamespace<Schedules>
}

/** What the tests' schedules start. */
export class Schedules extends DurabilityScheduleObject<Env> {
  protected override workflows() {
    return {
      quick: () => undefined,
      failing: ({ input }: { readonly input: unknown }) => {
        throw new Error(String(input))
      },
      slow: ({ signal }: { readonly signal: AbortSignal }) => scheduler.wait(3_000, { signal }),
    }
  }

  /** Makes many at once: over HTTP that would take minutes. Those that are there stay as they are. */
  async fill(from: number, to: number): Promise<void> {
    for (let index = from; index < to; index += 1) {
      await this.engine.schedules.upsert({
        id: `tenant-${index}`,
        workflow: index % 3 === 0 ? 'quick' : 'slow',
        cron: `${index % 60} ${index % 24} * * *`,
        timezone: index % 2 === 0 ? 'Europe/Berlin' : 'America/New_York',
        tags: [`plan-${index % 5}`],
        paused: index % 50 === 0,
      })
    }
  }
}

const SHARDS = 2

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname === '/') return new Response('The console is at /console')
    const engine = shardedSchedules(env.SCHEDULES, { shards: SHARDS })
    if (pathname === '/fill') {
      // Placed by the set itself they would be spread over both; here it does not matter where they are.
      await engine.schedules.get('anything')
      await env.SCHEDULES.getByName('schedules-0').fill(
        Number(searchParams.get('from')),
        Number(searchParams.get('to')),
      )
      return new Response(null, { status: 204 })
    }
    const fetchConsole = createConsole({
      engine,
      basePath: '/console',
      authorize: bearerToken([
        { token: 'for-the-browser-tests', actor: 'tester' },
        { token: 'for-looking-only-tests', actions: READ_ACTIONS },
      ]),
    })
    return fetchConsole(request)
  },
} satisfies ExportedHandler<Env>
