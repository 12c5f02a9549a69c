import { describe, expect, test } from 'vitest'
import { dispatch, workflow } from '../../src/schedules/index.node.ts'
import { DAY_MS, START_AT, settled, setup } from './support/setup.ts'

const binding = (status: string) => ({
  create: async () => undefined,
  get: async () => ({ status: async () => ({ status }), terminate: async () => undefined }),
})

describe('a run that no schedule started goes 30 days after it ended', () => {
  test.each([
    ['complete', 'brief', undefined],
    ['errored', 'failing', undefined],
    ['complete', 'sent', undefined],
    ['complete', 'done', undefined],
    ['errored', 'broken', undefined],
    ['cancelled', 'going', 'cancel'],
  ])('when it is %s: %s', async (status, name, end) => {
    const { engine, schedules, moveTo } = setup({
      workflows: {
        failing: async () => {
          throw new Error('no mail')
        },
        sent: dispatch(() => undefined),
        done: workflow(binding('complete')),
        broken: workflow(binding('errored')),
        going: workflow(binding('running')),
      },
    })
    await engine.start(name, null, 'run')
    await settled()
    if (end === 'cancel') await engine.cancelRun('run')
    moveTo(START_AT + 10 * DAY_MS)
    // A Workflow's end is known when it is asked.
    expect(await engine.getRun('run')).toMatchObject({ status })
    await schedules.tick()
    moveTo(START_AT + 29 * DAY_MS)
    await schedules.tick()
    expect(await engine.getRun('run')).not.toBe(null)
    moveTo(START_AT + 41 * DAY_MS)
    await schedules.tick()
    expect(await engine.getRun('run')).toBe(null)
  })

  test('but not while it goes on', async () => {
    const { engine, schedules, handler, moveTo } = setup()
    handler.instant = false
    await engine.start('brief', null, 'run')
    moveTo(START_AT + 100 * DAY_MS)
    await schedules.tick()
    expect(await engine.getRun('run')).toMatchObject({ status: 'running' })
  })
})

test('a manual run whose schedule is deleted while it is started goes after 30 days', async () => {
  const valid = Promise.withResolvers<void>()
  const { schedules, engine, moveTo } = setup({
    workflows: { slow: { handler: () => undefined, validate: () => valid.promise } },
  })
  await schedules.create({ id: 'a', workflow: 'slow', every: '1h' })
  const triggered = schedules.trigger('a')
  await settled()
  expect(await schedules.delete('a')).toBe(true)
  valid.resolve()
  const { id } = await triggered
  await settled()
  expect(await engine.getRun(id)).toMatchObject({ status: 'complete' })
  moveTo(START_AT + 31 * DAY_MS)
  await schedules.tick()
  expect(await engine.getRun(id)).toBe(null)
})
