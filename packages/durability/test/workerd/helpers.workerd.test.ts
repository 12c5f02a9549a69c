import { describe, expect, it, vi } from 'vitest'
import type { SchedulerHelper, SchedulerPort } from '../../src/index.ts'
import { withStorage } from './support/forwarding.ts'
import { crash, setup } from './support/setup.ts'
import { ticker } from './support/ticker.ts'
import { FAR_AHEAD, freezeClock, probeLag, realTime, until } from './support/time.ts'

const SECOND = 1_000
const MINUTE = 60_000
const MINUTELY = `every ${MINUTE}`

describe('a user’s own helper', () => {
  it('shares the alarm with the schedule: it is the earlier of both, always', async () => {
    const clock = freezeClock()
    const beside = ticker(45 * SECOND)
    const object = setup({ helpers: [beside.helper] })
    await object.set({ expression: MINUTELY, version: 1 })
    const alarmTimes: number[] = []
    for (let turn = 0; turn < 7; turn += 1) {
      const alarmAt = (await object.alarmAt()) ?? 0
      alarmTimes.push((alarmAt - FAR_AHEAD) / SECOND)
      clock.moveTo(alarmAt)
      await object.fireAlarm()
    }
    expect(alarmTimes).toEqual([45, 60, 90, 120, 135, 180, 225])
    expect(beside.ticks.every(({ dueAt, ranAt }) => dueAt === ranAt)).toBe(true)
    expect(object.seen.runs.every(({ startedAt, dueAt }) => startedAt === dueAt)).toBe(true)
  })

  it('writes its rows and the alarm in one transaction: both or none', async () => {
    const clock = freezeClock()
    const { object, port } = withPort()
    await object.inside(({ ctx }) => {
      port().transaction(() => ctx.storage.kv.put('due', clock.now() + 5 * SECOND))
    })
    expect(await object.alarmAt()).toBe(clock.now() + 5 * SECOND)
    await object.inside(({ ctx }) => {
      expect(() =>
        port().transaction(() => {
          ctx.storage.kv.put('due', clock.now() + SECOND)
          throw new Error('Undo')
        }),
      ).toThrow('Undo')
    })
    expect(await object.inside(({ ctx }) => ctx.storage.kv.get('due'))).toBe(clock.now() + 5 * SECOND)
    expect(await object.alarmAt()).toBe(clock.now() + 5 * SECOND)
    await crash()
    expect(await object.alarmAt()).toBe(clock.now() + 5 * SECOND)
  })

  it('whose nested transaction is undone keeps the outer one, and its alarm', async () => {
    const clock = freezeClock()
    const { object, port } = withPort()
    await object.inside(({ ctx }) => {
      port().transaction(() => {
        ctx.storage.kv.put('due', clock.now() + 5 * SECOND)
        try {
          port().transaction(() => {
            ctx.storage.kv.put('due', clock.now() + SECOND)
            throw new Error('Undo')
          })
        } catch {}
      })
    })
    expect(await object.alarmAt()).toBe(clock.now() + 5 * SECOND)
  })

  it('keeps the pass open with hold, and a rejection is its failure alone', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const { object, port } = withPort(({ ctx, lent }) => {
      ctx.storage.kv.delete('due')
      lent().hold(gate.promise)
    })
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ ctx }) => port().transaction(() => ctx.storage.kv.put('due', FAR_AHEAD + MINUTE)))
    clock.moveBy(MINUTE)
    object.startAlarm()
    await until('the schedule ran', () => object.seen.deliveries.length === 1)
    await realTime(30)
    expect(object.seen.passes[0]?.state).toBe('open')
    expect(await object.alarmAt()).toBeLessThanOrEqual(clock.now() + 15 * SECOND)
    gate.reject(new Error('The work failed'))
    await until('the pass is over', () => object.seen.passes[0]?.state === 'returned')
    expect(object.seen.retries).toMatchObject([{ helper: 'own', error: { message: 'The work failed' } }])
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
  })

  it('that holds what is no promise holds nothing', async () => {
    const clock = freezeClock()
    const { object, port } = withPort()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(() => port().hold(undefined as unknown as Promise<void>))
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    expect(await object.alarmAt()).toBe(FAR_AHEAD + 2 * MINUTE)
  })

  it.each([{ answer: Number.NaN }, { answer: 'soon' }, { answer: {} }])(
    'whose fallbackWithinMs answers $answer leaves the work of others under a fallback alarm',
    async ({ answer }) => {
      const clock = freezeClock()
      const object = setup({
        scheduler: { alarmHandoffMs: 20, alarmMinDelayMs: SECOND },
        schedule: { run: () => new Promise(() => {}) },
        helpers: [
          () => ({
            name: 'own',
            nextAt: () => undefined,
            run: () => {},
            fallbackWithinMs: () => answer as unknown as number,
          }),
        ],
      })
      await object.set({ expression: MINUTELY, version: 1 })
      clock.moveBy(MINUTE)
      await object.pass()
      expect(await object.alarmAt()).toBe(clock.now() + SECOND)
    },
  )

  it('whose run is a promise is not run again before that settles', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const beside = ticker(SECOND, () => gate.promise)
    const object = setup({ helpers: [beside.helper], scheduler: { liveTimers: true } })
    await object.pass()
    clock.moveBy(SECOND)
    object.startAlarm()
    await until('it runs', () => beside.ticks.length === 1)
    for (let second = 0; second < 5; second += 1) {
      clock.moveBy(SECOND)
      object.startAlarm()
      await realTime(10)
    }
    expect(beside.ticks).toHaveLength(1)
    gate.resolve()
    await until('it runs again', async () => {
      clock.moveBy(1)
      await object.fireIfDue()
      return beside.ticks.length > 1
    })
  })

  it('that is timed runs at its exact time during a hold, without liveTimers', async () => {
    const lag = probeLag()
    const gate = Promise.withResolvers<void>()
    const beside = ticker(100)
    const object = setup({
      helpers: [(ctx) => ({ ...beside.helper(ctx), timed: true })],
      schedule: { run: () => gate.promise },
    })
    await object.setOnce(20)
    await until('three ticks during the hold', () => beside.ticks.length >= 3, 3_000)
    const late = beside.ticks.map(({ dueAt, ranAt }) => ranAt - dueAt)
    expect(Math.max(...late)).toBeLessThan(50 + lag.stop())
    gate.resolve()
  })

  it('beside others: removing what one needs never deletes the alarm of another (B041)', async () => {
    const clock = freezeClock()
    const { object, port } = withPort()
    await object.set({ expression: MINUTELY, version: 1 })
    await object.inside(({ ctx }) =>
      port().transaction(() => ctx.storage.kv.put('due', clock.now() + SECOND)),
    )
    expect(await object.alarmAt()).toBe(clock.now() + SECOND)
    await object.inside(({ ctx }) => port().transaction(() => ctx.storage.kv.delete('due')))
    expect(await object.alarmAt()).toBe(FAR_AHEAD + MINUTE)
  })

  it('that says at once what it needs when reconciled outside a pass is run and joined', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const { object, port } = withPort(({ ctx, lent }) => {
      ctx.storage.kv.delete('due')
      lent().hold(gate.promise)
    })
    await object.inside(async ({ ctx }) => {
      port().transaction(() => ctx.storage.kv.put('due', clock.now()))
      await port().reconcile()
      expect(ctx.storage.kv.get('due')).toBeUndefined()
    })
    expect(await object.alarmAt()).toBe(clock.now() + 1)
    gate.resolve()
  })
})

describe('a hook or a listener that acts', () => {
  it('onAlarmRetry may cancel the schedule that failed', async () => {
    const { object, clock } = await brokenWithHook((schedule) => schedule.cancel())
    await until('it is cancelled', async () => (await object.status()).state === 'cancelled')
    await until('its due tick still ran', () => object.seen.deliveries.length === 1)
    clock.moveBy(MINUTE)
    await object.pass()
    expect(object.seen.retries).toHaveLength(1)
    expect(await object.alarmAt()).toBeNull()
  })

  it('onAlarmRetry may replace the expression that failed', async () => {
    const { object, clock } = await brokenWithHook((schedule) =>
      schedule.set({ expression: 'every 7000', version: 2 }),
    )
    await until('its due tick ran', () => object.seen.deliveries.length === 1)
    const { nextAt = 0 } = (await object.get()) ?? {}
    // The run was started outside a pass: an alarm joins it first.
    clock.moveBy(1)
    await object.fireIfDue()
    expect(await object.alarmAt()).toBe(nextAt)
    clock.moveTo(nextAt)
    await object.fireAlarm()
    expect(object.seen.runs.map(({ version }) => version)).toEqual([1, 2])
  })

  it('an abort listener that throws changes nothing about the timeout', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const object = setup({
      schedule: {
        maxConcurrentRuns: 1,
        runTimeoutMs: 30,
        run: ({ signal }) => {
          signal.addEventListener('abort', () => {
            throw new Error('The listener failed')
          })
          return gate.promise
        },
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm().catch(() => {})
    await until('it is delivered', () => object.seen.deliveries.length === 1)
    expect(object.seen.deliveries).toMatchObject([
      { outcome: { error: { name: 'ScheduledRunTimeoutError' } } },
    ])
    expect(object.seen.retries).toEqual([])
    await until('it is shown as stuck', () => object.seen.events.some(({ type }) => type === 'stuck'))
    expect(await object.status()).toMatchObject({ stuck: 1, running: 0 })
    gate.resolve()
    await until('its slot is free', async () => (await object.status()).stuck === 0)
  })

  it('an abort listener that cancels the schedule leaves the outcome to be delivered, under an alarm', async () => {
    const clock = freezeClock()
    const object = setup({
      schedule: {
        runTimeoutMs: 30,
        run: ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => {
              object.inside(({ schedule }) => schedule.cancel()).then(resolve)
            })
          }),
      },
    })
    await object.set({ expression: MINUTELY, version: 1 })
    clock.moveBy(MINUTE)
    await object.fireAlarm()
    await until('it is cancelled', async () => (await object.status()).state === 'cancelled')
    expect(object.seen.deliveries).toMatchObject([
      { outcome: { error: { name: 'ScheduledRunTimeoutError' } } },
    ])
    expect(await object.rows()).toEqual([])
  })
})

describe('a set in the object’s constructor', () => {
  it('that finds a due tick does not wait for its run, on each of five cold starts', async () => {
    const clock = freezeClock()
    const gate = Promise.withResolvers<void>()
    const results: boolean[] = []
    const object = setup({
      schedule: { run: () => gate.promise },
      onConstructed: ({ ctx, schedule }) => {
        ctx.blockConcurrencyWhile(async () => {
          results.push(await schedule.set({ expression: MINUTELY, version: 1 }))
        })
      },
    })
    for (let start = 0; start < 5; start += 1) {
      await object.status()
      await until('its set is done', () => results.length === start + 1)
      clock.moveBy(MINUTE)
      await crash()
    }
    gate.resolve()
    await object.fireAlarm()
    expect(results).toEqual([true, false, false, false, false, ...results.slice(5)])
    const times = object.seen.runTimes
    expect(new Set(times).size).toBe(times.length)
    await until('all is told', async () => (await object.rows()).length === 0)
  })

  it('B035 on crash-looping starts under the platform’s own alarms repeats no run', async () => {
    const object = setup({
      onConstructed: ({ schedule }) => void schedule.set({ expression: 'every 50', version: 1 }),
    })
    for (let start = 0; start < 20; start += 1) {
      await object.status()
      await realTime(40)
      await crash()
    }
    await object.status()
    await until('it ticks', () => object.seen.deliveries.length > 5, 5_000)
    const times = object.seen.runTimes
    expect(times).toEqual([...new Set(times)].sort((one, other) => one - other))
  })
})

describe('an alarm() that the platform retries', () => {
  it('after the alarm could not be armed once runs the tick once', async () => {
    let refusals = 0
    const object = setup({
      context: (ctx) =>
        withStorage(ctx, (storage) => ({
          setAlarm: (at) => {
            if (refusals > 0 && refusals-- > 0) throw new Error('No alarm can be set')
            return storage.setAlarm(at)
          },
        })),
    })
    const first = await object.inside(async ({ schedule }) => {
      const at = Date.now() + 100
      await schedule.set({ expression: `at ${at},${at + 3_600_000}`, version: 1 })
      return at
    })
    refusals = 1
    await until('it runs', () => object.seen.deliveries.length === 1, 8_000)
    expect(object.seen.passes.map(({ state }) => state)).toEqual(['rejected', 'returned'])
    expect(object.seen.passes[1]?.info).toMatchObject({ isRetry: true })
    expect(object.seen.runTimes).toEqual([first])
    expect(await object.alarmAt()).toBe(first + 3_600_000)
  })
})

/** An object with a helper whose only row is when it is due, and the port that was lent to it. */
function withPort(
  run: (given: { ctx: DurableObjectState; lent: () => SchedulerPort }) => void = ({ ctx }) => {
    ctx.storage.kv.delete('due')
  },
) {
  let lent: SchedulerPort | undefined
  const port = () => {
    if (lent === undefined) throw new Error('The helper is not attached yet')
    return lent
  }
  const object = setup({
    onConstructed: ({ ctx, scheduler }) => {
      const helper: SchedulerHelper = {
        name: 'own',
        nextAt: () => ctx.storage.kv.get<number>('due'),
        run: () => run({ ctx, lent: port }),
      }
      lent = scheduler.attach(helper)
    },
  })
  return {
    object: { ...object, inside: object.inside },
    port,
  }
}

/** A schedule whose tick fails, and whose first failure calls the hook. */
async function brokenWithHook(
  act: (schedule: Parameters<Parameters<ReturnType<typeof setup>['inside']>[0]>[0]['schedule']) => unknown,
) {
  const clock = freezeClock()
  let isBroken = false
  let failures = 0
  const object = setup({
    scheduler: {
      onAlarmRetry: () => {
        failures += 1
        return failures === 1 ? object.inside(({ schedule }) => act(schedule)) : undefined
      },
    },
    schedule: {
      nextOccurrence: (expression, after) => {
        if (isBroken && expression === MINUTELY) throw new Error('The expression is broken for now')
        const everyMs = Number(expression.split(' ')[1])
        return Math.floor(after / everyMs) * everyMs + everyMs
      },
    },
  })
  await object.set({ expression: MINUTELY, version: 1 })
  isBroken = true
  clock.moveBy(MINUTE)
  await object.fireAlarm()
  return { object, clock }
}
