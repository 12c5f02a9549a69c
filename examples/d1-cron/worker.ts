import { WorkflowEntrypoint, type WorkflowEvent, type WorkflowStep } from 'cloudflare:workers'
import {
  DurabilityEngine,
  d1Store,
  InvalidScheduleError,
  ScheduleNotFoundError,
  workflow,
} from 'durability/schedules'

export interface Env {
  readonly DB: D1Database
  readonly SYNC_TENANT: Workflow<{ tenant: string }>
}

/** Fetches what is new for one tenant. */
export class SyncTenant extends WorkflowEntrypoint<Env, { tenant: string }> {
  override run({ payload }: WorkflowEvent<{ tenant: string }>, step: WorkflowStep): Promise<string> {
    // Here the work would be: each step is tried until it succeeds.
    return step.do('fetch', async () => `${payload.tenant} is up to date`)
  }
}

/** One for each request is as good as one for all of them. */
export function engineOf(env: Env) {
  return new DurabilityEngine({
    // The tables are there by the migration.
    store: d1Store(env.DB, { autoSchema: false }),
    workflows: { 'sync-tenant': workflow(env.SYNC_TENANT) },
    // A Cron Trigger comes once a minute, and D1 answers 1,000 queries of one invocation. What is left comes next time.
    minEveryMs: 60_000,
    seconds: false,
    maxFiresPerTick: 60,
  })
}

export default {
  async scheduled(_controller, env): Promise<void> {
    await engineOf(env).schedules.tick()
  },

  /** `?tenant=`: `PUT &cron=` or `&every=` sets it, `DELETE` ends it; `GET` shows it with its runs, or all of them. */
  async fetch(request, env): Promise<Response> {
    const { searchParams } = new URL(request.url)
    const { tenant, ...timing } = Object.fromEntries(searchParams)
    const engine = engineOf(env)
    const { schedules } = engine
    if (tenant === undefined) return Response.json(await schedules.list())
    try {
      switch (request.method) {
        case 'PUT': {
          // The tenant chooses when; what is started, and with what, is up to you.
          const fixed = { id: tenant, workflow: 'sync-tenant', input: { tenant }, overlap: 'skip' } as const
          return Response.json(await schedules.upsert({ ...timing, ...fixed }))
        }
        case 'DELETE':
          return Response.json({ deleted: await schedules.delete(tenant) })
        default: {
          const history = await schedules.history(tenant, { limit: 10 })
          const runs = await engine.listRuns({ scheduleId: tenant, limit: 10 })
          return Response.json({ schedule: await schedules.get(tenant), runs, history })
        }
      }
    } catch (error) {
      if (error instanceof InvalidScheduleError) return new Response(error.message, { status: 400 })
      if (error instanceof ScheduleNotFoundError) return new Response(error.message, { status: 404 })
      throw error
    }
  },
} satisfies ExportedHandler<Env>
