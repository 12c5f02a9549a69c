import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { d1Store, durableObjectStore } from '../../src/schedules/index.ts'
import { describeScheduleStore } from '../../src/testing/schedule-store-suite.ts'
import { setup } from '../workerd/support/setup.ts'

declare global {
  namespace Cloudflare {
    interface Env {
      SCHEDULES_DB: D1Database
    }
  }
}

const framework = { describe, test, expect }
const TABLES = ['durable_schedules', 'durable_schedule_tags', 'durable_runs', 'durable_decisions']

describeScheduleStore(
  'durableObjectStore',
  (use) => setup().inside(({ ctx }) => use(durableObjectStore(ctx.storage))),
  framework,
)

describeScheduleStore(
  'd1Store',
  async (use) => {
    await env.SCHEDULES_DB.batch(
      TABLES.map((table) => env.SCHEDULES_DB.prepare(`DROP TABLE IF EXISTS ${table}`)),
    )
    await use(d1Store(env.SCHEDULES_DB))
  },
  framework,
)
