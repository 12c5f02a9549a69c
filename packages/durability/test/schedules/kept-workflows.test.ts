import { describe, expect, test } from 'vitest'
import { workflow } from '../../src/schedules/index.node.ts'
import { MINUTE_MS, START_AT, setup } from './support/setup.ts'

const MINUTELY = { id: 'a', workflow: 'brief', every: '1m' } as const

/** A schedule of a Workflow whose instances are as the test says, and the rows that are stored of its runs. */
function workflowSetup(statusOf: (n: number) => Promise<string> | string) {
  let asked = 0
  const numbers = new Map<string, number>()
  const binding = {
    create: async ({ id }: { readonly id: string }) => void numbers.set(id, numbers.size),
    get: async (id: string) => ({
      status: async () => {
        asked += 1
        return { status: await statusOf(numbers.get(id) ?? 0) }
      },
      terminate: async () => undefined,
    }),
  }
  const made = setup({ workflows: { brief: workflow(binding) }, keptRuns: 20, keptDecisions: 20 })
  const stored = () => made.store.listRuns({ scheduleId: 'a', order: 'newest', limit: 10_000 })
  return { ...made, stored, asked: () => asked }
}

describe('runs of a Workflow of which nobody asks', () => {
  test('are kept up to the bound, and a start asks for two at most', async () => {
    const { schedules, tickIn, stored, asked } = workflowSetup(() => 'complete')
    await schedules.create(MINUTELY)
    for (let n = 0; n < 20; n += 1) await tickIn(MINUTE_MS)
    expect(asked()).toBe(0)
    for (let n = 0; n < 200; n += 1) await tickIn(MINUTE_MS)
    expect(asked()).toBeLessThanOrEqual(400)
    expect((await stored()).length).toBeLessThanOrEqual(22)
    expect(await schedules.get('a')).toMatchObject({ fires: 220 })
  })

  test('are kept up to the bound besides those that go on, which are never removed', async () => {
    const { schedules, tickIn, stored } = workflowSetup((n) => (n % 40 === 0 ? 'running' : 'complete'))
    await schedules.create(MINUTELY)
    for (let n = 0; n < 240; n += 1) await tickIn(MINUTE_MS)
    const rows = await stored()
    const goOn = [1, 41, 81, 121, 161, 201].map((minute) => `sched:a:${START_AT + minute * MINUTE_MS}`)
    expect(rows.map(({ id }) => id)).toEqual(expect.arrayContaining(goOn))
    expect(rows.length).toBeLessThanOrEqual(45)
  })

  test('are kept up to the bound when they are manual', async () => {
    const { schedules, stored, moveTo, now } = workflowSetup(() => 'complete')
    await schedules.create({ ...MINUTELY, paused: true })
    for (let n = 0; n < 100; n += 1) {
      moveTo(now() + 1)
      await schedules.trigger('a')
    }
    expect((await stored()).length).toBeLessThanOrEqual(22)
  })
})
