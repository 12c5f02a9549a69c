import { describe } from 'vitest'
import { alarmsContract } from './durable-object/alarms.ts'
import type { ObjectDriver } from './durable-object/driver.ts'
import { turnsContract } from './durable-object/turns.ts'

/** What a Durable Object is taken to do. It is run against the real one and against the simulation. */
export function durableObjectContract(driver: ObjectDriver): void {
  describe(driver.name, () => {
    turnsContract(driver)
    alarmsContract(driver)
  })
}
