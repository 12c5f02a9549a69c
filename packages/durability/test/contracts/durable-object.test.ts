import type { Clock } from '../../src/core/clock.ts'
import { type SimulatedObject, SimulatedWorld, simulateObject } from '../../src/testing/index.ts'
import type { AlarmCall, ContractObject, Inside, ObjectDriver, ObjectParts } from './durable-object/driver.ts'
import { durableObjectContract } from './durable-object.ts'

/** How much simulated time something may take. */
const PATIENCE_MS = 60_000

interface Instance {
  readonly inside: Inside
  alarm(info: AlarmCall['info']): Promise<void>
}

/** Of all objects, as real ones have one time. */
const world = new SimulatedWorld()
let objects = 0

function object(parts: ObjectParts = {}): ContractObject {
  const alarms: AlarmCall[] = []
  let instances = 0
  const make = (ctx: DurableObjectState, clock: Clock): Instance => {
    parts.construct?.(ctx, ++instances)
    const inside = insideOf(ctx, clock)
    return {
      inside,
      async alarm(info) {
        const call: AlarmCall = { info, startedAt: clock.now(), isOpen: true }
        alarms.push(call)
        try {
          await parts.alarm?.(inside, info, alarms.length)
        } finally {
          call.isOpen = false
        }
      },
    }
  }
  objects += 1
  const simulated: SimulatedObject<Instance> = simulateObject(make, { world, id: `object ${objects}` })

  const send: ContractObject['send'] = (work) => simulated.call(({ inside }) => work(inside))
  const until: ContractObject['until'] = async (what, holds) => {
    await world.settle()
    for (let passedMs = 0; !(await holds()); passedMs++) {
      if (passedMs > PATIENCE_MS) throw new Error(`Not within ${PATIENCE_MS} ms: ${what}`)
      await world.advance(1)
    }
  }
  const answer = async <T>(promise: Promise<T>): Promise<T> => {
    let isSettled = false
    const settled = () => {
      isSettled = true
    }
    promise.then(settled, settled)
    await until('an answer', () => isSettled)
    return promise
  }
  return {
    alarms,
    now: () => world.clock.now(),
    send,
    answer,
    request: (work) => answer(send(work)),
    until,
    quiet: (ms) => world.advance(ms),
    async crash() {
      simulated.crash()
    },
  }
}

function insideOf(ctx: DurableObjectState, clock: Clock): Inside {
  const { storage } = ctx
  return {
    ctx,
    storage,
    sql: storage.sql,
    now: () => clock.now(),
    pause: (ms) => new Promise((resolve) => void clock.setTimer(resolve, ms)),
  }
}

const driver: ObjectDriver = { name: 'a simulated object', object }

durableObjectContract(driver)
