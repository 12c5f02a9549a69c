import { abortAllDurableObjects, reset, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach } from 'vitest'
import { realTime, until } from '../workerd/support/time.ts'
import { type Subject, subjects, type TestObject } from '../workerd/support/worker.ts'
import type { AlarmCall, ContractObject, Inside, ObjectDriver, ObjectParts } from './durable-object/driver.ts'
import { durableObjectContract } from './durable-object.ts'

declare global {
  namespace Cloudflare {
    interface Env {
      OBJECTS: DurableObjectNamespace<TestObject>
    }
  }
}

const insides = new WeakMap<Subject, Inside>()
let objects = 0

afterEach(async () => {
  await abortAllDurableObjects()
  await reset()
  subjects.clear()
})

function object(parts: ObjectParts = {}): ContractObject {
  objects += 1
  const name = `contract ${objects}`
  const alarms: AlarmCall[] = []
  let instances = 0
  subjects.set(name, (ctx) => {
    parts.construct?.(ctx, ++instances)
    const inside = insideOf(ctx)
    const subject: Subject = {
      async alarm(info) {
        const { scheduledTime = Number.NaN, retryCount = Number.NaN, isRetry = false } = info ?? {}
        const call: AlarmCall = {
          info: { scheduledTime, retryCount, isRetry },
          startedAt: Date.now(),
          isOpen: true,
        }
        alarms.push(call)
        try {
          await parts.alarm?.(inside, call.info, alarms.length)
        } finally {
          call.isOpen = false
        }
      },
    }
    insides.set(subject, inside)
    return subject
  })

  const send = <T>(work: (inside: Inside) => T | Promise<T>): Promise<T> =>
    runInDurableObject<TestObject, T>(env.OBJECTS.getByName(name), async ({ subject }) => {
      const inside = insides.get(subject)
      if (inside === undefined) throw new Error('The object is of another test')
      return await work(inside)
    })
  return {
    alarms,
    now: () => Date.now(),
    send,
    answer: (promise) => promise,
    request: send,
    until,
    quiet: realTime,
    crash: abortAllDurableObjects,
  }
}

function insideOf(ctx: DurableObjectState): Inside {
  const { storage } = ctx
  return { ctx, storage, sql: storage.sql, now: () => Date.now(), pause: realTime }
}

const driver: ObjectDriver = { name: 'a real object', object }

durableObjectContract(driver)
