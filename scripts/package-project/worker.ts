/** Every entry point of the package, as a new project would use it. */
import { DurableObject } from 'cloudflare:workers'
import { DurabilityAlarms, DurabilityScheduler } from 'durability'
import { bearerToken, createConsole } from 'durability/console'
import { cloudflareAccess } from 'durability/console/cloudflare-access'
import { InvalidCronError, nextCronTime, parseCron } from 'durability/cron'
import { DurabilitySchedule, type RunOutcome } from 'durability/experimental'
import { DurabilityScheduleObject, remoteSchedules, workflow } from 'durability/schedules'
import { exponential, jitter } from 'durability/utils'

interface Env {
  readonly CRON: DurableObjectNamespace<Cron>
  readonly SCHEDULES: DurableObjectNamespace<Schedules>
  readonly BRIEFS: Workflow<{ readonly user: string }>
  readonly TOKEN: string
}

export class Schedules extends DurabilityScheduleObject<Env> {
  protected override workflows() {
    return { brief: workflow(this.env.BRIEFS, { params: () => ({ user: 'ada' }) }), log: () => undefined }
  }
}

const byAccess = (audience: string) =>
  cloudflareAccess({ teamDomain: 'https://team.cloudflareaccess.com', audience })

export class Cron extends DurableObject<Env> {
  readonly #scheduler = new DurabilityScheduler({ context: this.ctx })
  readonly #schedule = new DurabilitySchedule({
    scheduler: this.#scheduler,
    nextOccurrence: (expression, after) => nextCronTime(expression, after),
    run: ({ scheduledTime, signal }) =>
      fetch('https://example.com', { signal, headers: { at: String(scheduledTime) } }),
    onOutcome: (run, outcome: RunOutcome) => console.log(run.idempotencyKey, outcome.status),
    outcomeRetries: { delay: (attempt) => jitter(exponential(attempt)) },
  })
  readonly #alarms = new DurabilityAlarms({
    scheduler: this.#scheduler,
    handlers: { renew: ({ attempt }) => console.log('renew', attempt) },
  })

  async configure(expression: string, version: number): Promise<boolean> {
    parseCron(expression)
    await this.#alarms.set('renew', Date.now() + 60_000)
    return this.#schedule.set({ expression, version, jitterMs: { maxMs: 30_000 } })
  }

  override alarm(info?: AlarmInvocationInfo): Promise<void> {
    return this.#scheduler.alarm(info)
  }
}

export default {
  async fetch(request, env): Promise<Response> {
    const { pathname } = new URL(request.url)
    const engine = remoteSchedules(env.SCHEDULES.getByName('all'))
    if (pathname === '/upsert') {
      return Response.json(await engine.schedules.upsert({ id: 'a', workflow: 'log', every: '15m' }))
    }
    if (pathname.startsWith('/console')) {
      return createConsole({ engine, authorize: bearerToken(env.TOKEN), basePath: '/console' })(request)
    }
    if (pathname.startsWith('/access')) {
      return createConsole({ engine, authorize: byAccess(env.TOKEN), basePath: '/access' })(request)
    }
    try {
      await env.CRON.getByName('one').configure(new URL(request.url).pathname.slice(1), 1)
      return new Response('set')
    } catch (error) {
      return new Response(String(error), { status: error instanceof InvalidCronError ? 400 : 500 })
    }
  },
} satisfies ExportedHandler<Env>
