import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test } from 'vitest'
import { instanceIdOf } from '../../src/schedules/instance-id.ts'
import { MINUTE_MS, START_AT, silenceReports } from './support/setup.ts'
import { dropTables } from './support/tables.ts'
import { end, over, runOf, WAITS, workflowSetup } from './support/workflows.ts'

beforeEach(() => dropTables(env.SCHEDULES_DB))

describe("overlap: 'skip' asks the instance", () => {
  test('and skips while it runs, and fires once it is complete', async () => {
    const { every, tickIn, decisions } = workflowSetup()
    await every('skips', { overlap: 'skip' })
    expect(await tickIn(MINUTE_MS)).toEqual([runOf('skips')])
    expect(await tickIn(MINUTE_MS)).toEqual([])
    await end(runOf('skips'))
    expect(await tickIn(MINUTE_MS)).toEqual([runOf('skips', 3)])
    expect(await decisions('skips')).toEqual([
      ['fired', START_AT + 3 * MINUTE_MS],
      ['skipped_overlap', START_AT + 2 * MINUTE_MS],
      ['fired', START_AT + MINUTE_MS],
    ])
  })

  test.each([
    ['errored', (runId: string) => end(runId, 'Out of ink')],
    [
      'terminated by somebody else',
      async (runId: string) => (await env.WORKFLOW.get(await instanceIdOf(runId))).terminate(),
    ],
  ])('and fires once it was %s', async (how, finish) => {
    const { every, tickIn } = workflowSetup()
    const id = `skips ${how}`
    await every(id, { overlap: 'skip' })
    await tickIn(MINUTE_MS)
    await finish(runOf(id))
    expect(await tickIn(MINUTE_MS)).toEqual([runOf(id, 2)])
  })

  test('and fires when it is not kept any more', async () => {
    const { every, tickIn, engine } = workflowSetup({ binding: { create: async () => undefined } })
    await every('gone', { overlap: 'skip' })
    expect(await tickIn(MINUTE_MS)).toEqual([runOf('gone')])
    expect(await tickIn(MINUTE_MS)).toEqual([runOf('gone', 2)])
    expect(await engine.getRun(runOf('gone'))).toMatchObject({ status: 'unknown' })
  })

  test('and tries again when it cannot be asked', async () => {
    silenceReports()
    let isDown = true
    const { every, tickIn, schedules } = workflowSetup({
      binding: { get: (id) => (isDown ? Promise.reject(new Error('Out of order')) : env.WORKFLOW.get(id)) },
    })
    await every('unasked', { overlap: 'skip' })
    await tickIn(MINUTE_MS)
    await end(runOf('unasked'))
    expect(await tickIn(MINUTE_MS)).toEqual([])
    expect(await schedules.get('unasked')).toMatchObject({ lastError: 'Error: Out of order', fires: 1 })
    isDown = false
    expect(await tickIn(2_000)).toEqual([runOf('unasked', 2)])
  })
})

describe('pauseAfterFailures', () => {
  test('counts instances that errored when the next window comes due, from 0 again after a good one', async () => {
    const { every, tickIn, schedules } = workflowSetup()
    await every('fails', { pauseAfterFailures: 2 })
    const ends = ['Out of ink', null, 'Out of ink', 'Out of paper']
    for (const [index, error] of ends.entries()) {
      expect(await tickIn(MINUTE_MS)).toEqual([runOf('fails', index + 1)])
      await end(runOf('fails', index + 1), error)
    }
    expect(await tickIn(MINUTE_MS)).toEqual([])
    expect(await schedules.get('fails')).toMatchObject({
      paused: true,
      lastError: 'Paused after 2 failed runs in a row',
    })
  })

  test('starts over after resume, though the last run is still the one that failed', async () => {
    const { every, tickIn, schedules } = workflowSetup()
    await every('resumed', { pauseAfterFailures: 1, input: { throws: 'Out of ink' } })
    await tickIn(MINUTE_MS)
    await over(runOf('resumed'), 'errored')
    expect(await tickIn(MINUTE_MS)).toEqual([])
    await schedules.resume('resumed')
    expect(await tickIn(MINUTE_MS)).toEqual([runOf('resumed', 3)])
    await over(runOf('resumed', 3), 'errored')
    expect(await tickIn(MINUTE_MS)).toEqual([])
    expect(await schedules.get('resumed')).toMatchObject({ paused: true, fires: 2 })
  })
})

describe('a concurrency limit', () => {
  test('that seems reached asks the instances, and counts those that still run', async () => {
    const { every, tickIn, engine, asked } = workflowSetup({ binding: {} })
    const concurrency = { key: 'printer', limit: 2 }
    for (const n of [1, 2]) await engine.start('brief', WAITS, `limited ${n}`, { concurrency })
    expect(asked).toEqual([])
    await every('limited', { concurrency })
    expect(await tickIn(MINUTE_MS)).toEqual([])
    await end('limited 1')
    expect(await tickIn(MINUTE_MS)).toEqual([runOf('limited', 2)])
    expect(await engine.getRun('limited 1')).toMatchObject({ status: 'complete' })
    await expect(engine.start('brief', WAITS, 'limited 3', { concurrency })).rejects.toMatchObject({
      code: 'concurrency_limit',
    })
  })

  test('asks the 10 newest', async () => {
    const concurrency = { key: 'press', limit: 11 }
    const { engine, tickIn, asked } = workflowSetup({ binding: {} })
    for (let n = 1; n <= 11; n += 1) {
      await engine.start('brief', WAITS, `newest${n}`, { concurrency })
      await tickIn(1)
    }
    await end('newest1')
    const more = () => engine.start('brief', WAITS, 'more', { concurrency })
    await expect(more()).rejects.toMatchObject({ code: 'concurrency_limit' })
    expect(asked).toEqual(Array.from({ length: 10 }, (_, n) => `newest${11 - n}`))
    await end('newest11')
    expect(await more()).toMatchObject({ status: 'running' })
  })
})
