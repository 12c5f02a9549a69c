import { describe, expect, test } from 'vitest'
import { durableObjectStore, memoryStore } from '../../src/schedules/index.node.ts'
import { simulateObject } from '../../src/testing/index.ts'
import { describeScheduleStore } from '../../src/testing/schedule-store-suite.ts'

const framework = { describe, test, expect }

describeScheduleStore('memoryStore', (use) => use(memoryStore()), framework)

describeScheduleStore(
  'durableObjectStore, simulated',
  async (use) => {
    const object = simulateObject((ctx) => ({
      alarm: () => undefined,
      store: durableObjectStore(ctx.storage),
    }))
    await use(object.instance.store)
    object.close()
  },
  framework,
)
