import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { d1Store, durableObjectStore } from '../../src/schedules/index.ts'
import { describeScheduleStore } from '../../src/testing/schedule-store-suite.ts'
import { setup } from '../workerd/support/setup.ts'
import { dropTables } from './support/tables.ts'

declare global {
  namespace Cloudflare {
    interface Env {
      SCHEDULES_DB: D1Database
    }
  }
}

const framework = { describe, test, expect }

describeScheduleStore(
  'durableObjectStore',
  (use) => setup().inside(({ ctx }) => use(durableObjectStore(ctx.storage))),
  framework,
)

describeScheduleStore(
  'd1Store',
  async (use) => {
    await dropTables(env.SCHEDULES_DB)
    await use(d1Store(env.SCHEDULES_DB))
  },
  framework,
)
