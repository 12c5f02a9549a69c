import { describe } from 'vitest'
import { alarmsContract } from './durable-object/alarms.ts'
import { costsContract } from './durable-object/costs.ts'
import { cursorsContract } from './durable-object/cursors.ts'
import type { ObjectDriver } from './durable-object/driver.ts'
import { keyedContract } from './durable-object/keyed.ts'
import { sqlContract } from './durable-object/sql.ts'
import { surfaceContract } from './durable-object/surface.ts'
import { turnsContract } from './durable-object/turns.ts'

/** What a Durable Object is taken to do. It is run against the real one and against the simulation. */
export function durableObjectContract(driver: ObjectDriver): void {
  describe(driver.name, () => {
    turnsContract(driver)
    alarmsContract(driver)
    sqlContract(driver)
    cursorsContract(driver)
    costsContract(driver)
    keyedContract(driver)
    surfaceContract(driver)
  })
}
